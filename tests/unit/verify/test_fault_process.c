// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/clock.h"
#include "verify/fault_process.h"

#include <criterion/criterion.h>
#include <signal.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

TestSuite(fault_process, .timeout = 30);

Test(fault_process, a_delay_takes_its_time)
{
    const struct fault_rule rule = {.kind = FAULT_DELAY, .operand = 30};
    const uint64_t begin_ns = clock_now_ns();

    MUST(fault_process_strike(&rule));
    cr_assert_geq(clock_now_ns() - begin_ns, 30000000u);
}

Test(fault_process, what_changes_values_leaves_the_process_alone)
{
    for (int kind = FAULT_ARGUMENT; kind < FAULT_DELAY; kind++) {
        MUST(fault_process_strike(&(struct fault_rule){.kind = (enum fault_kind)kind}));
    }
}

Test(fault_process, a_kill_is_one, .signal = SIGKILL)
{
    MUST(fault_process_strike(&(struct fault_rule){.kind = FAULT_KILL}));
}
