// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_device.h"

Test(kit_device, a_table_without_a_function_is_a_failure, .timeout = 60)
{
    kit_fixture_expect("Q-05", "sin_no_queue", "queue_new");
}
