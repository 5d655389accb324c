// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "fixture.h"
#include "graph/group_op.h"
#include "schema/plain_form.h"

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
    arena_destroy(arena);
    graph_destroy(graph);
    fixture_release(&fixture);
}

TestSuite(group_op, .init = begin, .fini = end);

static struct group_op make(uint32_t begin_op, uint32_t end_op, const uint8_t *is_outside)
{
    const struct group_range range = {begin_op, end_op, "pair", 0};
    struct group_op made = {NULL, NULL};
    fixture_ok(group_op_make(graph, &range, is_outside, arena, &made));
    return made;
}

static uint32_t find(const tapml_op *op, const char *name)
{
    uint32_t p = 0;
    while (p < op->n_params && strcmp(op->params[p]->name, name) != 0) {
        p++;
    }
    cr_assert_lt(p, op->n_params, "there is no '%s' in %s", name, op->expands);
    return p;
}

Test(group_op, a_product_and_what_appends_it_to_a_state)
{
    uint8_t is_outside[64] = {0};
    const uint32_t k = graph_find_op(graph, "layers.0/k");
    cr_assert_leq(graph->value_count, sizeof(is_outside));
    const struct group_op made = make(k, k + 2, is_outside);
    const tapml_op *op = made.op;
    cr_assert_eq(strncmp(op->name, "group.pair.", 11), 0);
    cr_assert_str_eq(op->title, "linear + state_append");
    const tapml_param *x = op->params[find(op, "layers_0_k_x")];
    cr_assert_str_eq(x->shape, "T, 8");
    cr_assert_str_eq(x->dtype, "f32 f16");
    const tapml_param *w = op->params[find(op, "layers_0_k_w")];
    cr_assert_eq(w->effects, TAPML_E_WEIGHT);
    const tapml_param *state = op->params[find(op, "layers_0_append_state")];
    cr_assert_eq(state->kind, TAPML_P_TENSOR_INOUT);
    cr_assert_eq(state->effects, TAPML_E_STATE_WRITE);
    cr_assert_str_eq(state->shape, "C, 3, 4");
    cr_assert_str_eq(state->region, "P .. T + P");
    const uint32_t position = find(op, "P");
    cr_assert_eq(op->params[position]->kind, TAPML_P_I64);
    cr_assert_eq(made.arguments[position].i.factor[AFFINE_POSITION], 1);
    cr_assert_not_null(strstr(op->expands, "rows = layers_0_k_y{T, 3, 4}"), "%s", op->expands);
    cr_assert_eq(op->n_params, 4, "what is between the ops is no parameter");
}

Test(group_op, what_is_used_outside_goes_out)
{
    uint8_t is_outside[64] = {0};
    const uint32_t k = graph_find_op(graph, "layers.0/k");
    is_outside[graph->ops[k].arguments[TAPML_LINEAR_Y].value] = 1;
    const struct group_op made = make(k, k + 2, is_outside);
    const uint32_t y = find(made.op, "layers_0_k_y");
    cr_assert_eq(made.op->params[y]->kind, TAPML_P_TENSOR_OUT);
    cr_assert_str_eq(made.op->params[y]->shape, "T, 12");
    cr_assert_eq(made.arguments[y].value, graph->ops[k].arguments[TAPML_LINEAR_Y].value);
}

Test(group_op, the_form_is_one_of_the_schema)
{
    uint8_t is_outside[64] = {0};
    const uint32_t k = graph_find_op(graph, "layers.0/k");
    const struct group_op made = make(k, k + 2, is_outside);
    struct catalogue_op found;
    const struct plain_form *form = NULL;
    fixture_ok(catalogue_add(fixture.catalogue, made.op, "a test", &found));
    fixture_ok(plain_form_create(found.schema, fixture.catalogue, arena, &form));
    cr_assert_eq(form->call_count, 2);
    cr_assert_str_eq(form->calls[0].label, "layers.0/k");
}
