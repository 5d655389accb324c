// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "graph/sharding_weight.h"
#include "tensor/encoding.h"

#include <criterion/criterion.h>
#include <string.h>

static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(sharding_weight, .init = begin, .fini = end);

static struct graph_value matrix(
    const void *data, uint32_t dtype, const tapml_encoding *encoding, int64_t rows, int64_t width)
{
    struct graph_value value = {.kind = GRAPH_WEIGHT,
                                .name = "w",
                                .dtype = dtype,
                                .encoding = encoding,
                                .rank = 2,
                                .data = data};
    value.shape[0] = affine_constant(rows);
    value.shape[1] = affine_constant(width);
    value.stride[0] = affine_constant(width);
    value.stride[1] = affine_constant(1);
    return value;
}

Test(sharding_weight, rows_that_lie_together_are_not_copied)
{
    const float data[4][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}};
    struct graph_value part = matrix(data, TAPML_F32, NULL, 4, 3);
    struct sharding_weight_memory memory = {.arena = arena};
    cr_assert_eq(sharding_weight_part(&part, 0, 1, 3, &memory), TAPML_OK);
    cr_expect_eq(part.data, data[1]);
    cr_expect_eq(part.data_bytes, 24);
    cr_expect_eq(memory.copied_bytes, 0);
    cr_expect(affine_is(&part.shape[0], 2));
}

Test(sharding_weight, columns_are_copied)
{
    const float data[4][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}};
    const float expected[] = {1, 2, 4, 5, 7, 8, 10, 11};
    struct graph_value part = matrix(data, TAPML_F32, NULL, 4, 3);
    struct sharding_weight_memory memory = {.arena = arena};
    cr_assert_eq(sharding_weight_part(&part, 1, 1, 3, &memory), TAPML_OK);
    cr_expect_eq(memory.copied_bytes, sizeof(expected));
    cr_expect_eq(memcmp(part.data, expected, sizeof(expected)), 0);
    cr_expect(affine_is(&part.stride[0], 2));
}

Test(sharding_weight, a_weight_without_numbers_has_a_shape)
{
    struct graph_value part = matrix(NULL, TAPML_F32, NULL, 4, 3);
    struct sharding_weight_memory memory = {.arena = arena};
    cr_assert_eq(sharding_weight_part(&part, 1, 0, 1, &memory), TAPML_OK);
    cr_expect_null(part.data);
    cr_expect_eq(part.data_bytes, 16);
}

// Parts of blocks have the values that the whole has there.
static void check_blocks(uint32_t axis, int64_t first, int64_t last)
{
    enum { ROWS = 6, WIDTH = 96 };
    const tapml_encoding *encoding = encoding_find(TAPML_ENCODING_Q8);
    const uint32_t block = encoding->block_values;
    static float values[ROWS * WIDTH];
    static unsigned char data[ROWS * WIDTH * 4] __attribute__((aligned(64)));
    struct encoding_loss loss = {0};
    struct sharding_weight_memory memory = {.arena = arena};
    for (uint32_t i = 0; i < ROWS * WIDTH; i++) {
        values[i] = (float)(i % 251) - 100;
    }
    cr_assert_eq(encoding_encode(encoding, TAPML_F32, values, ROWS * WIDTH / block, data, &loss),
                 TAPML_OK);
    struct graph_value part = matrix(data, TAPML_U8, encoding, ROWS, WIDTH);
    cr_assert_eq(sharding_weight_part(&part, axis, first, last, &memory), TAPML_OK, "%s",
                 status_message());
    const uint64_t rows = (uint64_t)part.shape[0].constant;
    const uint64_t line = (uint64_t)part.shape[1].constant / block;
    for (uint64_t i = 0; i < rows * line; i++) {
        float found[ENCODING_BLOCK_MAX], expected[ENCODING_BLOCK_MAX];
        const uint64_t row = i / line + (axis == 0 ? (uint64_t)first : 0);
        const uint64_t column = i % line + (axis == 1 ? (uint64_t)first / block : 0);
        encoding_decode(encoding, part.data, rows * line, i, found);
        encoding_decode(encoding, data, ROWS * WIDTH / block, row * (WIDTH / block) + column,
                        expected);
        cr_assert_eq(memcmp(found, expected, block * sizeof(*found)), 0);
    }
}

Test(sharding_weight, blocks_are_cut_between_blocks)
{
    check_blocks(0, 2, 5);
    check_blocks(1, 32, 96);
}
