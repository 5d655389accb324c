// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
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

TestSuite(sharding_rewrite, .init = begin, .fini = end);

static const struct graph_op *find(const char *instance)
{
    const uint32_t op = graph_find_op(sharded.graph, instance);
    cr_assert_neq(op, GRAPH_NONE, "%s", instance);
    return &sharded.graph->ops[op];
}

static const struct graph_value *value_of(const struct graph_op *op, uint32_t param)
{
    return &sharded.graph->values[op->arguments[param].value];
}

Test(sharding_rewrite, an_op_becomes_one_for_each_place)
{
    const uint32_t ops = sharded.graph->op_count;
    sharded_rewrite(&sharded, "a b c", "layers.0/k", NULL);
    cr_expect_eq(sharded.graph->op_count, ops + 4, "two ops three times");
    const struct graph_op *product = find("layers.0/k@b");
    cr_expect_str_eq(value_of(product, TAPML_LINEAR_W)->name, "k.weight[4:8]");
    cr_expect(affine_is(&value_of(product, TAPML_LINEAR_Y)->shape[1], 4));
    const struct graph_op *append = find("layers.0/append@c");
    cr_expect_str_eq(value_of(append, TAPML_STATE_APPEND_STATE)->name, "k@c");
    cr_expect(affine_is(&value_of(append, TAPML_STATE_APPEND_STATE)->shape[1], 1));
    cr_expect_eq(graph_find_value(sharded.graph, GRAPH_STATE, "k"), GRAPH_NONE);
    cr_expect_eq(graph_find_value(sharded.graph, GRAPH_WEIGHT, "k.weight"), GRAPH_NONE);
}

Test(sharding_rewrite, what_is_needed_whole_is_joined_in_order)
{
    sharded_rewrite(&sharded, "a b c d", "layers.0/k", NULL); // 3 heads stay whole.
    const struct graph_op *last = find("layers.0/k/gather.3");
    cr_expect_str_eq(last->op->name, "tapml.concat");
    cr_expect_str_eq(value_of(last, TAPML_CONCAT_A)->name, "layers.0/k/gather.2");
    cr_expect_str_eq(value_of(last, TAPML_CONCAT_B)->name, "layers.0/k@d");
    cr_expect(affine_is(&value_of(last, TAPML_CONCAT_Y)->shape[1], 12));
    const struct graph_op *append = find("layers.0/append");
    cr_expect_eq(value_of(append, TAPML_STATE_APPEND_ROWS)->base,
                 last->arguments[TAPML_CONCAT_Y].value);
}

Test(sharding_rewrite, summands_are_added_and_what_is_whole_is_sliced)
{
    sharded_rewrite(&sharded, "a b", NULL, "layers.0/k");
    const struct graph_op *sum = find("layers.0/k/sum");
    cr_expect_str_eq(sum->op->name, "tapml.add");
    cr_expect_str_eq(value_of(sum, TAPML_ADD_A)->name, "layers.0/k@a");
    const struct graph_op *second = find("layers.0/k@b");
    cr_expect_str_eq(value_of(second, TAPML_LINEAR_W)->name, "k.weight[:,4:8]");
    const struct graph_value *x = value_of(second, TAPML_LINEAR_X);
    cr_expect_eq(x->kind, GRAPH_VIEW);
    cr_expect(affine_is(&x->shape[1], 4) && affine_is(&x->offset, 4));
}

Test(sharding_rewrite, outputs_are_whole)
{
    sharded_rewrite(&sharded, "a b", "embed", NULL);
    const uint32_t output = graph_find_output(sharded.graph, "hidden.0");
    cr_assert_neq(output, GRAPH_NONE);
    cr_expect_str_eq(sharded.graph->values[output].name, "embed/gather");
    cr_expect_str_eq(value_of(find("embed@b"), TAPML_EMBED_TABLE)->name, "embed.weight[:,4:8]");
    cr_expect_str_eq(value_of(find("layers.0/k"), TAPML_LINEAR_X)->name, "embed/gather");
}

Test(sharding_rewrite, places_are_known_by_instances)
{
    fixture_ok(sharded_decide(&sharded, "gpu gpu0", "embed", NULL));
    cr_expect_eq(sharding_rewrite_place(sharded.sharding, "layers.0/k@gpu0"), 1);
    cr_expect_eq(sharding_rewrite_place(sharded.sharding, "layers.0/k@gpu"), 0);
    cr_expect_eq(sharding_rewrite_place(sharded.sharding, "layers.0/k@gpu0/copy.x"), 1);
    cr_expect_eq(sharding_rewrite_place(sharded.sharding, "layers.0/k/gather"), GRAPH_NONE);
    cr_expect_eq(sharding_rewrite_place(sharded.sharding, "layers.0/k@other"), GRAPH_NONE);
}
