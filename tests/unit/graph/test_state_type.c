// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/state_type.h"

#include <math.h>

static const struct affine_point point = {{5, 0, 1, 64}};

static const struct graph_value *state_of(const struct graph *graph, const char *name)
{
    const uint32_t index = graph_find_value(graph, GRAPH_STATE, name);

    cr_assert_neq(index, GRAPH_NONE, "%s", name);
    return &graph->values[index];
}

Test(state_type, words)
{
    enum state_type type = STATE_F32;

    fixture_ok(state_type_read("--state", "f16", &type));
    cr_assert_eq(type, STATE_F16);
    cr_assert_str_eq(state_type_word(type), "f16");
    fixture_expect(state_type_read("--state", "f61", &type), TAPML_INVALID,
                   "--state is 'f32', 'f16' or 'q8_0', found 'f61'");
    cr_assert_eq(type, STATE_F16);
}

Test(state_type, keys_and_values_are_reduced)
{
    struct fixture fixture;
    struct graph *graph = NULL;

    fixture_init(&fixture);
    fixture_small_graph(&fixture);
    fixture_ok(builder_finish(fixture.builder, &graph));
    const struct hash plain = graph_hash(graph);
    const struct graph_value *k = state_of(graph, "k");
    const uint64_t bytes = graph_value_bytes(k, &point);

    cr_assert_not(state_type_is_reduced(k));
    fixture_ok(state_type_apply(graph, STATE_F16));
    cr_assert(state_type_is_reduced(k));
    cr_assert_eq(k->dtype, TAPML_F16);
    cr_assert_eq(graph_value_bytes(k, &point), bytes / 2);
    cr_assert_not(hash_equal(plain, graph_hash(graph)), "the type is part of what a model is");
    fixture_ok(state_type_apply(graph, STATE_F32));
    cr_assert(hash_equal(plain, graph_hash(graph)));
    graph_destroy(graph);
    fixture_release(&fixture);
}

// A graph that appends rows of `width` to a state.
static void appending_graph(struct fixture *fixture, int64_t width, struct graph **out_graph)
{
    const tapml_host_graph *t = fixture->table;
    tapml_object *g = fixture->object;
    tapml_graph_value k = 0, x = 0;

    fixture_ok(t->state(g, NULL, "k", TAPML_F32, SHAPE(TAPML_SYM_CAPACITY, 2, width), 0, &k));
    fixture_ok(t->input(g, NULL, "x", TAPML_FROM_USER, TAPML_F32, SHAPE(TAPML_SYM_TOKENS, 2, width),
                        NULL, &x));
    tapml_value append[] = {ID(k), ID(x), SYM(TAPML_SYM_POSITION)};
    fixture_ok(t->op(g, NULL, "append", "tapml.state_append", 1, append, 3));
    fixture_ok(t->output(g, NULL, "y", x));
    fixture_ok(builder_finish(fixture->builder, out_graph));
}

Test(state_type, blocks)
{
    struct fixture fixture;
    struct graph *graph = NULL;

    fixture_init(&fixture);
    appending_graph(&fixture, 96, &graph);
    const struct hash plain = graph_hash(graph);
    const struct graph_value *k = state_of(graph, "k");

    fixture_ok(state_type_apply(graph, STATE_Q8_0));
    cr_assert(state_type_is_reduced(k));
    cr_assert_eq(k->dtype, TAPML_U8);
    cr_assert_str_eq(k->encoding->id, TAPML_ENCODING_Q8_ROWS);
    cr_assert_eq(k->shape[2].constant, 96, "shapes count values");
    cr_assert_eq(graph_value_bytes(k, &point), 64 * 2 * 3 * 36);
    cr_assert_not(hash_equal(plain, graph_hash(graph)));
    fixture_ok(state_type_apply(graph, STATE_F32));
    cr_assert_null(k->encoding);
    cr_assert(hash_equal(plain, graph_hash(graph)));
    graph_destroy(graph);
    fixture_release(&fixture);
}

Test(state_type, heads_are_whole_blocks)
{
    struct fixture fixture;
    struct graph *graph = NULL;

    fixture_init(&fixture);
    appending_graph(&fixture, 48, &graph);
    fixture_expect(state_type_apply(graph, STATE_Q8_0), TAPML_INVALID,
                   "[model] state is 'q8_0', in blocks of 32 values; the heads of state 'k' have "
                   "48");
    graph_destroy(graph);
    fixture_release(&fixture);
}

// An op computes with the state as with an activation, so it is none of keys and values.
Test(state_type, what_others_read_stays)
{
    struct fixture fixture;
    struct graph *graph = NULL;
    tapml_graph_value k = 0, x = 0;

    fixture_init(&fixture);
    const tapml_host_graph *t = fixture.table;
    tapml_object *g = fixture.object;

    fixture_ok(t->state(g, NULL, "k", TAPML_F32, SHAPE(TAPML_SYM_CAPACITY, 2, 4), 0, &k));
    fixture_ok(t->input(g, NULL, "x", TAPML_FROM_USER, TAPML_F32, SHAPE(TAPML_SYM_TOKENS, 2, 4),
                        NULL, &x));
    tapml_value append[] = {ID(k), ID(x), SYM(TAPML_SYM_POSITION)};
    fixture_ok(t->op(g, NULL, "append", "tapml.state_append", 1, append, 3));
    tapml_value copy[] = {ID(k), OUT};
    fixture_ok(t->op(g, NULL, "copy", "tapml.copy", 1, copy, 2));
    fixture_ok(t->output(g, NULL, "y", copy[1].u.id));
    fixture_ok(builder_finish(fixture.builder, &graph));
    fixture_ok(state_type_apply(graph, STATE_F16));
    cr_assert_not(state_type_is_reduced(state_of(graph, "k")));
    graph_destroy(graph);
    fixture_release(&fixture);
}

Test(state_type, loss)
{
    const float values[] = {1, 1.0f + 0x1p-11f, -2, 0};
    struct encoding_loss loss = {.error_max = 0};

    fixture_ok(state_type_loss(STATE_F16, values, 4, &loss));
    cr_assert_eq(loss.error_max, 0x1p-11);
    cr_assert_eq(loss.error_squares, 0x1p-22);
    cr_assert_float_eq(encoding_loss_relative(&loss), 0x1p-11 / sqrt(6 + 0x1p-10), 1e-9);
}

Test(state_type, loss_of_blocks)
{
    float values[64] = {127, 0.25f, -3, [32] = 1e30f, [33] = 1e28f};
    struct encoding_loss loss = {.error_max = 0};

    fixture_ok(state_type_loss(STATE_Q8_0, values, 32, &loss));
    cr_assert_eq(loss.error_max, 0.25);
    cr_assert_eq(loss.value_squares, 127 * 127 + 0.0625 + 9);
    fixture_ok(state_type_loss(STATE_Q8_0, values + 32, 32, &loss));
    cr_assert_lt(loss.error_max, 1e30 / 250, "values beyond f16 are kept");
}
