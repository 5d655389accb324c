// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a sharding costs, counted on its graph: the weights of each place, and the bytes that go
// from place to place. Counts suppose that no two places share memory; where they do, as on one
// machine, less is moved. Any thread.
#pragma once

#include "graph/sharding.h"

struct sharding_figures {
    uint32_t annotated, spread; // Ops of the whole graph that are split.
    uint32_t inserted;          // Ops that make values whole, or lay them out anew.
    uint64_t weights_bytes[SHARDING_PARTS_MAX + 1]; // Of each place; last: of all other ops.
    uint64_t whole_bytes;                           // Of the weights, each once.
    uint64_t moved_bytes; // Values of a call of one token, for each place that reads them and has
                          // not computed them.
};

// Counts. `graph` is what `sharding_rewrite` has made; ops that are no parts run at the place
// `home` of the mesh, GRAPH_NONE: at another one. TAPML_NO_MEMORY is its one failure.
tapml_status sharding_figures_count(const struct sharding *sharding,
                                    const struct graph *graph,
                                    uint32_t home,
                                    struct sharding_figures *out_figures) STATUS_USED;
