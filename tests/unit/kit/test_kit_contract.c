// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_contract.h"

Test(kit_contract, states_are_walked, .timeout = 60)
{
    kit_fixture_expect("C-01", "sin_ends_for_good", "probe fails");
}

Test(kit_contract, memory_is_counted, .timeout = 60)
{
    kit_fixture_expect("C-03", "sin_leaks", "it keeps 1 allocations, 24 bytes");
}

Test(kit_contract, devices_are_compared, .timeout = 60)
{
    kit_fixture_expect("D-02", "sin_new_ids", "when they are listed again");
    kit_fixture_expect("D-03", "sin_opens_anything", "it opens a device");
    kit_fixture_expect("D-04", "sin_says_nothing", "does not say why");
    kit_fixture_expect("D-05", "sin_lists_twice", "is listed twice");
}
