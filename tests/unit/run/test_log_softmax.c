// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/log_softmax.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

// Probabilities 1/8, 2/8, 4/8, 1/8, whatever is added to all.
static struct log_softmax make(float *logits, float added)
{
    struct log_softmax row;

    for (int i = 0; i < 4; i++) {
        logits[i] = (float)log((const double[]){1, 2, 4, 1}[i]) + added;
    }
    cr_assert_eq(log_softmax_make(logits, 4, &row), TAPML_OK);
    return row;
}

Test(log_softmax, probabilities_do_not_depend_on_what_is_added)
{
    for (int i = 0; i < 3; i++) {
        float logits[4];
        const struct log_softmax row = make(logits, (const float[]){0, 1000, -1000}[i]);

        cr_assert_eq(row.top, 2);
        cr_assert_float_eq(log_softmax_at(&row, 0), log(1.0 / 8), 1e-4);
        cr_assert_float_eq(log_softmax_at(&row, 2), log(4.0 / 8), 1e-4);
    }
}

Test(log_softmax, the_first_of_equal_logits_is_the_top)
{
    const float logits[] = {1, 3, 3, 2};
    struct log_softmax row;

    cr_assert_eq(log_softmax_make(logits, 4, &row), TAPML_OK);
    cr_assert_eq(row.top, 1);
}

Test(log_softmax, the_divergence_is_that_of_the_formula)
{
    const float half[] = {0, 0}, quarter[] = {0, (float)log(3)};
    struct log_softmax base, computed;

    cr_assert_eq(log_softmax_make(half, 2, &base), TAPML_OK);
    cr_assert_eq(log_softmax_make(quarter, 2, &computed), TAPML_OK);
    // 1/2 log (1/2 / 1/4) + 1/2 log (1/2 / 3/4), and the other way round.
    cr_assert_float_eq(log_softmax_divergence(&base, &computed), 0.5 * log(4.0 / 3), 1e-7);
    cr_assert_float_eq(log_softmax_divergence(&computed, &base), 0.25 * log(0.5) + 0.75 * log(1.5),
                       1e-7);
    cr_assert_eq(log_softmax_divergence(&base, &base), 0);
}

Test(log_softmax, what_is_impossible_counts_only_where_it_is_possible_in_the_base)
{
    const float some[] = {0, -INFINITY}, all[] = {0, 0};
    struct log_softmax one, both;

    cr_assert_eq(log_softmax_make(some, 2, &one), TAPML_OK);
    cr_assert_eq(log_softmax_make(all, 2, &both), TAPML_OK);
    cr_assert_eq(log_softmax_at(&one, 1), -INFINITY);
    cr_assert_float_eq(log_softmax_divergence(&one, &both), log(2), 1e-15);
    cr_assert_eq(log_softmax_divergence(&both, &one), INFINITY);
}

static void refused(float first, float second, const char *piece)
{
    const float logits[] = {first, second};
    struct log_softmax row;

    cr_assert_eq(log_softmax_make(logits, 2, &row), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
}

Test(log_softmax, logits_that_are_no_numbers_are_refused)
{
    refused(0, NAN, "logit 1 is NaN");
    refused(INFINITY, 0, "logit 0 is infinite");
    refused(-INFINITY, -INFINITY, "all 2 logits are -infinity");
}
