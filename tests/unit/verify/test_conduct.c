// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tricky_backend.h"
#include "verify/conduct.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

TestSuite(conduct, .init = tricky_begin, .fini = tricky_end, .timeout = 110);

static struct conduct_result judge_trick(enum trick trick)
{
    struct conduct_result result;
    const struct conduct_options options = trick_options(&trick);
    MUST(conduct_judge(&options, &result));
    return result;
}

Test(conduct, what_computes_from_its_inputs_is_right)
{
    struct conduct_result result = judge_trick(TRICK_NONE);
    cr_expect_eq(result.kind, CONDUCT_RIGHT, "%s: %s", conduct_kind_name(result.kind), result.why);
    cr_expect_eq(result.kept, 2u);
    cr_expect_gt(result.derived, 10u);
    cr_expect_eq(result.failed, 0u);
    cr_expect_null(result.failure);
    cr_expect_gt(result.warm_ns, 0u);
    cr_expect_gt(result.calls, 100u);
    conduct_result_release(&result);
}

Test(conduct, each_trick_has_its_name)
{
    static const struct {
        enum trick trick;
        enum conduct_kind kind;
    } tricks[] = {
        {TRICK_ZEROS, CONDUCT_WRONG},        {TRICK_DRIFTS, CONDUCT_BY_CALLS},
        {TRICK_REPEATS, CONDUCT_BY_ADDRESS}, {TRICK_ADDS, CONDUCT_OLD_MEMORY},
        {TRICK_DISTURBS, CONDUCT_INPUTS},    {TRICK_LEAVES, CONDUCT_UNWRITTEN},
        {TRICK_NARROW, CONDUCT_SHAPES},      {TRICK_TIMID, CONDUCT_VALUES},
        {TRICK_FAILS, CONDUCT_FAILS},
    };
    for (size_t i = 0; i < sizeof(tricks) / sizeof(*tricks); i++) {
        struct conduct_result result = judge_trick(tricks[i].trick);
        cr_expect_eq(result.kind, tricks[i].kind, "trick %zu is '%s': %s", i,
                     conduct_kind_name(result.kind), result.why);
        cr_expect_neq(*result.why, '\0');
        cr_assert_not_null(result.failure);
        cr_expect_not_null(strstr(result.shape, "x=["), "%s", result.shape);
        conduct_result_release(&result);
    }
}

Test(conduct, without_a_case_that_runs_nothing_is_said)
{
    execute("DELETE FROM \"case\"");
    struct conduct_result result = judge_trick(TRICK_NONE);
    cr_expect_eq(result.kind, CONDUCT_UNSUPPORTED);
    cr_expect_str_eq(result.why, "there is no case of this op");
    conduct_result_release(&result);
}

// A hang costs its deadline.
Test(conduct, what_hangs_twice_is_not_called_with_all_cases)
{
    for (int i = 2; i < 9; i++) {
        add_silu("layers.2/silu", i, 0);
    }
    struct conduct_result result = judge_trick(TRICK_HANGS);
    cr_expect_eq(result.kind, CONDUCT_NO_ANSWER, "%s: %s", conduct_kind_name(result.kind),
                 result.why);
    cr_expect_eq(result.kept, 9u);
    cr_expect_eq(result.failed, 2u);
    cr_expect_leq(result.calls, 4u);
    conduct_result_release(&result);
}

static tapml_status stop(void *user, size_t done, size_t all)
{
    return status_fail(TAPML_CANCELLED, "at %zu of %zu", done, all);
}

Test(conduct, whoever_is_told_of_a_round_may_end_it)
{
    enum trick trick = TRICK_NONE;
    struct conduct_result result;
    struct conduct_options options = trick_options(&trick);
    options.progress = stop;
    cr_expect_eq(conduct_judge(&options, &result), TAPML_CANCELLED);
    cr_expect_str_eq(status_message(), "at 1 of 10");
}
