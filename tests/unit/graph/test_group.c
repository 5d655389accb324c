// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "fixture.h"
#include "graph/group.h"

static struct fixture fixture;
static struct graph *graph;
static struct arena *arena;

static void begin(void)
{
    fixture_init(&fixture);
    fixture_small_graph(&fixture);
    fixture_ok(builder_finish(fixture.builder, &graph));
    arena = arena_create();
}

static void end(void)
{
    graph_destroy(graph);
    fixture_release(&fixture);
    arena_destroy(arena);
}

TestSuite(group, .init = begin, .fini = end);

static uint32_t apply(const struct group_rule *rule)
{
    uint32_t count = 0;
    fixture_ok(group_apply(graph, rule, 1, fixture.catalogue, arena, &count));
    return count;
}

static void check_graph(void)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        for (uint32_t p = 0; p < graph->ops[i].op->n_params; p++) {
            const struct graph_argument *argument = &graph->ops[i].arguments[p];
            if (argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT) {
                cr_assert_lt(argument->value, graph->value_count);
                const struct graph_value *base =
                    &graph->values[graph->values[argument->value].base];
                cr_assert(base->kind != GRAPH_COMPUTED || base->producer <= i);
            }
        }
    }
}

Test(group, neighbours_become_one_op)
{
    const uint32_t ops = graph->op_count, values = graph->value_count;
    cr_assert_eq(apply(&(struct group_rule){.name = "pair", .ops = "linear  tapml.state_append"}),
                 1);
    cr_assert_eq(graph->op_count, ops - 1);
    cr_assert_lt(graph->value_count, values);
    const uint32_t op = graph_find_op(graph, "layers.0/k+append");
    cr_assert_neq(op, GRAPH_NONE);
    cr_assert_eq(catalogue_find(fixture.catalogue, graph->ops[op].op->name, 1),
                 graph->ops[op].schema);
    check_graph();
}

Test(group, all_below_an_instance_becomes_one_op)
{
    cr_assert_eq(apply(&(struct group_rule){.name = "layer", .below = "layers.*"}), 1);
    cr_assert_neq(graph_find_op(graph, "layers.0"), GRAPH_NONE);
    check_graph();
}

Test(group, what_does_not_follow_or_read_is_no_group)
{
    const uint32_t ops = graph->op_count;
    cr_assert_eq(apply(&(struct group_rule){.name = "a", .ops = "state_append linear"}), 0);
    cr_assert_eq(apply(&(struct group_rule){.name = "a", .ops = "linear"}), 0);
    cr_assert_eq(apply(&(struct group_rule){.name = "a", .below = "blocks.*"}), 0);
    cr_assert_eq(graph->op_count, ops);
}

Test(group, the_name_of_a_rule_is_in_that_of_its_op)
{
    const char *name = NULL;
    cr_assert_eq(group_rule_name("group.norm_linear.0a1b2c3d", &name), 11);
    cr_assert_eq(strncmp(name, "norm_linear", 11), 0);
    cr_assert_eq(group_rule_name("tapml.linear", &name), 0);
    cr_assert_eq(group_rule_name("group.", &name), 0);
    cr_assert_eq(group_rule_name("group", &name), 0);
}
