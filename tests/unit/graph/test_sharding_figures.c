// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding_figures.h"
#include "sharded.h"

static struct sharded sharded;

static void begin(void)
{
    sharded_open(&sharded);
}

static void end(void)
{
    sharded_close(&sharded);
}

TestSuite(sharding_figures, .init = begin, .fini = end);

Test(sharding_figures, weights_and_bytes_are_counted)
{
    struct sharding_figures figures;
    sharded_rewrite(&sharded, "a b c", "layers.0/k", NULL);
    fixture_ok(sharding_figures_count(sharded.sharding, sharded.graph, GRAPH_NONE, &figures));
    cr_expect_eq(figures.annotated, 1);
    cr_expect_eq(figures.spread, 1);
    cr_expect_eq(figures.inserted, 0);
    cr_expect_eq(figures.whole_bytes, (12 + 10) * 8 * 4);
    cr_expect_eq(figures.weights_bytes[0], 4 * 8 * 4);
    cr_expect_eq(figures.weights_bytes[2], 4 * 8 * 4);
    cr_expect_eq(figures.weights_bytes[3], 10 * 8 * 4, "the table is elsewhere");
    cr_expect_eq(figures.moved_bytes, 3 * 8 * 4, "a row of the table to each place");
    fixture_ok(sharding_figures_count(sharded.sharding, sharded.graph, 1, &figures));
    cr_expect_eq(figures.weights_bytes[1], (4 + 10) * 8 * 4);
    cr_expect_eq(figures.moved_bytes, 2 * 8 * 4, "one of them is at home");
}

Test(sharding_figures, what_is_inserted_counts)
{
    struct sharding_figures figures;
    sharded_rewrite(&sharded, "a b", NULL, "layers.0/k");
    fixture_ok(sharding_figures_count(sharded.sharding, sharded.graph, 0, &figures));
    cr_expect_eq(figures.inserted, 1);
    cr_expect_eq(figures.moved_bytes, 8 * 4 + 12 * 4, "a row there, and a summand back");
}
