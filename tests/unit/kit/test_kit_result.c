// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_result.h"

#include <criterion/criterion.h>

Test(kit_result, the_first_failure_is_told)
{
    struct kit_result result = {.outcome = KIT_PASSED};

    kit_result_warn(&result, "look at %d", 1);
    cr_expect_eq(result.outcome, KIT_WARNED);
    cr_expect(kit_result_is_good(&result));
    kit_result_fail(&result, "op %d", 2);
    kit_result_fail(&result, "op %d", 3);
    kit_result_warn(&result, "nothing");
    kit_result_skip(&result, "no device");
    cr_expect_eq(result.outcome, KIT_FAILED);
    cr_expect_str_eq(result.reason, "op 2");
    cr_expect(kit_result_is_wrong(&result));
    cr_expect_not(kit_result_is_good(&result));
}

Test(kit_result, a_skip_is_neither_good_nor_wrong)
{
    struct kit_result result = {.outcome = KIT_PASSED};

    kit_result_skip(&result, "no device");
    cr_expect_not(kit_result_is_good(&result));
    cr_expect_not(kit_result_is_wrong(&result));
}

Test(kit_result, only_a_skip_is_for_want_of_a_device)
{
    struct kit_result result = {.outcome = KIT_PASSED};

    kit_result_lack_device(&result);
    cr_expect_not(result.lacks_device);
    kit_result_skip(&result, "no driver");
    cr_expect_not(result.lacks_device);
    kit_result_lack_device(&result);
    cr_expect(result.lacks_device);
    result = (struct kit_result){.outcome = KIT_PASSED};
    kit_result_fail(&result, "it crashes");
    kit_result_lack_device(&result);
    cr_expect_not(result.lacks_device);
}

Test(kit_result, outcomes_have_words)
{
    cr_expect_str_eq(kit_result_outcome_name(KIT_TIMED_OUT), "timed out");
    cr_expect_str_eq(kit_result_outcome_name(KIT_SKIPPED), "skipped");
}
