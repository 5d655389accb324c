// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/output.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plain.h"
#include "harness/scratch.h"
#include "harness/sketch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

enum { SOURCE, GPU, PLACES, WIDTH = 4, TOKENS = 2 };

static const struct affine_point largest = {.value = {8, 31, 8, 32}};
static const struct affine_point point = {.value = {TOKENS, 3, 1, 32}};
static const float weight[WIDTH] = {1, 2, 3, 4};

// y = silu(x); the outputs are "y", its middle columns, a weight, and an input of halves.
struct fixture {
    struct backend *backends[PLACES];
    struct space_set spaces;
    struct sketch sketch;
    uint32_t y, half;
    struct value_set *values;
    struct output_set *set;
};

static void make_graph(struct fixture *fixture)
{
    struct sketch *sketch = &fixture->sketch;
    const struct affine rows = sketch_sum(0, 1);
    sketch_init(sketch);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", rows, WIDTH);
    fixture->y = sketch_value(sketch, GRAPH_COMPUTED, "y", rows, WIDTH);
    sketch_op(sketch, &tapml_silu, "y", (const uint32_t[]){x, fixture->y});
    fixture->half = sketch_value(sketch, GRAPH_INPUT, "half", rows, 1);
    sketch->values[fixture->half].dtype = TAPML_F16;
    const uint32_t w = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(1, 0), WIDTH);
    sketch->values[w].data = weight;
    sketch_output(sketch, "y", fixture->y);
    sketch_output(sketch, "middle", sketch_columns(sketch, fixture->y, 1, 3));
    sketch_output(sketch, "w", w);
    sketch_output(sketch, "half", fixture->half);
}

static void open_fixture(struct fixture *fixture)
{
    static const char *const names[] = {"source", "gpu"};
    memset(fixture, 0, sizeof(*fixture));
    fixture->backends[SOURCE] = plain_create();
    fixture->backends[GPU] = late_create(&(struct late_options){0});
    struct places places;
    space_set_init(&fixture->spaces, places_over(&places, fixture->backends, names, PLACES),
                   PLACES);
    make_graph(fixture);
    const struct graph *graph = &fixture->sketch.graph;
    cr_assert_eq(value_set_create(graph, &fixture->spaces, &largest, &fixture->values), TAPML_OK);
    cr_assert_eq(output_set_create(graph, fixture->values, &fixture->set), TAPML_OK);
    value_set_begin_call(fixture->values, &point);
}

static void close_fixture(struct fixture *fixture)
{
    cr_assert_eq(space_wait_all(&fixture->spaces), TAPML_OK);
    output_set_destroy(fixture->set);
    value_set_destroy(fixture->values);
    backend_release(fixture->backends[SOURCE]);
    backend_release(fixture->backends[GPU]);
}

// "y" is computed on a device: 0, 1, 2 ... 7.
static void compute(struct fixture *fixture, const float *numbers)
{
    tapml_object *buffer = NULL;
    cr_assert_eq(space_enter(&fixture->spaces, GPU), TAPML_OK);
    cr_assert_eq(value_buffer(fixture->values, fixture->y, GPU, &buffer), TAPML_OK);
    cr_assert_eq(backend_write(fixture->backends[GPU], buffer, 0, numbers,
                               TOKENS * WIDTH * sizeof(*numbers)),
                 TAPML_OK);
    space_note_call(&fixture->spaces, GPU);
    uint16_t valid[SKETCH_VALUES_MAX] = {0};
    valid[fixture->y] = (uint16_t)(1u << fixture->spaces.places[GPU].space);
    value_set_end_call(fixture->values, valid, NULL);
}

Test(output, is_dense_wherever_it_was_computed)
{
    static const float numbers[TOKENS * WIDTH] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct fixture fixture;
    struct output output;
    open_fixture(&fixture);
    compute(&fixture, numbers);
    cr_assert_eq(output_get(fixture.set, "middle", &point, &output), TAPML_OK);
    cr_expect_eq(output.rank, 2);
    cr_expect_eq(output.shape[0], TOKENS);
    cr_expect_eq(output.shape[1], 2);
    cr_expect_arr_eq(output.values, ((const float[]){1, 2, 5, 6}), 16);
    const float *middle = output.values;
    cr_assert_eq(output_get(fixture.set, "y", &point, &output), TAPML_OK);
    cr_expect_arr_eq(output.values, numbers, sizeof(numbers));
    cr_expect_eq(middle[3], 6, "the other one is still there");
    cr_assert_eq(output_get(fixture.set, "w", &point, &output), TAPML_OK);
    cr_expect_arr_eq(output.values, weight, sizeof(weight));
    close_fixture(&fixture);
}

Test(output, of_another_type_is_widened)
{
    struct fixture fixture;
    struct output output;
    void *memory = NULL;
    open_fixture(&fixture);
    cr_assert_eq(value_input_memory(fixture.values, fixture.half, &memory), TAPML_OK);
    memcpy(memory, ((const uint16_t[]){0x3c00, 0xc000}), 4);
    cr_assert_eq(output_get(fixture.set, "half", &point, &output), TAPML_OK);
    cr_expect_arr_eq(output.values, ((const float[]){1, -2}), 8);
    close_fixture(&fixture);
}

Test(output, must_be_there)
{
    struct fixture fixture;
    struct output output;
    open_fixture(&fixture);
    cr_expect_eq(output_get(fixture.set, "midle", &point, &output), TAPML_NOT_FOUND);
    cr_expect_str_eq(status_message(), "the model has no output 'midle', did you mean 'middle'?");
    close_fixture(&fixture);
    output_set_destroy(NULL);
}

static tapml_status make_set(struct fixture *fixture)
{
    struct output_set *set = NULL;
    struct output output;
    TAPML_TRY(output_set_create(&fixture->sketch.graph, fixture->values, &set));
    const tapml_status status = output_get(set, "middle", &point, &output);
    output_set_destroy(set);
    return status;
}

Test(output, survives_a_lack_of_memory)
{
    static const float numbers[TOKENS * WIDTH] = {0};
    struct fixture fixture;
    const void *memory = NULL;
    open_fixture(&fixture);
    compute(&fixture, numbers);
    cr_assert_eq(value_memory(fixture.values, fixture.y, &memory), TAPML_OK);
    SCRATCH_SWEEP(make_set(&fixture));
    close_fixture(&fixture);
}
