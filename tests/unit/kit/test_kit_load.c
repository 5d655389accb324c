// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_load.h"

Test(kit_load, descriptions_are_compared, .timeout = 60)
{
    kit_fixture_expect("H-05", "sin_another_version", "1.0.1");
    kit_fixture_expect("H-06", "sin_reserved", "reserved");
}

Test(kit_load, queries_of_other_sizes_and_minors_are_made, .timeout = 60)
{
    kit_fixture_expect("H-07", "sin_refuses_longer", "longer than it knows");
    kit_fixture_expect("H-08", "sin_takes_shorter", "shorter than minor 0");
    kit_fixture_expect("H-09", "sin_one_minor", "a host of minor 0");
}
