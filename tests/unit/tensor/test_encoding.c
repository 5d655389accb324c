// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "tensor/convert.h"
#include "tensor/encoding.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { BLOCKS = 6, VALUES = BLOCKS * ENCODING_BLOCK_MAX, ROOM = 512 };

static const char *const ids[] = {TAPML_ENCODING_Q8, TAPML_ENCODING_Q4};

static void draw(float values[VALUES])
{
    struct random random;
    random_init(&random, 7);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = (float)random_between(&random, -2, 2);
    }
}

static struct encoding_loss encode(const char *id, const float *values, unsigned char *target)
{
    struct encoding_loss loss = {0};
    cr_assert_eq(encoding_encode(encoding_find(id), TAPML_F32, values, BLOCKS, target, &loss),
                 TAPML_OK);
    return loss;
}

Test(encoding, is_found_by_its_id)
{
    cr_assert_str_eq(encoding_find(TAPML_ENCODING_Q4)->id, TAPML_ENCODING_Q4);
    cr_assert_null(encoding_find("gguf.q4_0/1"));
    cr_assert_str_eq(encoding_name(encoding_find(TAPML_ENCODING_Q8), TAPML_U8), "tapml.q8/1");
    cr_assert_str_eq(encoding_name(NULL, TAPML_BF16), "bf16");
}

Test(encoding, lies_in_spans_on_multiples_of_16)
{
    const tapml_encoding *q8 = encoding_find(TAPML_ENCODING_Q8);
    const tapml_encoding *q4 = encoding_find(TAPML_ENCODING_Q4);
    const int64_t shape[] = {3, 64};
    uint64_t bytes = 0;

    cr_assert_eq(encoding_bytes(q8, TAPML_U8, shape, 2, &bytes), TAPML_OK);
    cr_assert_eq(bytes, 208); // 6 * 32, and 12 rounded up.
    cr_assert_eq(encoding_span_begin(q8, BLOCKS, 1), 192);
    cr_assert_eq(encoding_bytes(q4, TAPML_U8, shape, 2, &bytes), TAPML_OK);
    cr_assert_eq(bytes, 128);
    cr_assert_eq(encoding_span_begin(q4, BLOCKS, 1), 96);
    cr_assert_eq(encoding_span_begin(q4, BLOCKS, 2), 112);
    cr_assert_eq(encoding_bytes(NULL, TAPML_F16, shape, 2, &bytes), TAPML_OK);
    cr_assert_eq(bytes, 384);
}

Test(encoding, refuses_shapes_without_whole_blocks)
{
    const tapml_encoding *q8 = encoding_find(TAPML_ENCODING_Q8);
    const int64_t odd[] = {32, 33}, negative[] = {-1, 32}, huge[] = {INT64_MAX / 32, 32};
    uint64_t bytes = 0;

    cr_assert_eq(encoding_bytes(q8, TAPML_U8, odd, 2, &bytes), TAPML_INVALID);
    cr_assert_eq(encoding_bytes(q8, TAPML_U8, odd, 0, &bytes), TAPML_INVALID);
    cr_assert_eq(encoding_bytes(q8, TAPML_U8, negative, 2, &bytes), TAPML_INVALID);
    cr_assert_eq(encoding_bytes(q8, TAPML_U8, huge, 2, &bytes), TAPML_INVALID);
}

// By the definition of the page, from the bytes alone.
static float value_at(const char *id, const unsigned char *tensor, size_t index)
{
    const size_t block = index / 32, i = index % 32;
    uint16_t half = 0;

    if (strcmp(id, TAPML_ENCODING_Q8) == 0) {
        memcpy(&half, tensor + 192 + 2 * block, 2);
        return convert_f16_to_f32(half) * (float)(signed char)tensor[index];
    }
    memcpy(&half, tensor + 96 + 2 * block, 2);
    const float scale = convert_f16_to_f32(half);
    memcpy(&half, tensor + 112 + 2 * block, 2);
    const unsigned pair = tensor[16 * block + i / 2];
    return scale * (float)(i % 2 == 0 ? pair & 15u : pair >> 4) + convert_f16_to_f32(half);
}

Test(encoding, decodes_as_the_page_says)
{
    float values[VALUES], decoded[ENCODING_BLOCK_MAX];
    unsigned char tensor[ROOM];

    draw(values);
    for (size_t k = 0; k < 2; k++) {
        (void)encode(ids[k], values, tensor);
        for (size_t i = 0; i < VALUES; i++) {
            encoding_decode(encoding_find(ids[k]), tensor, BLOCKS, i / 32, decoded);
            cr_assert_eq(decoded[i % 32], value_at(ids[k], tensor, i));
        }
    }
}

Test(encoding, is_within_half_a_step_and_says_what_was_lost)
{
    const double steps[] = {2.0 / 127, 2.0 / 8};
    float values[VALUES];
    unsigned char tensor[ROOM];

    draw(values);
    for (size_t k = 0; k < 2; k++) {
        const struct encoding_loss loss = encode(ids[k], values, tensor);
        double squares = 0, most = 0;

        for (size_t i = 0; i < VALUES; i++) {
            const double error = fabs((double)value_at(ids[k], tensor, i) - (double)values[i]);

            squares += error * error;
            most = fmax(most, error);
        }
        cr_assert_float_eq(loss.error_squares, squares, 1e-12);
        cr_assert_float_eq(loss.error_max, most, 1e-12);
        // The far end of 4 bits is cut: -8 .. 7.
        cr_assert_leq(loss.error_max, steps[k] * (k == 0 ? 0.51 : 1.01));
        cr_assert_gt(encoding_loss_relative(&loss), 0);
    }
}

Test(encoding, keeps_what_it_can_hold_exactly)
{
    float values[VALUES];
    unsigned char tensor[ROOM];

    for (size_t i = 0; i < VALUES; i++) {
        values[i] = 0.5f * (float)((int)(i % 16) - 8);
    }
    values[32] = -4; // The extreme value of each block is -8 steps.
    cr_assert_eq(encode(TAPML_ENCODING_Q4, values, tensor).error_squares, 0);
    memset(values, 0, sizeof(values));
    for (size_t k = 0; k < 2; k++) {
        const struct encoding_loss loss = encode(ids[k], values, tensor);

        cr_assert_eq(loss.error_max, 0);
        cr_assert_eq(encoding_loss_relative(&loss), 0);
    }
}

Test(encoding, takes_blocks_too_small_for_a_scale_as_zero)
{
    float values[VALUES];
    unsigned char tensor[ROOM];

    for (size_t i = 0; i < VALUES; i++) {
        values[i] = i % 2 == 0 ? 1e-12f : -1e-12f;
    }
    for (size_t k = 0; k < 2; k++) {
        (void)encode(ids[k], values, tensor);
        for (size_t i = 0; i < VALUES; i++) {
            cr_assert_eq(value_at(ids[k], tensor, i), 0);
        }
    }
}

Test(encoding, refuses_values_that_no_scale_holds)
{
    const float wrong[] = {NAN, INFINITY, -INFINITY, 1e6f};
    float values[VALUES] = {0};
    unsigned char tensor[ROOM];
    struct encoding_loss loss = {0};

    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < 4; i++) {
            values[40] = wrong[i];
            cr_assert_eq(
                encoding_encode(encoding_find(ids[k]), TAPML_F32, values, BLOCKS, tensor, &loss),
                TAPML_INVALID);
            cr_assert_not_null(strstr(status_message(), "32 .. 63"));
        }
        values[40] = -65504;
        (void)encode(ids[k], values, tensor);
        cr_assert_eq(value_at(ids[k], tensor, 40), k == 0 ? -127 * 516.0f : -65504);
    }
}

Test(encoding, slices_into_tensors_of_their_own)
{
    float values[VALUES], whole[ENCODING_BLOCK_MAX], part[ENCODING_BLOCK_MAX];
    unsigned char tensor[ROOM], slice[ROOM];

    draw(values);
    for (size_t k = 0; k < 2; k++) {
        const tapml_encoding *encoding = encoding_find(ids[k]);

        (void)encode(ids[k], values, tensor);
        encoding_slice(encoding, tensor, BLOCKS, 2, 3, slice);
        for (uint64_t block = 0; block < 3; block++) {
            encoding_decode(encoding, tensor, BLOCKS, 2 + block, whole);
            encoding_decode(encoding, slice, 3, block, part);
            cr_assert_arr_eq(whole, part, sizeof(whole));
        }
    }
}

Test(encoding, reads_every_float_type)
{
    float values[VALUES], wide[ENCODING_BLOCK_MAX];
    uint16_t half[VALUES];
    unsigned char tensor[ROOM], other[ROOM];
    struct encoding_loss loss = {0};

    draw(values);
    for (size_t i = 0; i < VALUES; i++) {
        half[i] = convert_f32_to_bf16(values[i]);
        values[i] = convert_bf16_to_f32(half[i]);
    }
    memset(tensor, 0, sizeof(tensor));
    memset(other, 0, sizeof(other));
    (void)encode(TAPML_ENCODING_Q8, values, tensor);
    cr_assert_eq(
        encoding_encode(encoding_find(TAPML_ENCODING_Q8), TAPML_BF16, half, BLOCKS, other, &loss),
        TAPML_OK);
    cr_assert_arr_eq(tensor, other, sizeof(tensor));
    encoding_decode(encoding_find(TAPML_ENCODING_Q8), other, BLOCKS, 0, wide);
    cr_assert_float_eq(wide[0], values[0], 0.01);
}
