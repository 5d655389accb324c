// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_kinds.h"

static void expect(const char *sin, const char *id, enum kit_outcome outcome, const char *piece)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "tests/zoo/%s.so", sin);
    const struct kit_result result = kit_fixture_run(path, sin, id);

    cr_expect_eq(result.outcome, outcome, "%s: %s", sin, result.reason);
    cr_expect_not_null(strstr(result.reason, piece), "%s: %s", sin, result.reason);
}

Test(kit_kinds, observers_are_tried, .timeout = 60)
{
    expect("sin_empty_observer", "K-01", KIT_FAILED, "neither 'before' nor 'after'");
    expect("sin_secret_observer", "K-02", KIT_FAILED, "it makes a call of 'tapml.silu'");
    expect("sin_quiet_observer", "K-02", KIT_PASSED, "");
    expect("sin_zeros_observer", "K-01", KIT_PASSED, "");
    expect("sin_zeros_observer", "K-02", KIT_PASSED, "");
}

Test(kit_kinds, comparers_are_tried, .timeout = 60)
{
    expect("sin_unnamed_comparer", "K-01", KIT_FAILED, "'unit'");
    expect("sin_moody_comparer", "K-03", KIT_FAILED, "the same values measure");
    expect("sin_failing_comparer", "K-03", KIT_FAILED, "measure fails with 'unavailable'");
    expect("sin_first_comparer", "K-03", KIT_PASSED, "");
}
