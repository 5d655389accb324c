// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "base/random.h"
#include "tensor/convert.h"
#include "tensor/encoding.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 6, VALUES_MAX = BLOCKS * ENCODING_BLOCK_MAX, ROOM = 4096 };

static const tapml_encoding *encoding_at_index(uint32_t index)
{
    const struct codec *codec = codec_at(index);

    return codec != NULL ? codec->encoding : NULL;
}

#define FOR_EACH_ENCODING(e)                                                                       \
    const tapml_encoding *e = NULL;                                                                \
    for (uint32_t index = 0; (e = encoding_at_index(index)) != NULL; index++)

static uint32_t value_count(const tapml_encoding *encoding)
{
    return BLOCKS * encoding->block_values;
}

static void draw(float values[VALUES_MAX])
{
    struct random random;

    random_init(&random, 7);
    for (size_t i = 0; i < VALUES_MAX; i++) {
        values[i] = (float)random_between(&random, -2, 2);
    }
}

static struct encoding_loss
encode(const tapml_encoding *encoding, const float *values, unsigned char *target)
{
    struct encoding_loss loss = {0};

    cr_assert_eq(encoding_encode(encoding, TAPML_F32, values, BLOCKS, target, &loss), TAPML_OK);
    return loss;
}

static void decode(const tapml_encoding *encoding, const void *tensor, float *values)
{
    for (uint64_t b = 0; b < BLOCKS; b++) {
        encoding_decode(encoding, tensor, BLOCKS, b, values + b * encoding->block_values);
    }
}

Test(encoding, is_found_by_its_id)
{
    cr_assert_str_eq(encoding_find(TAPML_ENCODING_Q4)->id, TAPML_ENCODING_Q4);
    cr_assert_str_eq(encoding_find("gguf.q4_0/1")->id, "gguf.q4_0/1");
    cr_assert_null(encoding_find("gguf.iq2_xs/1"));
    cr_assert_str_eq(encoding_name(encoding_find(TAPML_ENCODING_Q8), TAPML_U8), "tapml.q8/1");
    cr_assert_str_eq(encoding_name(NULL, TAPML_BF16), "bf16");
    FOR_EACH_ENCODING(encoding)
    {
        cr_assert_eq(encoding_find(encoding->id), encoding);
    }
}

Test(encoding, is_found_by_a_word)
{
    cr_assert_str_eq(encoding_find_word("q8_0")->id, TAPML_ENCODING_Q8);
    cr_assert_str_eq(encoding_find_word("q4_0")->id, TAPML_ENCODING_Q4);
    cr_assert_str_eq(encoding_find_word("q6_k")->id, "gguf.q6_k/1");
    cr_assert_null(encoding_find_word("q3_k"));
    char words[128] = "";

    for (size_t i = 0; encoding_word(i) != NULL; i++) {
        const size_t length = strlen(words);

        (void)snprintf(words + length, sizeof(words) - length, "%s%s", i > 0 ? " " : "",
                       encoding_word(i));
    }
    cr_assert_str_eq(words, ENCODING_WORDS);
}

Test(encoding, lies_in_spans_on_multiples_of_their_alignment)
{
    const tapml_encoding *q8 = encoding_find(TAPML_ENCODING_Q8);
    const tapml_encoding *q4 = encoding_find(TAPML_ENCODING_Q4);
    const tapml_encoding *file = encoding_find("gguf.q4_0/1");
    const int64_t shape[] = {3, 64};
    uint64_t bytes = 0;

    cr_assert_eq(encoding_bytes(q8, TAPML_U8, shape, 2, &bytes), TAPML_OK);
    cr_assert_eq(bytes, 208); // 6 * 32, and 12 rounded up.
    cr_assert_eq(encoding_span_begin(q8, BLOCKS, 1), 192);
    cr_assert_eq(encoding_bytes(q4, TAPML_U8, shape, 2, &bytes), TAPML_OK);
    cr_assert_eq(bytes, 128);
    cr_assert_eq(encoding_span_begin(q4, BLOCKS, 1), 96);
    cr_assert_eq(encoding_span_begin(q4, BLOCKS, 2), 112);
    cr_assert_eq(encoding_align(q4), 16);
    cr_assert_eq(encoding_bytes(file, TAPML_U8, shape, 2, &bytes), TAPML_OK);
    cr_assert_eq(bytes, 6 * 18);
    cr_assert_eq(encoding_align(file), 2);
    cr_assert_eq(encoding_bytes(NULL, TAPML_F16, shape, 2, &bytes), TAPML_OK);
    cr_assert_eq(bytes, 384);
}

Test(encoding, refuses_shapes_without_whole_blocks)
{
    const int64_t odd[] = {32, 33}, negative[] = {-1, 256}, huge[] = {INT64_MAX / 256, 256};
    uint64_t bytes = 0;

    FOR_EACH_ENCODING(encoding)
    {
        cr_assert_eq(encoding_bytes(encoding, TAPML_U8, odd, 2, &bytes), TAPML_INVALID);
        cr_assert_eq(encoding_bytes(encoding, TAPML_U8, odd, 0, &bytes), TAPML_INVALID);
        cr_assert_eq(encoding_bytes(encoding, TAPML_U8, negative, 2, &bytes), TAPML_INVALID);
        cr_assert_eq(encoding_bytes(encoding, TAPML_U8, huge, 2, &bytes), TAPML_INVALID);
    }
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
    const char *const ids[] = {TAPML_ENCODING_Q8, TAPML_ENCODING_Q4};
    float values[VALUES_MAX], decoded[VALUES_MAX];
    unsigned char tensor[ROOM];

    draw(values);
    for (size_t k = 0; k < 2; k++) {
        const tapml_encoding *encoding = encoding_find(ids[k]);

        (void)encode(encoding, values, tensor);
        decode(encoding, tensor, decoded);
        for (size_t i = 0; i < value_count(encoding); i++) {
            cr_assert_eq(decoded[i], value_at(ids[k], tensor, i));
        }
    }
}

// Blocks of files, and what the package gguf reads from them (tools/dump_blocks.py).
struct judged {
    struct file_map blocks, values;
    uint64_t block_count;
};

static struct judged open_judged(const tapml_encoding *encoding)
{
    const char *name = strchr(encoding->id, '.') + 1;
    const int length = (int)strcspn(name, "/");
    struct judged judged;
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/encodings/%.*s.blocks", getenv("TAPML_TEST_DATA"),
                   length, name);
    cr_assert_eq(file_map(path, &judged.blocks), TAPML_OK);
    (void)snprintf(path, sizeof(path), "%s/encodings/%.*s.values", getenv("TAPML_TEST_DATA"),
                   length, name);
    cr_assert_eq(file_map(path, &judged.values), TAPML_OK);
    judged.block_count = judged.blocks.size / encoding->spans[0]->block_bytes;
    cr_assert_eq(judged.values.size, judged.block_count * encoding->block_values * sizeof(float));
    return judged;
}

static void close_judged(struct judged *judged)
{
    file_unmap(&judged->blocks);
    file_unmap(&judged->values);
}

static int is_of_files(const tapml_encoding *encoding)
{
    return strncmp(encoding->id, "gguf.", 5) == 0;
}

Test(encoding, decodes_blocks_of_files_to_the_same_bits)
{
    uint32_t count = 0;

    FOR_EACH_ENCODING(encoding)
    {
        if (!is_of_files(encoding)) {
            continue;
        }
        struct judged judged = open_judged(encoding);

        for (uint64_t b = 0; b < judged.block_count; b++) {
            const size_t bytes = encoding->block_values * sizeof(float);
            float decoded[ENCODING_BLOCK_MAX];

            encoding_decode(encoding, judged.blocks.data, judged.block_count, b, decoded);
            cr_assert_arr_eq(decoded, judged.values.data + b * bytes, bytes, "%s, block %d",
                             encoding->id, (int)b);
        }
        close_judged(&judged);
        count++;
    }
    cr_assert_eq(count, 8);
}

// All but the blocks of the largest scale, which has no negated multiple.
Test(encoding, spreads_blocks_of_files_for_devices)
{
    FOR_EACH_ENCODING(encoding)
    {
        const tapml_encoding *spread = encoding_on_device(encoding, TAPML_U8, 0).encoding;

        cr_assert_eq(encoding_on_device(encoding, TAPML_U8, ENCODING_TAKES_BLOCKS).encoding,
                     encoding);
        cr_assert_eq(is_of_files(encoding), spread != encoding);
        if (spread == encoding) {
            continue;
        }
        struct judged judged = open_judged(encoding);
        unsigned char tensor[ROOM];

        for (uint64_t b = 0; b < judged.block_count; b++) {
            const unsigned char *block = judged.blocks.data + b * encoding->spans[0]->block_bytes;
            float own[ENCODING_BLOCK_MAX], other[ENCODING_BLOCK_MAX];

            if (encoding_spread(encoding, block, 1, tensor) != TAPML_OK) {
                cr_assert(b == judged.block_count - 1 && strchr(encoding->id, '0') != NULL);
                cr_assert_not_null(strstr(status_message(), "block 0 of encoding"));
                continue;
            }
            encoding_decode(encoding, block, 1, 0, own);
            encoding_decode(spread, tensor, 1, 0, other);
            for (uint32_t i = 0; i < encoding->block_values; i++) {
                cr_assert_eq(own[i], other[i], "%s, block %d, value %d", encoding->id, (int)b,
                             (int)i);
            }
        }
        close_judged(&judged);
    }
}

Test(encoding, says_what_was_lost)
{
    float values[VALUES_MAX], decoded[VALUES_MAX];
    unsigned char tensor[ROOM];

    draw(values);
    FOR_EACH_ENCODING(encoding)
    {
        const struct encoding_loss loss = encode(encoding, values, tensor);
        double squares = 0, most = 0;

        decode(encoding, tensor, decoded);
        for (size_t i = 0; i < value_count(encoding); i++) {
            const double error = fabs((double)decoded[i] - (double)values[i]);

            squares += error * error;
            most = fmax(most, error);
        }
        cr_assert_float_eq(loss.error_squares, squares, 1e-12);
        cr_assert_float_eq(loss.error_max, most, 1e-12);
        cr_assert_gt(encoding_loss_relative(&loss), 0);
    }
}

// Of values between -2 and 2. The far end of centred quants is cut: -8 .. 7 of four bits.
Test(encoding, is_within_a_step)
{
    float values[VALUES_MAX];
    unsigned char tensor[ROOM];

    draw(values);
    FOR_EACH_ENCODING(encoding)
    {
        const char *bits = strpbrk(encoding->id, "4568");
        const double steps = (double)(1 << (*bits - '0')) - 1;
        const struct encoding_loss loss = encode(encoding, values, tensor);

        cr_assert_leq(loss.error_max, 4 / steps * 1.1, "%s: %g", encoding->id, loss.error_max);
    }
}

Test(encoding, keeps_what_it_can_hold_exactly)
{
    float values[VALUES_MAX];
    unsigned char tensor[ROOM];

    for (size_t i = 0; i < VALUES_MAX; i++) {
        values[i] = 0.5f * (float)((int)(i % 16) - 8);
    }
    cr_assert_eq(encode(encoding_find(TAPML_ENCODING_Q4), values, tensor).error_squares, 0);
    cr_assert_eq(encode(encoding_find("gguf.q4_0/1"), values, tensor).error_squares, 0);
    cr_assert_eq(encode(encoding_find("gguf.q4_1/1"), values, tensor).error_squares, 0);
    cr_assert_eq(encode(encoding_find("gguf.q5_0/1"), values, tensor).error_squares, 0);
    memset(values, 0, sizeof(values));
    FOR_EACH_ENCODING(encoding)
    {
        const struct encoding_loss loss = encode(encoding, values, tensor);

        cr_assert_eq(loss.error_max, 0);
        cr_assert_eq(encoding_loss_relative(&loss), 0);
    }
}

Test(encoding, takes_blocks_too_small_for_a_scale_as_zero)
{
    float values[VALUES_MAX], decoded[VALUES_MAX];
    unsigned char tensor[ROOM];

    for (size_t i = 0; i < VALUES_MAX; i++) {
        values[i] = i % 2 == 0 ? 1e-12f : -1e-12f;
    }
    FOR_EACH_ENCODING(encoding)
    {
        (void)encode(encoding, values, tensor);
        decode(encoding, tensor, decoded);
        for (size_t i = 0; i < value_count(encoding); i++) {
            cr_assert_eq(decoded[i], 0);
        }
    }
}

Test(encoding, refuses_values_that_no_scale_holds)
{
    const float wrong[] = {NAN, INFINITY, -INFINITY, 1e6f};
    float decoded[VALUES_MAX];
    unsigned char tensor[ROOM];
    struct encoding_loss loss = {0};

    FOR_EACH_ENCODING(encoding)
    {
        const uint32_t second = encoding->block_values;
        float values[VALUES_MAX] = {0};
        char range[32];

        (void)snprintf(range, sizeof(range), "%u .. %u", second, 2 * second - 1);
        for (size_t i = 0; i < 4; i++) {
            values[second + 8] = wrong[i];
            cr_assert_eq(encoding_encode(encoding, TAPML_F32, values, BLOCKS, tensor, &loss),
                         TAPML_INVALID);
            cr_assert_not_null(strstr(status_message(), range));
        }
        values[second + 8] = -65504;
        (void)encode(encoding, values, tensor);
        decode(encoding, tensor, decoded);
        cr_assert_float_eq(decoded[second + 8], -65504, 65504 / 100.0, "%s: %g", encoding->id,
                           decoded[second + 8]);
    }
}

Test(encoding, slices_into_tensors_of_their_own)
{
    float values[VALUES_MAX], whole[ENCODING_BLOCK_MAX], part[ENCODING_BLOCK_MAX];
    unsigned char tensor[ROOM], slice[ROOM];

    draw(values);
    FOR_EACH_ENCODING(encoding)
    {
        (void)encode(encoding, values, tensor);
        encoding_slice(encoding, tensor, BLOCKS, 2, 3, slice);
        for (uint64_t block = 0; block < 3; block++) {
            encoding_decode(encoding, tensor, BLOCKS, 2 + block, whole);
            encoding_decode(encoding, slice, 3, block, part);
            cr_assert_arr_eq(whole, part, encoding->block_values * sizeof(*whole));
        }
    }
}

Test(encoding, reads_every_float_type)
{
    float values[VALUES_MAX];
    uint16_t half[VALUES_MAX];
    struct encoding_loss loss = {0};

    draw(values);
    for (size_t i = 0; i < VALUES_MAX; i++) {
        half[i] = convert_f32_to_bf16(values[i]);
        values[i] = convert_bf16_to_f32(half[i]);
    }
    FOR_EACH_ENCODING(encoding)
    {
        unsigned char tensor[ROOM] = {0}, other[ROOM] = {0};

        (void)encode(encoding, values, tensor);
        cr_assert_eq(encoding_encode(encoding, TAPML_BF16, half, BLOCKS, other, &loss), TAPML_OK);
        cr_assert_arr_eq(tensor, other, sizeof(tensor));
    }
}

// A scale and its quants side by side, so that rows of blocks are rows of bytes.
Test(encoding, rows_of_a_state)
{
    const tapml_encoding *rows = encoding_find(TAPML_ENCODING_Q8_ROWS);
    int64_t shape[] = {5, 1, 64};
    unsigned char blocks[ROOM];
    float values[VALUES_MAX], decoded[VALUES_MAX];
    uint64_t bytes = 0;

    cr_assert_eq(encoding_bytes(rows, TAPML_U8, shape, 3, &bytes), TAPML_OK);
    cr_assert_eq(bytes, 5 * 2 * 36 + 8, "whole units of 16 bytes");
    encoding_byte_shape(rows, shape, 3);
    cr_assert_eq(shape[1], 1);
    cr_assert_eq(shape[2], 72);
    draw(values);
    values[0] = 2;
    const struct encoding_loss loss = encode(rows, values, blocks);

    cr_assert_lt(encoding_loss_relative(&loss), 0.01);
    decode(rows, blocks, decoded);
    cr_assert_float_eq(decoded[0], 2, 0.001);
    cr_assert_null(encoding_find_word(TAPML_ENCODING_Q8_ROWS), "weights have q8_0");
}

// docs/encodings.md: quants are rounded to even, what is tiny is zero, and nothing is refused.
Test(encoding, rows_of_a_state_have_any_values)
{
    enum { BLOCK = 32 };
    const tapml_encoding *rows = encoding_find(TAPML_ENCODING_Q8_ROWS);
    float values[VALUES_MAX] = {[0] = 127, 0.5f, 1.5f, -2.5f, 126.5f}, decoded[VALUES_MAX];
    unsigned char blocks[ROOM];

    values[BLOCK] = 0x1p-94f;
    values[2 * BLOCK] = 0x1.fffffep127f;
    values[3 * BLOCK] = INFINITY;
    values[4 * BLOCK + 1] = NAN;
    (void)encode(rows, values, blocks);
    decode(rows, blocks, decoded);
    cr_expect(decoded[0] == 127 && decoded[1] == 0 && decoded[2] == 2);
    cr_expect(decoded[3] == -2 && decoded[4] == 126);
    cr_expect_eq(decoded[BLOCK], 0);
    cr_expect_float_eq(decoded[2 * BLOCK] / values[2 * BLOCK], 1, 0x1p-11);
    cr_expect(isnan(decoded[3 * BLOCK + 5]) && isnan(decoded[4 * BLOCK]));
    cr_expect_eq(decoded[5 * BLOCK], 0);
}
