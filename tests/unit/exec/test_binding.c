// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "exec/binding.h"
#include "harness/sketch.h"
#include "tensor/tiles.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static const struct affine_point point = {.value = {3, 5, 1, 32}};

struct fixture {
    struct sketch sketch;
    struct arena *arena;
    struct binding binding;
};

static void bind(struct fixture *fixture, uint32_t op)
{
    fixture->arena = arena_create();
    cr_assert_not_null(fixture->arena);
    cr_assert_eq(binding_init(&fixture->binding, &fixture->sketch.graph, op, fixture->arena),
                 TAPML_OK);
    binding_evaluate(&fixture->binding, &point);
}

Test(binding, describes_base_values_as_dense_and_views_with_strides)
{
    struct fixture fixture;
    struct sketch *sketch = &fixture.sketch;
    sketch_init(sketch);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 8);
    const uint32_t half = sketch_columns(sketch, x, 4, 8);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 4);
    bind(&fixture, sketch_op(sketch, &tapml_silu, "y", (const uint32_t[]){half, y}));

    cr_assert_eq(fixture.binding.tensor_count, 2);
    const tapml_tensor *in = fixture.binding.args[TAPML_SILU_X].u.p;
    const tapml_tensor *out = fixture.binding.args[TAPML_SILU_Y].u.p;
    cr_expect_arr_eq(in->shape, ((const int64_t[]){3, 4}), 16);
    cr_expect_arr_eq(in->stride, ((const int64_t[]){8, 1}), 16);
    cr_expect_eq(in->offset, 16);
    cr_expect_null(in->buffer);
    cr_expect_arr_eq(out->shape, ((const int64_t[]){3, 4}), 16);
    cr_expect_null(out->stride);
    cr_expect_eq(out->offset, 0);
    cr_expect(binding_is_view(&fixture.binding, 0));
    cr_expect_not(binding_is_view(&fixture.binding, 1));

    const struct backend_origin *origin = &fixture.binding.origins[TAPML_SILU_X];
    cr_expect_str_eq(origin->name, "x");
    cr_expect_eq(origin->base_bytes, 3 * 8 * 4);
    cr_expect_null(origin->data);
    arena_destroy(fixture.arena);
}

Test(binding, puts_the_numbers_of_a_call_in)
{
    struct fixture fixture;
    struct sketch *sketch = &fixture.sketch;
    sketch_init(sketch);
    const uint32_t s = sketch_value(sketch, GRAPH_STATE, "s", sketch_sum(32, 0), 8);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 8);
    const uint32_t op = sketch_op(sketch, &tapml_state_append, "append", (const uint32_t[]){s, x});
    sketch->arguments[op][TAPML_STATE_APPEND_POSITION].i.factor[AFFINE_POSITION] = 1;
    bind(&fixture, op);
    cr_expect_eq(fixture.binding.args[TAPML_STATE_APPEND_POSITION].kind, TAPML_P_I64);
    cr_expect_eq(fixture.binding.args[TAPML_STATE_APPEND_POSITION].u.i, 5);
    const struct affine_point next = {.value = {1, 8, 1, 32}};
    binding_evaluate(&fixture.binding, &next);
    cr_expect_eq(fixture.binding.args[TAPML_STATE_APPEND_POSITION].u.i, 8);
    const tapml_tensor *rows = fixture.binding.args[TAPML_STATE_APPEND_ROWS].u.p;
    cr_expect_eq(rows->shape[0], 1);
    arena_destroy(fixture.arena);
}

Test(binding, takes_a_weight_as_it_lies_on_the_device)
{
    static const float numbers[32] = {0};
    struct fixture fixture;
    struct sketch *sketch = &fixture.sketch;
    sketch_init(sketch);
    const uint32_t w = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(4, 0), 8);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 8);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 4);
    sketch->values[w].data = numbers;
    sketch->values[w].data_bytes = sizeof(numbers);
    bind(&fixture, sketch_op(sketch, &tapml_linear, "y", (const uint32_t[]){x, w, GRAPH_NONE, y}));
    cr_expect_eq(fixture.binding.args[TAPML_LINEAR_B].kind, TAPML_V_NONE);
    cr_expect_eq(fixture.binding.origins[TAPML_LINEAR_W].data, (const void *)numbers);
    cr_expect_eq(fixture.binding.origins[TAPML_LINEAR_W].base_bytes, sizeof(numbers));

    tapml_object buffer;
    const tapml_tensor second = {.buffer = &buffer}, first = {.buffer = &buffer, .next = &second};
    binding_set_weight(&fixture.binding, 1, &first);
    cr_expect_eq(fixture.binding.args[TAPML_LINEAR_W].u.p, (const void *)&first);
    // Without its memory again, as `supports` wants it.
    binding_evaluate(&fixture.binding, &point);
    const tapml_tensor *bare = fixture.binding.args[TAPML_LINEAR_W].u.p;
    cr_expect_null(bare->buffer);
    cr_expect_null(bare->next);
    arena_destroy(fixture.arena);
}

Test(binding, an_encoding_that_a_device_does_not_take_is_there_for_the_next_call)
{
    const tapml_encoding *tiles = codec_tiles_at(0)->encoding;
    struct fixture fixture;
    struct sketch *sketch = &fixture.sketch;
    sketch_init(sketch);
    const uint32_t w = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(4, 0), 8);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 8);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 4);
    sketch->values[w].encoding = tiles;
    sketch->values[w].dtype = TAPML_U8;
    bind(&fixture, sketch_op(sketch, &tapml_linear, "y", (const uint32_t[]){x, w, GRAPH_NONE, y}));
    binding_set_encodings(&fixture.binding, 0);
    const tapml_tensor *given = fixture.binding.args[TAPML_LINEAR_W].u.p;
    cr_expect_null(given->encoding);
    cr_expect_eq(given->dtype, tiles_dtype(tiles));
    binding_evaluate(&fixture.binding, &point);
    given = fixture.binding.args[TAPML_LINEAR_W].u.p;
    cr_expect_eq(given->encoding, tiles);
    cr_expect_eq(given->dtype, TAPML_U8);
    arena_destroy(fixture.arena);
}

Test(binding, views_a_weight_where_it_lies)
{
    struct fixture fixture;
    struct sketch *sketch = &fixture.sketch;
    sketch_init(sketch);
    const uint32_t w = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(4, 0), 8);
    const uint32_t half = sketch_columns(sketch, w, 4, 8);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 4);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 4);
    bind(&fixture,
         sketch_op(sketch, &tapml_linear, "y", (const uint32_t[]){x, half, GRAPH_NONE, y}));
    tapml_object buffer;
    const tapml_tensor base = {.buffer = &buffer, .offset = 256};
    for (int round = 0; round < 2; round++) {
        binding_evaluate(&fixture.binding, &point);
        binding_set_weight(&fixture.binding, 1, &base);
        const tapml_tensor *view = fixture.binding.args[TAPML_LINEAR_W].u.p;
        cr_expect_eq(view->buffer, &buffer);
        cr_expect_eq(view->offset, 256 + 16);
        cr_expect_arr_eq(view->stride, ((const int64_t[]){8, 1}), 16);
    }
    arena_destroy(fixture.arena);
}

Test(binding, lists_several_tensors)
{
    static const tapml_param list = {.hdr = TAPML_HDR(tapml_param),
                                     .name = "w",
                                     .kind = TAPML_P_TENSORS_IN,
                                     .dtype = "f32",
                                     .shape = "rows, in",
                                     .layout = "rows"};
    static const tapml_param out = {.hdr = TAPML_HDR(tapml_param),
                                    .name = "y",
                                    .kind = TAPML_P_TENSOR_OUT,
                                    .dtype = "f32",
                                    .shape = "T, rows",
                                    .layout = "rows"};
    static const tapml_param *const params[] = {&list, &out};
    static const tapml_op op = {.hdr = TAPML_HDR(tapml_op),
                                .tolerance = "exact",
                                .name = "org.example.stack",
                                .version = 1,
                                .n_params = 2,
                                .params = params};
    struct fixture fixture;
    struct sketch *sketch = &fixture.sketch;
    sketch_init(sketch);
    const uint32_t a = sketch_value(sketch, GRAPH_WEIGHT, "a", sketch_sum(2, 0), 4);
    const uint32_t b = sketch_value(sketch, GRAPH_WEIGHT, "b", sketch_sum(3, 0), 4);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 4);
    const uint32_t at = sketch_op(sketch, &op, "y", (const uint32_t[]){y});
    const uint32_t values[] = {a, b};
    sketch->arguments[at][0].count = 2;
    sketch->arguments[at][0].values = values;
    bind(&fixture, at);
    cr_assert_eq(fixture.binding.tensor_count, 3);
    cr_expect_eq(fixture.binding.args[0].count, 2);
    const tapml_tensor *const *tensors = fixture.binding.args[0].u.p;
    cr_expect_eq(tensors[0]->shape[0], 2);
    cr_expect_eq(tensors[1]->shape[0], 3);
    cr_expect_str_eq(fixture.binding.origins[0].name, "a");
    cr_expect_eq(fixture.binding.origins[0].base_bytes, 32);

    tapml_object buffer;
    const tapml_tensor resident = {.buffer = &buffer};
    binding_set_weight(&fixture.binding, 1, &resident);
    cr_expect_eq(tensors[1], &resident);
    arena_destroy(fixture.arena);
}

Test(binding, makes_what_is_marked_f16_and_f32_again)
{
    struct fixture fixture;
    struct sketch *sketch = &fixture.sketch;
    sketch_init(sketch);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 8);
    const uint32_t half = sketch_columns(sketch, x, 4, 8);
    const uint32_t weight = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(4, 0), 0);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 4);
    activation_set marks[SKETCH_VALUES_MAX] = {0};
    marks[x] = marks[half] = marks[y] = activation_bit(ACTIVATION_F16);
    bind(&fixture, sketch_op(sketch, &tapml_rms_norm, "y", (const uint32_t[]){half, weight, y}));
    const tapml_tensor *in = fixture.binding.args[TAPML_RMS_NORM_X].u.p;
    const tapml_tensor *scale = fixture.binding.args[TAPML_RMS_NORM_WEIGHT].u.p;
    const struct backend_origin *origin = &fixture.binding.origins[TAPML_RMS_NORM_X];

    for (int turn = 0; turn < 2; turn++) { // A second time changes nothing.
        binding_set_activation(&fixture.binding, marks, ACTIVATION_F16);
        cr_expect_eq(in->dtype, TAPML_F16);
        cr_expect_eq(in->offset, 8);
        cr_expect_eq(in->stride[0], 8, "strides count elements");
        cr_expect_eq(origin->base_bytes, 3 * 8 * 2);
        cr_expect_eq(scale->dtype, TAPML_F32);
    }
    binding_set_activation(&fixture.binding, marks, ACTIVATION_F32);
    cr_expect_eq(in->dtype, TAPML_F32);
    cr_expect_eq(in->offset, 16);
    cr_expect_eq(origin->base_bytes, 3 * 8 * 4);

    binding_set_activation(&fixture.binding, marks, ACTIVATION_F16);
    binding_evaluate(&fixture.binding, &point);
    cr_expect_eq(in->dtype, TAPML_F32, "a call begins as f32");
    cr_expect_eq(in->offset, 16);
    arena_destroy(fixture.arena);
}

Test(binding, rounds_weights_that_stand_for_an_activation)
{
    struct fixture fixture;
    struct sketch *sketch = &fixture.sketch;
    sketch_init(sketch);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 8);
    const uint32_t weight = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(0, 1), 8);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "y", sketch_sum(0, 1), 8);
    activation_set marks[SKETCH_VALUES_MAX] = {0};
    marks[x] = marks[y] = activation_bit(ACTIVATION_F16);
    bind(&fixture, sketch_op(sketch, &tapml_mul, "y", (const uint32_t[]){x, weight, y}));
    const tapml_tensor *factor = fixture.binding.args[TAPML_MUL_B].u.p;
    binding_set_activation(&fixture.binding, marks, ACTIVATION_F16);
    cr_expect_eq(factor->dtype, TAPML_F16);
    binding_set_activation(&fixture.binding, marks, ACTIVATION_F32);
    cr_expect_eq(factor->dtype, TAPML_F32);
    arena_destroy(fixture.arena);
}
