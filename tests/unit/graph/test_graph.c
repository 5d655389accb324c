// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/graph.h"

static struct graph *small_graph(struct fixture *fixture)
{
    struct graph *graph = NULL;

    fixture_init(fixture);
    fixture_small_graph(fixture);
    fixture_ok(builder_finish(fixture->builder, &graph));
    return graph;
}

Test(graph, finds_by_name)
{
    struct fixture fixture;
    struct graph *graph = small_graph(&fixture);

    cr_assert_eq(graph_find_output(graph, "hidden.0"), graph->outputs[0].value);
    cr_assert_eq(graph_find_output(graph, "logits"), GRAPH_NONE);
    cr_assert_eq(graph->values[graph_find_value(graph, GRAPH_STATE, "k")].kind, GRAPH_STATE);
    cr_assert_eq(graph_find_value(graph, GRAPH_INPUT, "k"), GRAPH_NONE);
    cr_assert_eq(graph_find_op(graph, "layers.0/append"), 2);
    cr_assert_eq(graph_find_op(graph, "append"), GRAPH_NONE);
    graph_destroy(graph);
    graph_destroy(NULL);
    fixture_release(&fixture);
}

Test(graph, bytes_of_values)
{
    struct fixture fixture;
    struct graph *graph = small_graph(&fixture);
    const struct affine_point point = {{5, 0, 1, 64}};
    const struct affine_point none = {{0, 0, 0, 0}};
    const uint32_t state = graph_find_value(graph, GRAPH_STATE, "k");
    const uint32_t ids = graph_find_value(graph, GRAPH_INPUT, "input_ids");
    struct graph_value huge = graph->values[state];

    cr_assert_eq(graph_value_bytes(&graph->values[state], &point), 64 * 3 * 4 * 4);
    cr_assert_eq(graph_value_bytes(&graph->values[ids], &point), 20);
    cr_assert_eq(graph_value_bytes(&graph->values[ids], &none), 0);
    for (unsigned i = 0; i < 3; i++) {
        huge.shape[i] = affine_constant((int64_t)1 << 40);
    }
    cr_assert_eq(graph_value_bytes(&huge, &point), UINT64_MAX);
    graph_destroy(graph);
    fixture_release(&fixture);
}

Test(graph, the_hash_depends_on_everything)
{
    struct fixture one;
    struct fixture other;
    struct graph *graph = small_graph(&one);
    struct graph *same = small_graph(&other);
    const struct hash hash = graph_hash(graph);

    cr_assert(hash_equal(hash, graph_hash(same)));
    same->values[0].dtype = TAPML_I64;
    cr_assert_not(hash_equal(hash, graph_hash(same)));
    same->values[0].dtype = graph->values[0].dtype;
    same->ops[2].arguments[2].i.constant++;
    cr_assert_not(hash_equal(hash, graph_hash(same)));
    same->ops[2].arguments[2].i.constant--;
    same->ops[1].instance = "layers.1/k";
    cr_assert_not(hash_equal(hash, graph_hash(same)));
    same->ops[1].instance = graph->ops[1].instance;
    same->outputs[0].name = "hidden.1";
    cr_assert_not(hash_equal(hash, graph_hash(same)));
    same->outputs[0].name = graph->outputs[0].name;
    same->values[graph_find_value(same, GRAPH_STATE, "k")].initial = -1e38;
    cr_assert_not(hash_equal(hash, graph_hash(same)));
    graph_destroy(graph);
    graph_destroy(same);
    fixture_release(&one);
    fixture_release(&other);
}
