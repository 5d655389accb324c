// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"

// Of a plugin that allocates by its host: each refusal is told, and nothing is kept.
Test(kit_hostile, memory_that_runs_out_is_told, .timeout = 120)
{
    const struct kit_result result =
        kit_fixture_run("plugins/cpu/tapml-cpu.so", "reference", "X-01");

    cr_expect_eq(result.outcome, KIT_PASSED, "%s", result.reason);
}

Test(kit_hostile, what_is_kept_is_told, .timeout = 120)
{
    const struct kit_result result = kit_fixture_run("tests/zoo/sin_leaks.so", "sin_leaks", "X-01");

    cr_expect_eq(result.outcome, KIT_FAILED);
    cr_expect_not_null(strstr(result.reason, "it keeps 1 of the others, 24 bytes"), "%s",
                       result.reason);
}

Test(kit_hostile, a_plugin_without_libraries_is_skipped, .timeout = 60)
{
    const struct kit_result result = kit_fixture_run("tests/zoo/good.so", "good", "X-02");

    cr_expect_eq(result.outcome, KIT_SKIPPED);
    cr_expect_not_null(strstr(result.reason, "'dlopen'"), "%s", result.reason);
}

Test(kit_hostile, a_soak_of_no_time_is_two_rounds, .timeout = 60)
{
    const struct kit_result result = kit_fixture_run("tests/zoo/good.so", "good", "P-01");

    cr_expect_eq(result.outcome, KIT_PASSED, "%s", result.reason);
}
