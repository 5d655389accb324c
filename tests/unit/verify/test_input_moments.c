// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/cases.h"
#include "harness/open_store.h"
#include "store/stored_case.h"
#include "verify/input_moments.h"

#include <math.h>

enum { WIDTH = CASES_BLOCK_WIDTH };

TestSuite(input_moments, .init = open_store_begin, .fini = open_store_end);

static struct input_moments *open_moments(void)
{
    struct input_moments *moments = NULL;

    MUST(input_moments_open(scratch_path(&scratch, "a.tapmlrun"), &moments));
    return moments;
}

Test(input_moments, all_rows_of_all_cases_of_a_weight_count)
{
    struct cases_blocks first, second;
    struct cases_norm norm;
    double *found = NULL;

    cases_make_blocks(&first, "a", 0);
    cases_make_blocks(&second, "a", 1);
    cases_make_norm(&norm, "norm", 0);
    for (int i = 0; i < CASES_ROWS * WIDTH; i++) {
        second.x[i] = (float)(i % 7) - 3;
    }
    MUST(stored_case_add(store, &first.item));
    MUST(stored_case_add(store, &second.item));
    MUST(stored_case_add(store, &norm.item));
    struct input_moments *moments = open_moments();

    MUST(input_moments_find(moments, "w.weight", WIDTH, &found));
    cr_assert_not_null(found);
    for (int i = 0; i < WIDTH; i++) {
        for (int k = 0; k < WIDTH; k++) {
            double expected = 0;

            for (int row = 0; row < CASES_ROWS; row++) {
                expected += (double)first.x[row * WIDTH + i] * first.x[row * WIDTH + k];
                expected += (double)second.x[row * WIDTH + i] * second.x[row * WIDTH + k];
            }
            cr_assert_float_eq(found[i * WIDTH + k], expected, 1e-9 * (1 + fabs(expected)));
        }
    }
    alloc_free(found);
    input_moments_close(moments);
}

Test(input_moments, what_is_no_product_of_the_weight_counts_for_nothing)
{
    struct cases_blocks turned, wide;
    struct cases_norm norm;
    double *found = NULL;

    cases_make_blocks(&turned, "a", 0);
    cases_make_norm(&norm, "norm", 0);
    turned.arguments[3].i = 1; // [in, out], which the two shapes do not show.
    MUST(stored_case_add(store, &turned.item));
    MUST(stored_case_add(store, &norm.item));
    cases_make_blocks(&wide, "b", 0);
    wide.arguments[1].origin = "wide";
    MUST(stored_case_add(store, &wide.item));
    struct input_moments *moments = open_moments();

    MUST(input_moments_find(moments, "w.weight", WIDTH, &found));
    cr_assert_null(found);
    MUST(input_moments_find(moments, "norm.weight", CASES_WIDTH, &found));
    cr_assert_null(found);
    MUST(input_moments_find(moments, "none", WIDTH, &found));
    cr_assert_null(found);
    MUST(input_moments_find(moments, "wide", WIDTH / 2, &found));
    cr_assert_null(found);
    MUST(input_moments_find(moments, "none", UINT64_C(1) << 40, &found)); // Nothing is made for it.
    cr_assert_null(found);
    input_moments_close(moments);
}

Test(input_moments, a_store_that_is_none_is_refused)
{
    struct input_moments *moments = NULL;

    cr_assert_eq(input_moments_open(scratch_path(&scratch, "b.tapmlrun"), &moments),
                 TAPML_NOT_FOUND);
    input_moments_close(NULL);
}
