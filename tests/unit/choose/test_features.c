// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "choose/features.h"
#include "harness/cases.h"

#include <criterion/criterion.h>
#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct feature_row measure(const struct carved_case *item, struct arena *arena)
{
    struct feature_row row;
    MUST(features_measure(item, arena, &row));
    return row;
}

Test(features, values_and_sizes_of_an_elementwise_op)
{
    static const float values[] = {0, 3, -4, 0x1p-140f, INFINITY, 0};
    struct arena *arena = arena_create();
    struct cases_silu made;
    cases_make_silu(&made, "layers.12/mlp/silu", 5);
    memcpy(made.x, values, sizeof(made.x));
    const struct feature_row row = measure(&made.item, arena);
    cr_expect_str_eq(row.signature, "tapml.silu/1 decode f32 f32");
    cr_expect_eq(row.values[FEATURE_layer], 12);
    cr_expect_eq(row.values[FEATURE_position], 5, "the step, where no state says more");
    cr_expect_eq(row.values[FEATURE_rows], 2);
    cr_expect_eq(row.values[FEATURE_width], 3);
    cr_expect_eq(row.values[FEATURE_height], 3);
    cr_expect_eq(row.values[FEATURE_width_4], 3);
    cr_expect_eq(row.values[FEATURE_rows_32], 2);
    cr_expect_eq(row.values[FEATURE_largest], 4);
    cr_expect_float_eq(row.values[FEATURE_rms], sqrt(5), 1e-12);
    cr_expect_float_eq(row.values[FEATURE_crest], 4 / sqrt(5), 1e-12);
    cr_expect_float_eq(row.values[FEATURE_zeros], 2.0 / 6, 1e-12);
    cr_expect_float_eq(row.values[FEATURE_subnormals], 1.0 / 6, 1e-12);
    cr_expect_float_eq(row.values[FEATURE_non_finite], 1.0 / 6, 1e-12);
    cr_expect_eq(row.values[FEATURE_bits], 32);
    cr_expect_eq(row.values[FEATURE_weight_elements], 0);
    cr_expect(isnan(row.values[FEATURE_weight_bits]));
    cr_expect_eq(row.values[FEATURE_contiguous], 0.5, "x has columns between its rows");
    cr_expect_eq(row.values[FEATURE_misalignment], made.arguments[0].offset_bytes % 16);
    cr_expect_eq(row.values[FEATURE_bytes], 48);
    arena_destroy(arena);
}

// More values than lanes, and than a sample has.
Test(features, large_contents_are_counted_whole)
{
    enum { ROWS = 3, WIDTH = 20001, COUNT = ROWS * WIDTH };
    struct arena *arena = arena_create();
    float *x = arena_array(arena, COUNT, sizeof(*x));
    struct cases_silu made;
    cases_make_silu(&made, "s", 0);
    for (int i = 0; i < COUNT; i++) {
        x[i] = i % 2 == 0 ? 1 : -1;
    }
    x[17] = 0;
    x[COUNT / 2 + 5000] = -9; // Beside the sample.
    x[COUNT - 2] = 0x1p-130f;
    x[COUNT - 1] = NAN;
    made.arguments[0].shape[0] = ROWS;
    made.arguments[0].shape[1] = WIDTH;
    made.arguments[0].before = x;
    made.arguments[0].content_bytes = COUNT * sizeof(*x);
    const struct feature_row row = measure(&made.item, arena);
    cr_expect_eq(row.values[FEATURE_largest], 9);
    cr_expect_float_eq(row.values[FEATURE_zeros], 1.0 / COUNT, 1e-12);
    cr_expect_float_eq(row.values[FEATURE_subnormals], 1.0 / COUNT, 1e-12);
    cr_expect_float_eq(row.values[FEATURE_non_finite], 1.0 / COUNT, 1e-12);
    cr_expect_float_eq(row.values[FEATURE_rms], 1, 0.01);
    cr_expect_float_eq(row.values[FEATURE_kurtosis], 1, 0.01);
    arena_destroy(arena);
}

// The fourth moment of values at both ends is 1, that of one far out is large.
Test(features, outliers_raise_the_kurtosis)
{
    struct arena *arena = arena_create();
    struct cases_silu made;
    cases_make_silu(&made, "s", 0);
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        made.x[i] = i % 2 == 0 ? 5 : 7;
    }
    cr_expect_float_eq(measure(&made.item, arena).values[FEATURE_kurtosis], 1, 1e-6);
    made.x[0] = 100;
    cr_expect_gt(measure(&made.item, arena).values[FEATURE_kurtosis], 3);
    cr_expect(isnan(measure(&made.item, arena).values[FEATURE_layer]));
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        made.x[i] = 0;
    }
    cr_expect_eq(measure(&made.item, arena).values[FEATURE_kurtosis], 1);
    cr_expect_eq(measure(&made.item, arena).values[FEATURE_crest], 1);
    arena_destroy(arena);
}

Test(features, weights_and_states_count_by_their_sizes)
{
    struct arena *arena = arena_create();
    struct cases_blocks blocks;
    struct cases_append append;
    struct cases_norm norm;
    cases_make_blocks(&blocks, "l", 0);
    struct feature_row row = measure(&blocks.item, arena);
    cr_expect_str_eq(row.signature, "tapml.linear/1 prefill f32 tapml.q4/1 - 0 f32");
    cr_expect_eq(row.values[FEATURE_weight_elements], 4 * 64);
    cr_expect_eq(row.values[FEATURE_weight_bits], 8.0 * CASES_BLOCK_BYTES / (4 * 64));
    cr_expect_eq(row.values[FEATURE_height], 4);
    cr_expect_geq(row.values[FEATURE_operations], 2 * 2 * 4 * 64);
    cases_make_norm(&norm, "n", 0);
    row = measure(&norm.item, arena);
    cr_expect_eq(row.values[FEATURE_weight_elements], 3, "its bytes are elsewhere");
    cases_make_append(&append, "a", 1);
    row = measure(&append.item, arena);
    cr_expect_eq(row.values[FEATURE_position], append.arguments[0].region_end);
    cr_expect_eq(row.values[FEATURE_rows], append.arguments[1].shape[0]);
    cr_expect(isnan(row.values[FEATURE_height]), "it has no output of its own");
    arena_destroy(arena);
}

Test(features, a_case_without_arguments_has_a_signature)
{
    struct arena *arena = arena_create();
    const struct carved_case item = {
        .instance = "a", .op_name = "x.op", .op_version = 2, .phase = "decode"};
    const struct feature_row row = measure(&item, arena);
    cr_expect_str_eq(row.signature, "x.op/2 decode");
    cr_expect(isnan(row.values[FEATURE_rms]));
    arena_destroy(arena);
}
