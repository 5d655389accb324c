// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "verify/invariance_trial.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena *arena;
static struct invariance_trial trial;
static const struct carved_case item = {.instance = "layers.0/silu", .shape_class = "x=[2]"};

static void begin(void)
{
    arena = arena_create();
    trial = (struct invariance_trial){.texts = arena, .finding = invariance_trial_none()};
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(invariance_trial, .init = begin, .fini = end);

static void note(enum verdict_kind kind, int is_equal, uint64_t size, double margin)
{
    const struct invariance_run run = {
        .item = &item, .kind = kind, .margin = margin, .reason = "a sentence"};
    cr_assert_eq(invariance_trial_note(&trial, &run, is_equal, size), TAPML_OK);
}

Test(invariance_trial, equal_bits_have_no_size)
{
    note(VERDICT_PASS, 1, 4, 0.5);
    cr_expect_eq(trial.finding.kind, INVARIANCE_EQUAL);
    cr_expect_eq(trial.finding.size, 0u);
    cr_expect_eq(trial.finding.tried, 1u);
    cr_expect_eq(trial.finding.margin, 0.5);
    cr_expect_str_eq(trial.finding.instance, "");
}

Test(invariance_trial, what_is_worse_counts_and_of_it_the_smallest)
{
    note(VERDICT_PASS, 0, 9, 0.25);
    note(VERDICT_PASS, 0, 4, 0.5);
    cr_expect_eq(trial.finding.kind, INVARIANCE_WITHIN);
    cr_expect_eq(trial.finding.size, 4u);
    cr_expect_str_eq(trial.finding.reason, "");
    note(VERDICT_FAIL, 0, 8, 3);
    note(VERDICT_PASS, 0, 2, 0.5);
    note(VERDICT_ERROR, 0, 6, NAN);
    cr_expect_eq(trial.finding.kind, INVARIANCE_WRONG);
    cr_expect_eq(trial.finding.size, 6u);
    cr_expect_eq(trial.finding.margin, 3);
    cr_expect_eq(trial.finding.tried, 5u);
    cr_expect_str_eq(trial.finding.instance, "layers.0/silu");
    cr_expect_str_eq(trial.finding.reason, "a sentence");
}

// Bits that are the same are no excuse.
Test(invariance_trial, what_fails_is_wrong_whatever_its_bits)
{
    note(VERDICT_FAIL, 1, 1, 2);
    cr_expect_eq(trial.finding.kind, INVARIANCE_WRONG);
}

Test(invariance_trial, what_was_not_run_is_a_reason_unless_something_was)
{
    note(VERDICT_UNSUPPORTED, 0, 5, NAN);
    cr_expect_eq(trial.finding.kind, INVARIANCE_UNTRIED);
    cr_expect_eq(trial.finding.tried, 0u);
    cr_expect_str_eq(trial.finding.reason, "a sentence");
    cr_assert_eq(invariance_trial_skip(&trial, "another"), TAPML_OK);
    cr_expect_str_eq(trial.finding.reason, "a sentence", "the first one stays");
    note(VERDICT_PASS, 1, 5, 0.1);
    cr_expect_str_eq(trial.finding.reason, "");
    cr_assert_eq(invariance_trial_skip(&trial, "another"), TAPML_OK);
    cr_expect_str_eq(trial.finding.reason, "");
}

Test(invariance_trial, each_kind_has_a_name)
{
    for (int i = INVARIANCE_UNTRIED; i <= INVARIANCE_WRONG; i++) {
        cr_expect_neq(*invariance_trial_kind_name((enum invariance_kind)i), '\0');
    }
}
