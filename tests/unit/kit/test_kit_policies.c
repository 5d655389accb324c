// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_policies.h"

static void expect(const char *sin, const char *id, enum kit_outcome outcome, const char *piece)
{
    char library[128], component[64];

    (void)snprintf(component, sizeof(component), "sin_%s_policy", sin);
    (void)snprintf(library, sizeof(library), "tests/zoo/%s.so", component);
    const struct kit_result result = kit_fixture_run(library, component, id);

    cr_expect_eq(result.outcome, outcome, "%s: %s", sin, result.reason);
    cr_expect_not_null(strstr(result.reason, piece), "%s: %s", sin, result.reason);
}

Test(kit_policies, orders_of_kinds_are_tried, .timeout = 60)
{
    expect("double", "K-04", KIT_FAILED, "its order of 5 kinds has 'tapml.embed' twice");
    expect("last", "K-04", KIT_PASSED, "");
    expect("wise", "K-04", KIT_SKIPPED, "it has no function 'order'");
}

Test(kit_policies, the_first_draft_ends_with_the_order, .timeout = 60)
{
    expect("last", "K-01", KIT_PASSED, "");
    expect("last", "K-05", KIT_SKIPPED, "it has no function 'select'");
    expect("last", "K-07", KIT_SKIPPED, "it has no function 'trigger'");
    expect("empty", "K-01", KIT_FAILED, "its table has none of 'order', 'select'");
}

Test(kit_policies, choices_are_tried, .timeout = 60)
{
    expect("lavish", "K-05", KIT_FAILED, "its choice has 6 cases, expected at most 3");
    expect("twice", "K-05", KIT_FAILED, "its choice of 3 cases has number 5");
    expect("priceless", "K-05", KIT_FAILED, "the worth of number 5 of its choice is");
    expect("idle", "K-05", KIT_FAILED, "its choice has no case, expected 1 to 3 of 6");
    expect("wise", "K-05", KIT_PASSED, "");
}

Test(kit_policies, orders_of_cases_are_tried, .timeout = 60)
{
    expect("far", "K-06", KIT_FAILED, "its order of 4 cases has number 13, expected 0 to 5");
    expect("greedy", "K-06", KIT_FAILED, "which is not to run");
    expect("wise", "K-06", KIT_PASSED, "");
}

Test(kit_policies, triggers_are_tried, .timeout = 60)
{
    expect("vague", "K-07", KIT_FAILED, "expected 0 or 1");
    expect("endless", "K-07", KIT_FAILED, "its reason has no end, expected at most 159 bytes");
    expect("wise", "K-07", KIT_PASSED, "");
}

Test(kit_policies, builders_are_tried, .timeout = 60)
{
    expect("lost", "K-08", KIT_FAILED, "its plan 0 has 'embed' on 'npu', where it may not run");
    expect("far", "K-08", KIT_SKIPPED, "it has no function 'build'");
    expect("wise", "K-08", KIT_PASSED, "");
}
