// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/scratch.h"
#include "run/kl_divergence.h"

#include <math.h>

static struct log_softmax row_of(const float *logits)
{
    struct log_softmax row;

    cr_assert_eq(log_softmax_make(logits, 2, &row), TAPML_OK);
    return row;
}

// Of the base a half each; computed a quarter and three of them, and then the other way round.
static void fill(struct kl_divergence *divergence)
{
    const float three = (float)log(3);
    const float base[] = {0, 0}, up[] = {0, three}, down[] = {three, 0};
    const struct log_softmax half = row_of(base), first = row_of(up), second = row_of(down);

    cr_assert_eq(kl_divergence_add(divergence, &half, &first, 1), TAPML_OK);
    cr_assert_eq(kl_divergence_add(divergence, &half, &second, 1), TAPML_OK);
}

Test(kl_divergence, numbers_are_those_of_the_formulas)
{
    struct kl_divergence divergence = {.same_top = 0};

    fill(&divergence);
    const struct running_pair *surprise = &divergence.surprise;

    cr_assert_float_eq(surprise->first.mean, log(2), 1e-15);
    cr_assert_float_eq(surprise->second.mean, (log(4.0 / 3) + log(4)) / 2, 1e-7);
    cr_assert_float_eq(divergence.divergences.mean, 0.5 * log(4.0 / 3), 1e-7);
    cr_assert_float_eq(running_mean_error(&divergence.divergences), 0, 1e-7);
    // Differences 1/4 and -1/4.
    cr_assert_float_eq(divergence.differences.mean, 0, 1e-7);
    cr_assert_float_eq(running_mean_error(&divergence.differences), 0.25, 1e-7);
    cr_assert_float_eq(kl_divergence_root(&divergence), 0.25, 1e-7);
    cr_assert_float_eq(kl_divergence_root_error(&divergence), 0, 1e-7);
    // The first of equal logits is the base's likeliest token: so it is in the second alone.
    cr_assert_eq(kl_divergence_same_top(&divergence), 0.5);
    cr_assert_float_eq(kl_divergence_same_top_error(&divergence), 0.5, 1e-15);
    kl_divergence_sort(&divergence);
    cr_assert_lt(divergence.kept_differences[0], divergence.kept_differences[1]);
    kl_divergence_release(&divergence);
}

Test(kl_divergence, quantiles_lie_between_neighbours)
{
    const double sorted[] = {1, 2, 4, 8};

    cr_assert_eq(kl_divergence_quantile(sorted, 4, 0), 1);
    cr_assert_eq(kl_divergence_quantile(sorted, 4, 1), 8);
    cr_assert_eq(kl_divergence_quantile(sorted, 4, 0.5), 3);
    cr_assert_float_eq(kl_divergence_quantile(sorted, 4, 0.9), 6.8, 1e-12);
    cr_assert_eq(kl_divergence_quantile(sorted, 3, 0.5), 2);
    cr_assert_eq(kl_divergence_quantile(sorted, 1, 0.99), 1);
}

Test(kl_divergence, no_position_and_one_have_no_errors)
{
    struct kl_divergence divergence = {.same_top = 0};
    const float logits[] = {1, 2};
    const struct log_softmax row = row_of(logits);

    kl_divergence_sort(&divergence);
    cr_assert_eq(kl_divergence_same_top(&divergence), 0);
    cr_assert_eq(kl_divergence_add(&divergence, &row, &row, 0), TAPML_OK);
    cr_assert_eq(kl_divergence_same_top(&divergence), 1);
    cr_assert_eq(kl_divergence_same_top_error(&divergence), 0);
    cr_assert_eq(kl_divergence_root_error(&divergence), 0);
    kl_divergence_release(&divergence);
}

static tapml_status add_one(const struct log_softmax *row)
{
    struct kl_divergence divergence = {.same_top = 0};
    const tapml_status status = kl_divergence_add(&divergence, row, row, 0);

    kl_divergence_release(&divergence);
    return status;
}

Test(kl_divergence, memory_that_runs_out_is_a_failure)
{
    const float logits[] = {1, 2};
    const struct log_softmax row = row_of(logits);

    SCRATCH_SWEEP(add_one(&row));
}

Test(kl_divergence, an_infinite_one_is_refused)
{
    struct kl_divergence divergence = {.same_top = 0};
    const float all[] = {0, 0}, some[] = {0, -INFINITY};
    const struct log_softmax base = row_of(all), computed = row_of(some);

    cr_assert_eq(kl_divergence_add(&divergence, &base, &computed, 0), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "infinite"));
    kl_divergence_release(&divergence);
}
