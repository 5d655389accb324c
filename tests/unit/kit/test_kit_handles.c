// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_handles.h"

Test(kit_handles, imports_are_the_memory_itself, .timeout = 60)
{
    kit_fixture_expect("B-10", "sin_imports_a_copy", "is not in the memory of its");
}

Test(kit_handles, descriptors_have_one_owner, .timeout = 60)
{
    kit_fixture_expect("B-11", "sin_lends_its_descriptor", "two exports give the same descriptor");
}

Test(kit_handles, a_device_without_handles_is_skipped, .timeout = 60)
{
    const struct kit_result result = kit_fixture_run("tests/zoo/good.so", "good", "B-10");

    cr_expect_eq(result.outcome, KIT_SKIPPED);
    cr_expect_not_null(strstr(result.reason, "tapml.memory_handles/1"), "%s", result.reason);
}
