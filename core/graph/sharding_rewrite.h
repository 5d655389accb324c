// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The graph of a sharding (graph/sharding): an op that is split becomes one op for each place, with
// parts of weights and states, named "layers.0/attn/q_proj@gpu0". Where something needs a value
// whole that is cut or a sum, `concat` and `add` make it whole, in the order of the places: these
// are named "layers.0/attn/q_proj/gather" and ".../sum", with a number where there are several. All
// other ops stay as they are.
//
// One thread.
#pragma once

#include "graph/sharding.h"
#include "schema/catalogue.h"

struct checkpoint;

// Puts a new graph in the place of `*io_graph`, of which the sharding is, and which stays readable
// as long as the new one lives. Weights that have to be copied take memory of the checkpoint, which
// may be NULL; `*out_copied` counts their bytes. After a failure `*io_graph` is NULL: those of
// `draft_add_op` with the instance, where the catalogue lacks `concat` or `add`, and of
// `sharding_weight_part`.
tapml_status sharding_rewrite(struct graph **io_graph,
                              const struct sharding *sharding,
                              const struct catalogue *catalogue,
                              struct checkpoint *checkpoint,
                              uint64_t *out_copied) STATUS_USED;

// The place of the sharding at which an op of the new graph runs, by its instance; GRAPH_NONE: it
// is none of its parts, and runs where a plan says.
uint32_t sharding_rewrite_place(const struct sharding *sharding, const char *instance);
