// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_facade.h"

// A plugin without a driver is skipped, and one that the host refuses fails with its sentence.
Test(kit_facade, what_a_host_says_is_the_result)
{
    struct kit_result result = kit_fixture_run("tests/zoo/no_driver.so", "no_driver", "B-02");

    cr_expect_eq(result.outcome, KIT_SKIPPED, "%s", result.reason);
    cr_expect_gt(strlen(result.reason), 0u);
}
