// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "kit/kit_threads.h"

Test(kit_threads, threads_of_a_plugin_call_nothing_of_one_thread, .timeout = 60)
{
    kit_fixture_expect("T-01", "sin_works_beside", "come from a thread of its own");
}

Test(kit_threads, interfaces_are_those_of_all_threads, .timeout = 60)
{
    kit_fixture_expect("T-02", "sin_has_limits_of_threads", "another 'tapml.limits/1'");
}
