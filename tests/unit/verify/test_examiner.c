// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/late.h"
#include "judged_store.h"
#include "verify/examiner.h"

TestSuite(examiner, .init = judged_store_begin, .fini = judged_store_end, .timeout = 110);

Test(examiner, keeps_a_case_with_what_was_measured)
{
    struct examiner *examiner = NULL;
    struct cases_silu made;
    struct verdict verdict;
    int64_t id = 0;
    const struct verdict_options options = options_for(exact);
    MUST(examiner_create(&options, &examiner));
    cases_make_silu(&made, "s", 0);
    made.y[4] += 0.5f;
    MUST(examiner_case(examiner, &made.item, &verdict));
    cr_expect_eq(verdict.kind, VERDICT_FAIL);
    cr_expect_eq(verdict.error_count, 1);
    cr_expect_str_eq(verdict.errors[0].class_, "elementwise");
    cr_expect_str_eq(verdict.errors[0].place, "1, 1");
    MUST(examiner_keep(examiner, &made.item, &verdict, &id));
    cr_expect_eq(number_of("SELECT count(*) FROM output_error WHERE param = 'y' AND ulp > 100"), 1);
    cr_expect_eq(number_of("SELECT count(*) FROM judged WHERE verdict = 'fail'"), 1);
    cr_expect_gt(examiner_executions(examiner), 0);
    cr_expect_gt(examiner_calibrations(examiner), 0);
    examiner_destroy(examiner);
}

// What was kept of a run is judged by what is right: the case then holds that.
Test(examiner, what_the_target_computed_is_replaced_if_it_fails)
{
    struct examiner *examiner = NULL;
    struct cases_silu made;
    struct verdict verdict;
    const struct verdict_options options = options_for(exact);
    MUST(examiner_create(&options, &examiner));
    cases_make_silu(&made, "s", 0);
    const float right = made.y[4];
    made.y[4] += 0.5f;
    MUST(examiner_computed(examiner, &made.item, &verdict));
    cr_expect_eq(verdict.kind, VERDICT_FAIL);
    cr_expect_float_eq(made.y[4], right, 1e-5);
    examiner_destroy(examiner);
}
