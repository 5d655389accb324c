// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "exec/input.h"
#include "harness/places.h"
#include "harness/plain.h"
#include "harness/scratch.h"
#include "harness/sketch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

enum { VOCABULARY = 10, WIDTH = 4, OPS = 2, CAPACITY = 32 };

static const struct affine_point largest = {.value = {8, CAPACITY - 1, 8, CAPACITY}};
static const float weight[VOCABULARY * WIDTH];

// Rows of an embedding of "input_ids", and a user's input "extra" of two numbers a token.
struct fixture {
    struct backend *backend;
    struct space_set spaces;
    struct sketch sketch;
    uint32_t ids, rows, extra;
    struct arena *arena;
    struct binding bindings[OPS];
    struct value_set *values;
    struct input_set *set;
};

static uint32_t integers(struct sketch *sketch, const char *name, uint32_t from, uint32_t symbol)
{
    const uint32_t value = sketch_value(sketch, GRAPH_INPUT, name, sketch_sum(0, 0), 1);
    sketch->values[value].dtype = TAPML_I32;
    sketch->values[value].rank = 1;
    sketch->values[value].from = from;
    sketch->values[value].shape[0].factor[symbol] = 1;
    sketch->values[value].stride[0] = sketch_sum(1, 0);
    return value;
}

static void make_graph(struct fixture *fixture)
{
    struct sketch *sketch = &fixture->sketch;
    const struct affine wanted = {.factor[AFFINE_ROWS] = 1};
    sketch_init(sketch);
    fixture->ids = integers(sketch, "input_ids", TAPML_FROM_USER, AFFINE_TOKENS);
    fixture->rows = integers(sketch, "rows", TAPML_FROM_HOST, AFFINE_ROWS);
    fixture->extra = sketch_value(sketch, GRAPH_INPUT, "extra", sketch_sum(0, 1), 2);
    sketch->values[fixture->extra].has_fallback = 1;
    sketch->values[fixture->extra].fallback = 1.5;
    const uint32_t w = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(VOCABULARY, 0), WIDTH);
    sketch->values[w].data = weight;
    const uint32_t x = sketch_value(sketch, GRAPH_COMPUTED, "embed", sketch_sum(0, 1), WIDTH);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "last", wanted, WIDTH);
    const uint32_t op =
        sketch_op(sketch, &tapml_embed, "embed", (const uint32_t[]){w, fixture->ids, x});
    sketch->arguments[op][TAPML_EMBED_OFFSET].i.constant = 2;
    sketch_op(sketch, &tapml_gather_rows, "last", (const uint32_t[]){x, fixture->rows, y});
}

static tapml_status make_set(struct fixture *fixture)
{
    return input_set_create(&fixture->sketch.graph, NULL, fixture->values, fixture->bindings,
                            &fixture->set);
}

static void open_fixture(struct fixture *fixture)
{
    static const char *const names[] = {"source"};
    memset(fixture, 0, sizeof(*fixture));
    fixture->backend = plain_create();
    struct places places;
    space_set_init(&fixture->spaces, places_over(&places, &fixture->backend, names, 1), 1);
    make_graph(fixture);
    fixture->arena = arena_create();
    for (uint32_t i = 0; i < OPS; i++) {
        cr_assert_eq(binding_init(&fixture->bindings[i], &fixture->sketch.graph, i, fixture->arena),
                     TAPML_OK);
    }
    cr_assert_eq(
        value_set_create(&fixture->sketch.graph, &fixture->spaces, &largest, &fixture->values),
        TAPML_OK);
    cr_assert_eq(make_set(fixture), TAPML_OK, "%s", status_message());
}

static void close_fixture(struct fixture *fixture)
{
    input_set_destroy(fixture->set);
    value_set_destroy(fixture->values);
    arena_destroy(fixture->arena);
    backend_release(fixture->backend);
}

static tapml_status evaluate(
    struct fixture *fixture, const int32_t *ids, int64_t count, const int32_t *rows, int64_t wanted)
{
    const struct input_call call = {
        .point = {.value = {count, 3, wanted, CAPACITY}},
        .ids = ids,
        .rows = rows,
        .length = count + 3,
    };
    value_set_begin_call(fixture->values, &call.point);
    return input_evaluate(fixture->set, &call);
}

static const void *memory_of(struct fixture *fixture, uint32_t value)
{
    const void *memory = NULL;
    cr_assert_eq(value_memory(fixture->values, value, &memory), TAPML_OK);
    return memory;
}

Test(input, takes_ids_rows_and_fallbacks)
{
    struct fixture fixture;
    const int32_t ids[] = {0, 7, 3}, all[] = {0, 1, 2}, some[] = {2, 0};
    const float extra[] = {1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f};
    open_fixture(&fixture);
    cr_assert_eq(evaluate(&fixture, ids, 3, NULL, 3), TAPML_OK, "%s", status_message());
    cr_expect_arr_eq(memory_of(&fixture, fixture.ids), ids, sizeof(ids));
    cr_expect_arr_eq(memory_of(&fixture, fixture.rows), all, sizeof(all));
    cr_expect_arr_eq(memory_of(&fixture, fixture.extra), extra, sizeof(extra));
    cr_assert_eq(evaluate(&fixture, ids, 3, some, 2), TAPML_OK, "%s", status_message());
    cr_expect_arr_eq(memory_of(&fixture, fixture.rows), some, sizeof(some));
    close_fixture(&fixture);
}

Test(input, takes_what_a_user_gives_until_it_is_taken_back)
{
    struct fixture fixture;
    const int32_t ids[] = {1, 2};
    float extra[] = {1, 2, 3, 4};
    open_fixture(&fixture);
    cr_assert_eq(input_give(fixture.set, "extra", extra, sizeof(extra)), TAPML_OK);
    extra[0] = 9; // It was copied.
    cr_assert_eq(evaluate(&fixture, ids, 2, NULL, 2), TAPML_OK);
    cr_expect_arr_eq(memory_of(&fixture, fixture.extra), ((const float[]){1, 2, 3, 4}), 16);
    cr_expect_eq(evaluate(&fixture, ids, 1, NULL, 1), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "input 'extra' has 16 bytes, and this call takes 8");
    cr_assert_eq(input_give(fixture.set, "extra", NULL, 0), TAPML_OK);
    cr_assert_eq(evaluate(&fixture, ids, 1, NULL, 1), TAPML_OK);
    cr_expect_eq(*(const float *)memory_of(&fixture, fixture.extra), 1.5f);

    cr_expect_eq(input_give(fixture.set, "extr", extra, sizeof(extra)), TAPML_NOT_FOUND);
    cr_expect_str_eq(status_message(),
                     "the model has no input 'extr' to be given, did you mean 'extra'?");
    cr_expect_eq(input_give(fixture.set, "input_ids", extra, sizeof(extra)), TAPML_NOT_FOUND);
    close_fixture(&fixture);
}

Test(input, without_fallback_must_be_given)
{
    struct fixture fixture;
    const int32_t ids[] = {1};
    open_fixture(&fixture);
    fixture.sketch.values[fixture.extra].has_fallback = 0;
    cr_expect_eq(evaluate(&fixture, ids, 1, NULL, 1), TAPML_PRECONDITION);
    cr_expect_str_eq(status_message(), "input 'extra' is not given and has no fallback");
    cr_expect_eq(evaluate(&fixture, NULL, 1, NULL, 1), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "expected ids for input 'input_ids'");
    close_fixture(&fixture);
}

Test(input, is_held_against_the_declared_domain)
{
    struct fixture fixture;
    const int32_t last[] = {VOCABULARY - 1 - 2}, beyond[] = {4, VOCABULARY - 2}, below[] = {0, -1};
    const int32_t far_rows[] = {0, 2};
    open_fixture(&fixture);
    cr_expect_eq(evaluate(&fixture, last, 1, NULL, 1), TAPML_OK, "%s", status_message());
    cr_expect_eq(evaluate(&fixture, beyond, 2, NULL, 2), TAPML_INVALID);
    cr_expect_str_eq(
        status_message(),
        "input 'input_ids' has 8 at 1, expected 0 .. 7 for 'ids' of embed (tapml.embed)");
    cr_expect_eq(evaluate(&fixture, below, 2, NULL, 2), TAPML_INVALID);
    cr_expect(strstr(status_message(), "has -1 at 1"), "%s", status_message());
    cr_expect_eq(evaluate(&fixture, last, 1, far_rows, 2), TAPML_INVALID);
    cr_expect_str_eq(
        status_message(),
        "input 'rows' has 2 at 1, expected 0 .. 0 for 'rows' of last (tapml.gather_rows)");
    close_fixture(&fixture);
}

Test(input, that_no_call_can_bring_is_refused)
{
    struct fixture fixture;
    open_fixture(&fixture);
    struct graph_value *rows = &fixture.sketch.values[fixture.rows];
    struct graph_value *ids = &fixture.sketch.values[fixture.ids];
    input_set_destroy(fixture.set);
    fixture.set = NULL;
    rows->name = "columns";
    cr_expect_eq(make_set(&fixture), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "the host has no input 'columns', only 'rows'");
    rows->name = "rows";
    rows->shape[0].constant = 1;
    cr_expect_eq(make_set(&fixture), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "expected input 'rows' to be i32 [R], found i32 of rank 1");
    rows->shape[0].constant = 0;
    ids->dtype = TAPML_F32;
    cr_expect_eq(make_set(&fixture), TAPML_INVALID);
    cr_expect_str_eq(status_message(),
                     "expected input 'input_ids' to be i32 [T], found f32 of rank 1");
    close_fixture(&fixture);
}

static tapml_status make_and_give(struct fixture *fixture)
{
    tapml_status status = make_set(fixture);
    if (status == TAPML_OK) {
        status = input_give(fixture->set, "extra", "abcd", 4);
        input_set_destroy(fixture->set);
    }
    fixture->set = NULL;
    return status;
}

Test(input, survives_a_lack_of_memory)
{
    struct fixture fixture;
    open_fixture(&fixture);
    input_set_destroy(fixture.set);
    SCRATCH_SWEEP(make_and_give(&fixture));
    close_fixture(&fixture);
}
