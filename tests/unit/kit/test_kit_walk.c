// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"

Test(kit_walk, what_differs_has_its_step_and_seed, .timeout = 60)
{
    kit_fixture_expect("Z-01", "sin_few_buffers", " of seed 1: byte ");
}
