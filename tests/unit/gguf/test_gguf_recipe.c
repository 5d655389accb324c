// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "gguf/gguf_recipe.h"
#include "harness/gguf_maker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct scratch scratch;
static struct gguf_maker maker;

static void setup(void)
{
    scratch_make(&scratch);
    gguf_maker_begin(&maker);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(gguf_recipe, .init = setup, .fini = teardown);

static struct gguf *make(void)
{
    struct gguf *gguf = NULL;
    gguf_maker_tensor(&maker, "a", 8, 2);
    gguf_maker_tensor(&maker, "b", 4, 2);
    gguf_maker_tensor(&maker, "c", 1, 4);
    cr_assert_eq(gguf_open(gguf_maker_write(&maker, &scratch, "x.gguf"), &gguf), TAPML_OK);
    return gguf;
}

static struct gguf_recipe all_of(const struct gguf *gguf, const char *name, uint64_t rows)
{
    return (struct gguf_recipe){
        .sources = {{.tensor = gguf_tensor_find(gguf, name), .count = rows}},
        .source_count = 1,
        .groups = 1,
    };
}

Test(gguf_recipe, rows_alone_stay_where_they_are)
{
    struct gguf *gguf = make();
    struct gguf_recipe recipe = all_of(gguf, "a", 8);
    cr_assert_eq(gguf_recipe_check(&recipe, "x"), TAPML_OK);
    cr_assert_eq(gguf_recipe_bytes(&recipe), 64);
    cr_assert_eq(gguf_recipe_mapped(&recipe), recipe.sources[0].tensor->data);
    recipe.sources[0].first = 3;
    recipe.sources[0].count = 2;
    cr_assert_eq(gguf_recipe_bytes(&recipe), 16);
    cr_assert_eq(gguf_recipe_mapped(&recipe), recipe.sources[0].tensor->data + 24);
    gguf_close(gguf);
}

Test(gguf_recipe, the_shape_has_what_the_sources_have)
{
    struct gguf *gguf = make();
    struct gguf_recipe recipe = all_of(gguf, "a", 8);
    recipe.rank = 2;
    recipe.shape[0] = 8;
    recipe.shape[1] = 2;
    cr_assert_eq(gguf_recipe_check_shape(&recipe, "x"), TAPML_OK);
    recipe.shape[0] = 0;
    cr_assert_eq(gguf_recipe_check_shape(&recipe, "x"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "expected 0 values, found 16"), "%s",
                       status_message());
    gguf_close(gguf);
}

static void expect_made(const struct gguf_recipe *recipe, const float *expected, size_t count)
{
    float made[64] = {0};
    cr_assert_eq(gguf_recipe_check(recipe, "x"), TAPML_OK, "%s", status_message());
    cr_assert_eq(gguf_recipe_bytes(recipe), count * sizeof(float));
    cr_assert_null(gguf_recipe_mapped(recipe));
    cr_assert_eq(gguf_recipe_make(recipe, made), TAPML_OK);
    for (size_t i = 0; i < count; ++i) {
        cr_assert_float_eq(made[i], expected[i], 1e-6, "value %zu is %g", i, (double)made[i]);
    }
}

Test(gguf_recipe, pairs_are_taken_apart)
{
    struct gguf *gguf = make();
    struct gguf_recipe recipe = all_of(gguf, "a", 8);
    recipe.sources[0].rotary_heads = 2;
    expect_made(&recipe, (const float[]){0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}, 16);
    gguf_close(gguf);
}

Test(gguf_recipe, groups_are_put_together)
{
    struct gguf *gguf = make();
    struct gguf_recipe recipe = all_of(gguf, "a", 8);
    recipe.sources[1] =
        (struct gguf_recipe_source){.tensor = gguf_tensor_find(gguf, "b"), .count = 4};
    recipe.source_count = 2;
    recipe.groups = 4;
    expect_made(&recipe, (const float[]){0, 1, 2,  3,  0, 1, 4,  5,  6,  7,  2, 3,
                                         8, 9, 10, 11, 4, 5, 12, 13, 14, 15, 6, 7},
                24);
    gguf_close(gguf);
}

Test(gguf_recipe, matrices_are_transposed)
{
    struct gguf *gguf = make();
    struct gguf_recipe recipe = all_of(gguf, "b", 2);
    recipe.sources[0].is_transposed = 1;
    expect_made(&recipe, (const float[]){0, 2, 4, 6, 1, 3, 5, 7}, 8);
    gguf_close(gguf);
}

Test(gguf_recipe, values_alternate)
{
    struct gguf *gguf = make();
    struct gguf_recipe recipe = all_of(gguf, "b", 8);
    recipe.sources[0].is_flat = 1;
    recipe.sources[1] = recipe.sources[0];
    recipe.source_count = 2;
    recipe.groups = 8;
    expect_made(&recipe, (const float[]){0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}, 16);
    gguf_close(gguf);
}

Test(gguf_recipe, values_are_changed)
{
    struct gguf *gguf = make();
    struct gguf_recipe recipe = all_of(gguf, "c", 4);
    recipe.change = GGUF_RECIPE_ADD;
    recipe.number = -1;
    expect_made(&recipe, (const float[]){-1, 0, 1, 2}, 4);
    recipe.change = GGUF_RECIPE_LOG_NEGATIVE;
    float made[4];
    cr_assert_eq(gguf_recipe_make(&recipe, made), TAPML_OK);
    cr_assert(isinf(made[0]) && isnan(made[1]), "these are not below 0");
    recipe.change = GGUF_RECIPE_FILL;
    recipe.number = 3;
    recipe.sources[0].count = 1;
    expect_made(&recipe, (const float[]){3}, 1);
    gguf_close(gguf);
}

// Two rows of 32 values in blocks: 0, 1, 2 ... and 1, 2, 3 ..., beside rows of F32.
static struct gguf *make_blocks(void)
{
    struct gguf *gguf = NULL;
    const uint64_t shape[] = {32, 2};
    gguf_maker_entry(&maker, "d", shape, 2, 8, 0);
    for (int row = 0; row < 2; ++row) {
        gguf_maker_number(&maker.data, 0x3c00, 2); // The scale, 1 in F16.
        for (int i = 0; i < 32; ++i) {
            gguf_maker_number(&maker.data, (uint64_t)(row + i), 1);
        }
    }
    while (maker.data.length % 32 != 0) {
        gguf_maker_number(&maker.data, 0, 1);
    }
    gguf_maker_tensor(&maker, "e", 2, 32);
    cr_assert_eq(gguf_open(gguf_maker_write(&maker, &scratch, "x.gguf"), &gguf), TAPML_OK, "%s",
                 status_message());
    return gguf;
}

Test(gguf_recipe, single_values_of_blocks_are_decoded)
{
    float expected[96];
    struct gguf *gguf = make_blocks();
    struct gguf_recipe recipe = all_of(gguf, "d", 2);
    cr_assert_eq(gguf_recipe_type(&recipe)->number, 8);
    cr_assert_not_null(gguf_recipe_mapped(&recipe));
    recipe.sources[0].is_transposed = 1;
    recipe.sources[0].first = 1;
    recipe.sources[0].count = 8;
    for (int i = 0; i < 16; ++i) {
        expected[i] = (float)(1 + i / 2 + i % 2);
    }
    expect_made(&recipe, expected, 16);
    recipe = all_of(gguf, "d", 1);
    recipe.sources[0].first = 1;
    recipe.sources[1] =
        (struct gguf_recipe_source){.tensor = gguf_tensor_find(gguf, "e"), .count = 1};
    recipe.source_count = 2;
    for (int i = 0; i < 32; ++i) {
        expected[i] = (float)(i + 1);
        expected[32 + i] = (float)i;
    }
    cr_assert_eq(gguf_recipe_type(&recipe)->number, GGUF_TYPE_F32);
    expect_made(&recipe, expected, 64);
    gguf_close(gguf);
}

Test(gguf_recipe, what_does_not_fit_is_refused)
{
    struct gguf *gguf = make();
    struct gguf_recipe recipe = all_of(gguf, "a", 8);
    recipe.groups = 3;
    cr_assert_eq(gguf_recipe_check(&recipe, "x"), TAPML_INVALID);
    recipe.groups = 1;
    recipe.sources[0].rotary_heads = 3;
    cr_assert_eq(gguf_recipe_check(&recipe, "x"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'a'"), "%s", status_message());
    recipe.sources[0].rotary_heads = 0;
    recipe.sources[1] =
        (struct gguf_recipe_source){.tensor = gguf_tensor_find(gguf, "c"), .count = 4};
    recipe.source_count = 2;
    cr_assert_eq(gguf_recipe_check(&recipe, "x"), TAPML_INVALID, "rows of 2 and 1");
    gguf_close(gguf);
}
