// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The small graph of fixture.h, to be divided: a table, a product of 12 outputs from 8 inputs, and
// a state of 3 heads that keeps them.
#pragma once

#include "base/text.h"
#include "fixture.h"
#include "graph/sharding_rewrite.h"

struct sharded {
    struct fixture fixture;
    struct graph *graph;
    struct sharding *sharding;
};

static inline void sharded_open(struct sharded *sharded)
{
    *sharded = (struct sharded){.graph = NULL};
    fixture_init(&sharded->fixture);
    fixture_small_graph(&sharded->fixture);
    fixture_ok(builder_finish(sharded->fixture.builder, &sharded->graph));
}

static inline void sharded_close(struct sharded *sharded)
{
    sharding_destroy(sharded->sharding);
    graph_destroy(sharded->graph);
    fixture_release(&sharded->fixture);
}

static inline tapml_status
sharded_decide(struct sharded *sharded, const char *mesh, const char *column, const char *row)
{
    const struct sharding_options options = {.mesh = mesh, .column = column, .row = row};
    sharding_destroy(sharded->sharding);
    sharded->sharding = NULL;
    return sharding_create(sharded->graph, &options, &sharded->sharding);
}

static inline void
sharded_rewrite(struct sharded *sharded, const char *mesh, const char *column, const char *row)
{
    uint64_t copied = 0;
    fixture_ok(sharded_decide(sharded, mesh, column, row));
    fixture_ok(sharding_rewrite(&sharded->graph, sharded->sharding, sharded->fixture.catalogue,
                                NULL, &copied));
}
