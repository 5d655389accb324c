// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "fused_case.h"
#include "verify/divider.h"

TestSuite(divider, .init = fused_case_begin, .fini = fused_case_end, .timeout = 110);

static struct verdict try(float error, int divides)
{
    struct verdict_options options = options_for(expanded_backend(by_form));
    struct divider *divider = NULL;
    struct examiner *examiner = NULL;
    static struct arena *arena;
    struct verdict verdict = {.source = "carved", .label = ""};
    options.divides = divides;
    arena = arena_create();
    fused_case_make(error);
    MUST(divider_create(&options, &divider));
    MUST(examiner_create(&options, &examiner));
    struct examination examination = {.item = &fused_item, .schema = fused_schema};
    MUST(examiner_name(arena, &fused_item, &verdict));
    MUST(divider_try(divider, examiner, &examination, arena, &verdict));
    cr_assert_eq(divider_executions(divider) > 0, divides && error != 0);
    divider_destroy(divider);
    examiner_destroy(examiner);
    return verdict;
}

Test(divider, a_right_case_is_not_divided)
{
    const struct verdict verdict = try(0, 1);
    cr_assert_eq(verdict.kind, VERDICT_PASS, "%s", verdict.reason);
}

// The device computes each part as the oracle does: what is wrong is the expectation as a whole.
Test(divider, what_is_right_in_parts_is_wrong_only_when_fused)
{
    const struct verdict verdict = try(0.5F, 1);
    cr_assert_eq(verdict.kind, VERDICT_FAIL);
    cr_assert_not_null(strstr(verdict.reason, "wrong only when fused: norm + q"), "%s",
                       verdict.reason);
}

Test(divider, who_does_not_ask_gets_no_division)
{
    const struct verdict verdict = try(0.5F, 0);
    cr_assert_eq(verdict.kind, VERDICT_FAIL);
    cr_assert_null(strstr(verdict.reason, "fused"), "%s", verdict.reason);
}
