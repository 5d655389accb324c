// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/judgement.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct output_error EXACT = {
    .param = "a", .class_ = "exact", .is_equal = 1, .margin = NAN};
static const struct output_error SUM = {.param = "b",
                                        .class_ = "reduction",
                                        .nmse = 4e-12,
                                        .row_error = 3e-6,
                                        .place = "3, 17",
                                        .expected = 1,
                                        .computed = 2,
                                        .margin = NAN};
static const struct compare_limit LIMITS[] = {
    {.class_ = COMPARE_EXACT}, {.class_ = COMPARE_REDUCTION, .nmse = 8e-12, .row_error = 4e-6}};

static void expect(const struct output_error *errors,
                   const struct compare_limit *limits,
                   enum verdict_kind kind,
                   double margin,
                   size_t worst)
{
    const struct judgement judgement = judgement_make(errors, limits, 2);
    cr_expect_eq(judgement.kind, kind);
    cr_expect_eq(judgement.margin, margin, "%g", judgement.margin);
    cr_expect_eq(judgement.worst, worst);
}

Test(judgement, the_worst_output_and_measure_count)
{
    struct output_error errors[] = {EXACT, SUM};
    expect(errors, LIMITS, VERDICT_PASS, 0.75, 1);
    errors[1].nmse = 16e-12;
    expect(errors, LIMITS, VERDICT_FAIL, 2, 1);
    errors[0].is_equal = 0;
    expect(errors, LIMITS, VERDICT_FAIL, (double)INFINITY, 0);
}

Test(judgement, another_limit_is_another_verdict_on_the_same_errors)
{
    const struct output_error errors[] = {EXACT, SUM};
    struct compare_limit limits[] = {LIMITS[0], LIMITS[1]};
    limits[1].row_error = 1.5e-6;
    expect(errors, limits, VERDICT_FAIL, 2, 1);
    limits[1].row_error = 6e-6;
    limits[1].nmse = 8e-12;
    expect(errors, limits, VERDICT_PASS, 0.5, 1);
}

Test(judgement, what_no_limit_allows_is_infinite)
{
    struct output_error errors[] = {EXACT, SUM};
    errors[1].non_finite = 1;
    expect(errors, LIMITS, VERDICT_FAIL, (double)INFINITY, 1);
    errors[1] = SUM;
    errors[1].is_outside = 1;
    expect(errors, LIMITS, VERDICT_FAIL, (double)INFINITY, 1);
}

Test(judgement, all_right_is_the_first_output)
{
    const struct output_error errors[] = {EXACT, EXACT};
    const struct compare_limit limits[] = {LIMITS[0], LIMITS[0]};
    expect(errors, limits, VERDICT_PASS, 0, 0);
}

Test(judgement, an_output_without_errors_has_its_margin)
{
    struct output_error errors[] = {EXACT, {.param = "b", .class_ = "", .margin = 7}};
    expect(errors, LIMITS, VERDICT_FAIL, 7, 1);
    errors[1].margin = 1;
    expect(errors, LIMITS, VERDICT_PASS, 1, 1);
}

Test(judgement, what_is_no_number_passes_nothing)
{
    struct output_error errors[] = {EXACT, {.param = "b", .class_ = "", .margin = NAN}};
    const struct compare_limit none[] = {LIMITS[0], {.class_ = COMPARE_ELEMENTWISE}};
    expect(errors, LIMITS, VERDICT_FAIL, (double)INFINITY, 1);
    errors[1] = (struct output_error){.param = "b", .class_ = "elementwise", .margin = NAN};
    expect(errors, none, VERDICT_FAIL, (double)INFINITY, 1);
}

static void expect_sentence(const struct output_error *error, const char *sentence)
{
    struct text text;
    text_init(&text);
    judgement_explain(error, &LIMITS[1], "the guard saw it", &text);
    cr_expect_str_eq(text.data, sentence);
    text_release(&text);
}

Test(judgement, a_failure_has_a_sentence)
{
    struct output_error error = SUM;
    expect_sentence(&error,
                    "b[3, 17] is 2, expected 1: row error 3e-06, limit 4e-06, the guard saw it");
    error.place = "";
    error.nmse = 1;
    expect_sentence(&error, "b is 2, expected 1: NMSE 1, limit 8e-12, the guard saw it");
    error.is_outside = 1;
    expect_sentence(&error, "the guard saw it");
    error = (struct output_error){.param = "b", .class_ = "", .margin = 7};
    expect_sentence(&error, "the guard saw it");
    struct text text;
    text_init(&text);
    judgement_explain(&error, &LIMITS[1], "", &text);
    cr_expect_str_eq(text.data, "its errors are not known");
    text_release(&text);
}
