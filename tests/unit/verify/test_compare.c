// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "verify/compare.h"

#include <tapml/tensor.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct compare_result
compare(const float *expected, const float *computed, size_t rows, size_t width)
{
    return compare_tensors(TAPML_F32, expected, computed, rows, width);
}

Test(compare, equal_bits)
{
    const float values[] = {1, NAN, -INFINITY, 0, -0.0f, 1e-40f};
    const struct compare_result result = compare(values, values, 2, 3);
    cr_assert(result.is_equal_bits);
    cr_assert_eq(result.nmse, 0);
    cr_assert_eq(result.ulp, 0);
    cr_assert_eq(result.row_error, 0);
    cr_assert_eq(result.mismatched_non_finite, 0);
}

Test(compare, nothing_is_equal)
{
    cr_assert(compare(NULL, NULL, 0, 5).is_equal_bits);
    cr_assert(compare(NULL, NULL, 5, 0).is_equal_bits);
}

Test(compare, nmse_by_hand)
{
    const float expected[] = {3, 4, 0, 0};
    const float computed[] = {3, 4.5f, 0, 0.5f};
    const struct compare_result result = compare(expected, computed, 2, 2);
    cr_assert_not(result.is_equal_bits);
    cr_assert_float_eq(result.nmse, 0.5 / 25, 1e-15);
    cr_assert_eq(result.worst_index, 1);
    cr_assert_eq(result.worst_expected, 4);
    cr_assert_eq(result.worst_computed, 4.5);
}

Test(compare, cosine_by_hand)
{
    const float expected[] = {3, 4}, other[] = {4, 3}, longer[] = {6, 8}, zeros[] = {0, -0.0f};
    const float turned[] = {-3, -4}, nothing[] = {0, 0}, large[] = {3e38f, 3e38f};
    const float partly[] = {3, NAN}, finite[] = {-6, 1};
    cr_assert_float_eq(compare(expected, other, 1, 2).cosine, 24.0 / 25, 1e-15);
    cr_assert_eq(compare(expected, expected, 1, 2).cosine, 1);
    cr_assert_float_eq(compare(expected, longer, 1, 2).cosine, 1, 1e-15);
    cr_assert_leq(compare(expected, longer, 1, 2).cosine, 1);
    cr_assert_float_eq(compare(expected, turned, 1, 2).cosine, -1, 1e-15);
    cr_assert_eq(compare(expected, zeros, 1, 2).cosine, 0);
    cr_assert_eq(compare(nothing, zeros, 1, 2).cosine, 1);
    cr_assert_float_eq(compare(expected, large, 1, 2).cosine, 7 / (5 * sqrt(2)), 1e-12);
    cr_assert_eq(compare(partly, finite, 1, 2).cosine, -1,
                 "pairs that are not finite are left out");
}

Test(compare, row_error_is_relative_to_the_row)
{
    const float expected[] = {100, 100, 1, 1};
    const float computed[] = {100, 100.5f, 1, 1.25f};
    const struct compare_result result = compare(expected, computed, 2, 2);
    cr_assert_float_eq(result.row_error, 0.25, 1e-12, "the second row is the worse one");
    cr_assert_eq(result.worst_index, 1, "the worst element is the farthest one");
}

Test(compare, a_value_that_stands_out_counts_at_its_own_size)
{
    enum { WIDTH = 1024 };
    float expected[WIDTH] = {0};
    float computed[WIDTH] = {0};
    expected[7] = 1000;
    computed[7] = nextafterf(1000, 2000);
    const double ulp = (double)computed[7] - 1000;
    const struct compare_result result = compare(expected, computed, 1, WIDTH);
    // rms is 31.
    cr_assert_float_eq(result.row_error, ulp / 1000, 1e-12);
    cr_assert_lt(result.row_error, compare_floor(COMPARE_REDUCTION).row_error);
}

Test(compare, a_row_that_is_nothing_beside_the_others)
{
    const float expected[] = {1, 1, 0, 0};
    const float computed[] = {1, 1, 1e-7f, 0};
    const struct compare_result result = compare(expected, computed, 2, 2);
    cr_assert_float_eq(result.row_error, 1e-7 / (1e-3 * sqrt(0.5)), 1e-8);
}

Test(compare, zeros_against_something)
{
    const float zeros[] = {0, 0};
    const float small[] = {0, 1e-20f};
    const struct compare_result result = compare(zeros, small, 1, 2);
    cr_assert(isinf(result.nmse));
    cr_assert(isinf(result.row_error));
    const struct compare_limit limit = compare_floor(COMPARE_REDUCTION);
    cr_assert(isinf(compare_margin(&result, &limit)));
}

Test(compare, subnormals_may_be_flushed)
{
    const float expected[] = {1e-40f, 1, 0x1p-126f};
    const float computed[] = {0, 1, 0};
    const struct compare_result result = compare(expected, computed, 1, 3);
    cr_assert_not(result.is_equal_bits);
    cr_assert_eq(result.ulp, 0);
    cr_assert_eq(result.nmse, 0);
    cr_assert_eq(result.row_error, 0);
    cr_assert_eq(result.worst_index, 0, "the first element whose bits differ");
}

Test(compare, ulp_counts_from_number_to_number)
{
    const float expected[] = {1, -1, 0x1p-100f};
    float computed[] = {nextafterf(nextafterf(1, 2), 2), -1, 0x1p-100f};
    cr_assert_eq(compare(expected, computed, 1, 3).ulp, 2);
    computed[0] = 1;
    computed[1] = nextafterf(-1, 0);
    cr_assert_eq(compare(expected, computed, 1, 3).ulp, 1);
    computed[1] = -1;
    computed[2] = -0x1p-100f; // Across zero: far.
    cr_assert_gt(compare(expected, computed, 1, 3).ulp, 1e8);
}

Test(compare, negative_zero_is_not_equal_and_no_distance)
{
    const float expected[] = {5, 0.0f};
    const float computed[] = {5, -0.0f};
    const struct compare_result result = compare(expected, computed, 1, 2);
    const struct compare_limit exact = compare_floor(COMPARE_EXACT);
    const struct compare_limit elementwise = compare_floor(COMPARE_ELEMENTWISE);
    cr_assert_not(result.is_equal_bits);
    cr_assert_eq(result.ulp, 0);
    cr_assert_eq(result.worst_index, 1);
    cr_assert(isinf(compare_margin(&result, &exact)));
    cr_assert_eq(compare_margin(&result, &elementwise), 0);
}

Test(compare, non_finite_values_must_match)
{
    const float expected[] = {NAN, INFINITY, 1, 1, -INFINITY};
    const float same[] = {NAN, INFINITY, 1, 1.5f, -INFINITY};
    const float other[] = {NAN, -INFINITY, NAN, 1, -INFINITY};
    struct compare_result result = compare(expected, same, 1, 5);
    cr_assert_eq(result.mismatched_non_finite, 0);
    cr_assert_eq(result.worst_index, 3);
    cr_assert_float_eq(result.nmse, 0.125, 1e-12);
    result = compare(expected, other, 1, 5);
    cr_assert_eq(result.mismatched_non_finite, 2);
    cr_assert_eq(result.worst_index, 1);
    const struct compare_limit limit = compare_floor(COMPARE_REDUCTION);
    cr_assert(isinf(compare_margin(&result, &limit)));
}

Test(compare, payloads_of_nan_are_no_difference)
{
    const uint32_t quiet = 0x7fc00001;
    float expected = NAN;
    float computed = 0;
    memcpy(&computed, &quiet, sizeof(quiet));
    const struct compare_result result = compare(&expected, &computed, 1, 1);
    cr_assert_eq(result.mismatched_non_finite, 0);
    const struct compare_limit limit = compare_floor(COMPARE_ELEMENTWISE);
    cr_assert_eq(compare_margin(&result, &limit), 0);
}

Test(compare, integers_and_halves)
{
    const int32_t expected[] = {1, -7};
    const int32_t computed[] = {1, -6};
    struct compare_result result = compare_tensors(TAPML_I32, expected, computed, 1, 2);
    cr_assert_eq(result.worst_index, 1);
    cr_assert_eq(result.worst_expected, -7);
    cr_assert_eq(result.worst_computed, -6);
    const uint16_t one[] = {0x3c00};
    const uint16_t more[] = {0x3c01};
    result = compare_tensors(TAPML_F16, one, more, 1, 1);
    cr_assert_float_eq(result.nmse, 0x1p-20, 1e-12);
}

Test(compare, many_rows_and_long_rows)
{
    enum { ROWS = 7, WIDTH = 1000 };
    static float expected[ROWS * WIDTH];
    static float computed[ROWS * WIDTH];
    struct random random;
    random_init(&random, 3);
    double error = 0;
    double square = 0;
    for (int i = 0; i < ROWS * WIDTH; i++) {
        expected[i] = (float)random_between(&random, -2, 2);
        computed[i] = expected[i] + (float)random_between(&random, -1e-3, 1e-3);
        error += pow((double)computed[i] - expected[i], 2);
        square += pow(expected[i], 2);
    }
    const struct compare_result result = compare(expected, computed, ROWS, WIDTH);
    cr_assert_float_eq(result.nmse / (error / square), 1, 1e-9);
    cr_assert_gt(result.row_error, 5e-4);
    cr_assert_lt(result.row_error, 2e-3);
}

// Two honest orders of a sum in f32, far apart in ULP, are within what calibration allows: the
// floor itself is tight, and a spread of this size widens it enough.
Test(compare, honest_orders_of_summation)
{
    enum { ROWS = 64, TERMS = 352 };
    float forward[ROWS];
    float backward[ROWS];
    float exact[ROWS];
    struct random random;
    random_init(&random, 1);
    for (int row = 0; row < ROWS; row++) {
        float terms[TERMS];
        double sum = 0;
        forward[row] = backward[row] = 0;
        for (int i = 0; i < TERMS; i++) {
            terms[i] = (float)random_between(&random, -1, 1);
            sum += terms[i];
        }
        for (int i = 0; i < TERMS; i++) {
            forward[row] += terms[i];
            backward[row] += terms[TERMS - 1 - i];
        }
        exact[row] = (float)sum;
    }
    const struct compare_result spread = compare(exact, forward, 1, ROWS);
    const struct compare_result observed = compare(forward, backward, 1, ROWS);
    struct compare_limit limit = compare_floor(COMPARE_REDUCTION);
    compare_widen(&limit, &spread, 8);
    cr_assert_leq(compare_margin(&observed, &limit), 1);
    cr_assert_lt(limit.nmse, 1e-10);
    cr_assert_gt(compare(exact, backward, 1, ROWS).ulp, 16, "ULP says nothing of sums");
}

// The factor is one of errors, whatever measures them.
Test(compare, widening_squares_the_factor_of_nmse)
{
    const struct compare_result spread = {.ulp = 3, .nmse = 1e-12, .row_error = 1e-6};
    struct compare_limit limit = compare_floor(COMPARE_REDUCTION);
    compare_widen(&limit, &spread, 8);
    cr_assert_float_eq(limit.nmse, 64e-12, 1e-24);
    cr_assert_float_eq(limit.row_error, 8e-6, 1e-18);
    limit = compare_floor(COMPARE_ELEMENTWISE);
    compare_widen(&limit, &spread, 8);
    cr_assert_eq(limit.ulp, 24);
}

Test(compare, classes)
{
    enum compare_class found = COMPARE_EXACT;
    cr_assert_eq(compare_class_of("reduction", &found), TAPML_OK);
    cr_assert_eq(found, COMPARE_REDUCTION);
    cr_assert_eq(compare_class_of("elementwise", &found), TAPML_OK);
    cr_assert_eq(found, COMPARE_ELEMENTWISE);
    cr_assert_eq(compare_class_of("exact", &found), TAPML_OK);
    cr_assert_eq(found, COMPARE_EXACT);
    cr_assert_eq(compare_class_of("sloppy", &found), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'sloppy'"));
}

Test(compare, margin_is_observed_over_limit)
{
    const struct compare_limit elementwise = compare_floor(COMPARE_ELEMENTWISE);
    const struct compare_limit reduction = compare_floor(COMPARE_REDUCTION);
    const struct compare_limit exact = compare_floor(COMPARE_EXACT);
    struct compare_result result = {.ulp = 8, .nmse = 1e-11, .row_error = 5e-7};
    cr_assert_float_eq(compare_margin(&result, &elementwise), 0.5, 1e-12);
    cr_assert_float_eq(compare_margin(&result, &reduction), 10, 1e-9);
    cr_assert(isinf(compare_margin(&result, &exact)));
    result.row_error = 2e-5;
    cr_assert_float_eq(compare_margin(&result, &reduction), 20, 1e-9);
    result.is_equal_bits = 1;
    cr_assert_eq(compare_margin(&result, &exact), 0);
}

Test(compare, widening)
{
    const struct compare_result spread = {.ulp = 10, .nmse = 1e-12, .row_error = INFINITY};
    struct compare_limit limit = compare_floor(COMPARE_ELEMENTWISE);
    compare_widen(&limit, &spread, 8);
    cr_assert_eq(limit.ulp, 80);
    cr_assert_eq(limit.nmse, 0);
    limit = compare_floor(COMPARE_REDUCTION);
    compare_widen(&limit, &spread, 8);
    cr_assert_float_eq(limit.nmse, 64e-12, 1e-18);
    cr_assert_eq(limit.row_error, 1e-6, "infinite distances widen nothing");
    compare_widen(&limit, &spread, 0.001);
    cr_assert_float_eq(limit.nmse, 64e-12, 1e-18, "limits never narrow");
    limit = compare_floor(COMPARE_EXACT);
    compare_widen(&limit, &spread, 8);
    cr_assert_eq(limit.ulp, 0);
}

Test(compare, explains_the_measure_of_the_margin)
{
    struct compare_result result = {.ulp = 80, .nmse = 3e-2, .row_error = 1e-6};
    const struct compare_limit limits[] = {compare_floor(COMPARE_EXACT),
                                           compare_floor(COMPARE_ELEMENTWISE),
                                           compare_floor(COMPARE_REDUCTION)};
    char text[80];
    compare_explain(&result, &limits[0], text, sizeof(text));
    cr_assert_str_eq(text, "bits must be equal");
    compare_explain(&result, &limits[1], text, sizeof(text));
    cr_assert_str_eq(text, "80 ULP, limit 16");
    compare_explain(&result, &limits[2], text, sizeof(text));
    cr_assert_str_eq(text, "NMSE 0.03, limit 1e-12");
    result.nmse = 0;
    compare_explain(&result, &limits[2], text, sizeof(text));
    cr_assert_str_eq(text, "row error 1e-06, limit 1e-06");
    result.mismatched_non_finite = 2;
    compare_explain(&result, &limits[2], text, sizeof(text));
    cr_assert_str_eq(text, "2 values are NaN or infinite on one side");
}

Test(compare, floors_in_f16_hold_its_roundings_and_no_fault)
{
    const float expected[] = {1, -2, 3, 0.25f};
    const float honest[] = {1.001f, -2.001f, 3.002f, 0.25f};
    const float scaled[] = {1.03f, -2.06f, 3.09f, 0.2575f};
    const struct compare_limit limit = compare_floor_in(COMPARE_ELEMENTWISE, ACTIVATION_F16);
    cr_assert_eq(limit.class_, COMPARE_REDUCTION);
    struct compare_result result = compare_tensors(TAPML_F32, expected, honest, 1, 4);
    cr_expect_leq(compare_margin(&result, &limit), 1);
    result = compare_tensors(TAPML_F32, expected, scaled, 1, 4);
    cr_expect_gt(compare_margin(&result, &limit), 1);
    cr_expect_eq(compare_floor_in(COMPARE_EXACT, ACTIVATION_F16).class_, COMPARE_EXACT);
}
