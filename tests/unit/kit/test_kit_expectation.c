// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/scratch.h"
#include "kit/kit_expectation.h"
#include "kit/kit_list.h"

#include <criterion/criterion.h>

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(kit_expectation, .init = begin, .fini = end);

static struct kit_result
apply(const struct ini *ini, const char *id, const char *component, enum kit_outcome outcome)
{
    struct kit_result result = {.outcome = outcome, .reason = "it was seen"};

    kit_expectation_apply(ini, kit_list_find(id), component, &result);
    return result;
}

Test(kit_expectation, a_failure_is_expected_and_a_pass_is_not)
{
    struct ini ini;
    const char *path = scratch_text(
        &scratch, "check.ini", "[plugin]\nE-05 = it forks\n[component.gpu]\nQ-07 = one queue\n");

    cr_assert_eq(kit_expectation_read(path, &ini), TAPML_OK, "%s", status_message());
    struct kit_result result = apply(&ini, "E-05", NULL, KIT_CRASHED);

    cr_expect_eq(result.outcome, KIT_EXPECTED);
    cr_expect_str_eq(result.reason, "it forks (it was seen)");
    result = apply(&ini, "E-05", "", KIT_PASSED);
    cr_expect_eq(result.outcome, KIT_FAILED);
    cr_expect_not_null(strstr(result.reason, "it forks"), "%s", result.reason);
    cr_expect_eq(apply(&ini, "Q-07", "gpu", KIT_FAILED).outcome, KIT_EXPECTED);
    cr_expect_eq(apply(&ini, "Q-07", "npu", KIT_FAILED).outcome, KIT_FAILED);
    cr_expect_eq(apply(&ini, "Q-07", "gpu", KIT_SKIPPED).outcome, KIT_SKIPPED);
    cr_expect_eq(apply(&ini, "E-03", NULL, KIT_FAILED).outcome, KIT_FAILED);
    ini_release(&ini);
}

Test(kit_expectation, what_is_not_understood_is_refused)
{
    static const char *const wrong[][2] = {
        {"[checks]\nE-05 = it forks\n", ":2: section [checks]"},
        {"[plugin]\nE-99 = it forks\n", ":2: there is no check 'E-99'"},
        {"[plugin]\nE-05 =\n", "E-05"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct ini ini;

        cr_expect_eq(kit_expectation_read(scratch_text(&scratch, "check.ini", wrong[i][0]), &ini),
                     TAPML_INVALID);
        cr_expect_not_null(strstr(status_message(), wrong[i][1]), "%s", status_message());
    }
}
