// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_queue.h"

Test(kit_queue, memory_is_tried, .timeout = 60)
{
    kit_fixture_expect("B-01", "sin_wrong_refusal", "2^60 bytes");
    kit_fixture_expect("B-02", "sin_writes_beside", "after a write");
}

Test(kit_queue, timelines_are_tried, .timeout = 60)
{
    kit_fixture_expect("Q-05", "sin_waits_for_nothing", "nobody signals");
    kit_fixture_expect("Q-06", "sin_forgets_the_past", "called 0 times");
}
