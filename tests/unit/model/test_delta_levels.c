// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model/delta_levels.h"
#include "tensor/encoding.h"

#include <tapml/tensor.h>

#include <criterion/criterion.h>
#include <string.h>

enum { ROWS = 3, COLUMNS = 135, COUNT = ROWS * COLUMNS, BODY = 4096 }; // A block and a part of one.

static struct delta_form form_of(enum delta_kind kind)
{
    return (struct delta_form){
        .kind = kind, .dtype = TAPML_F32, .count = COUNT, .kept = COUNT, .columns = COLUMNS};
}

// Two of four stay, of the last three of a row too.
static void choose(int bits, float *scales, int8_t *levels)
{
    const int most = (1 << bits) - 1;
    for (int i = 0; i < COUNT; ++i) {
        const int in_group = i % COLUMNS % DELTA_LEVELS_GROUP;
        levels[i] = (int8_t)(in_group % 2 == 0 ? 2 * (i % (most + 1)) - most : 0);
    }
    for (int i = 0; i < ROWS * 2; ++i) {
        scales[i] = delta_levels_round_scale(0.25 * (i + 1));
    }
}

Test(delta_levels, the_nearest_level_is_odd)
{
    cr_assert_eq(delta_levels_nearest(2, 0.9), 1);
    cr_assert_eq(delta_levels_nearest(2, -0.1), -1);
    cr_assert_eq(delta_levels_nearest(2, 2.1), 3);
    cr_assert_eq(delta_levels_nearest(2, 70), 3);
    cr_assert_eq(delta_levels_nearest(4, -70), -15);
    cr_assert_eq(delta_levels_nearest(4, 8.5), 9);
}

Test(delta_levels, what_is_packed_is_added_to_the_base)
{
    static const enum delta_kind kinds[] = {DELTA_24Q2, DELTA_24Q4};
    for (int k = 0; k < 2; ++k) {
        struct delta_form form = form_of(kinds[k]);
        float scales[ROWS * 2], base[COUNT], fine[COUNT];
        int8_t levels[COUNT];
        unsigned char body[BODY];
        choose(delta_levels_bits(kinds[k]), scales, levels);
        cr_assert_leq(delta_levels_bytes(&form), BODY);
        delta_levels_pack(&form, scales, levels, body);
        cr_assert_eq(form.kept, ROWS * (132 / 2 + 2));
        for (int i = 0; i < COUNT; ++i) {
            base[i] = (float)(i % 11);
        }
        cr_assert_eq(delta_levels_apply(&form, base, body, fine), TAPML_OK, "%s", status_message());
        for (int i = 0; i < COUNT; ++i) {
            const int block = i / COLUMNS * 2 + (i % COLUMNS >= DELTA_LEVELS_BLOCK);
            cr_assert_eq(fine[i], base[i] + scales[block] * (float)levels[i], "value %d", i);
        }
    }
}

// A body in which `change` has changed a byte of what was packed.
static void refuse(size_t at, unsigned char change, const char *piece)
{
    struct delta_form form = form_of(DELTA_24Q2);
    float scales[ROWS * 2], base[COUNT] = {0}, fine[COUNT];
    int8_t levels[COUNT];
    unsigned char body[BODY];
    choose(2, scales, levels);
    delta_levels_pack(&form, scales, levels, body);
    body[at] ^= change;
    cr_assert_eq(delta_levels_apply(&form, base, body, fine), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
}

Test(delta_levels, a_body_that_is_none_is_refused)
{
    const size_t mask = sizeof(uint16_t) * ROWS * 2;
    refuse(mask, 0x0a, "expected two of four values to stay, found 4 at 0");
    refuse(mask, 0x01, "expected 204 values to stay, found others");
    refuse(mask + COUNT / 8, 0x80, "expected 204 values to stay, found others");
    refuse(1, 0x41, "expected finite scales, found"); // 0.25, 0x3e80 in bf16, becomes 0x7f80.
}

Test(delta_levels, blocks_have_the_same_levels)
{
    static const enum delta_kind kinds[] = {DELTA_24Q2, DELTA_24Q4};
    static const char *const encodings[] = {"gguf.q4_0/1", "gguf.q5_0/1"};
    enum { WIDE = 160, VALUES = 2 * WIDE, BLOCK = 32 };
    for (int k = 0; k < 2; ++k) {
        const int most = (1 << delta_levels_bits(kinds[k])) - 1;
        struct delta_form form = {
            .kind = kinds[k], .dtype = TAPML_F32, .count = VALUES, .columns = WIDE};
        float scales[] = {0.25F, 0.001F, 1e-6F, 0.5F}, values[ENCODING_BLOCK_MAX];
        int8_t levels[VALUES];
        unsigned char body[BODY], blocks[BODY];
        for (int i = 0; i < VALUES; ++i) {
            levels[i] = (int8_t)(i % 4 < 2 ? 2 * (i / 2 % (most + 1)) - most : 0);
        }
        for (int i = 0; i < 4; ++i) {
            scales[i] = delta_levels_round_scale((double)scales[i]);
        }
        delta_levels_pack(&form, scales, levels, body);
        cr_assert(delta_levels_fit_blocks(&form, body));
        delta_levels_write_blocks(&form, body, blocks);
        for (int i = 0; i < VALUES; ++i) {
            if (i % BLOCK == 0) {
                encoding_decode(encoding_find(encodings[k]), blocks, VALUES / BLOCK,
                                (uint64_t)i / BLOCK, values);
            }
            const int scale = i / WIDE * 2 + (i % WIDE >= DELTA_LEVELS_BLOCK);
            cr_assert_eq(values[i % BLOCK], scales[scale] * DELTA_LEVELS_UNIT * (float)levels[i],
                         "value %d", i);
        }
        // A scale beyond what the lowest quant has in f16, and rows of parts of blocks.
        scales[3] = 2.5F;
        delta_levels_pack(&form, scales, levels, body);
        cr_expect_not(delta_levels_fit_blocks(&form, body));
        form = form_of(kinds[k]);
        cr_expect_not(delta_levels_fit_blocks(&form, body));
    }
}
