// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"
#include "harness/command.h"
#include "harness/scratch.h"

// A store that knows the times of 80 cases on `gpu`, and nothing of what they have cost.
#define STORE (char *)(uintptr_t)scratch_data("stores/version-9/run.tapmlrun")

Test(command_cost, a_pool_is_chosen_by_what_the_store_knows)
{
    printed_expect(PRINTED(command_cost_main, STORE, "--start", "1h", "--deadline", "20h"),
                   OUTCOME_OK, "1 member on demand: a run takes 1 h and costs ");
    printed_expect(PRINTED(command_cost_main, STORE, "--start", "2s", "--rate", "2.5 USD/h",
                           "--resident-rate", "1 USD/h", "--explain"),
                   OUTCOME_OK, "break-even: from ");
    printed_expect(PRINTED(command_cost_main, STORE, "--start", "2s", "--json", "--target", "gpu"),
                   OUTCOME_OK, "\"kind\": \"on demand\"");
    printed_expect(
        PRINTED(command_cost_main, STORE, "--start", "2s", "--budget", "10%", "--explain"),
        OUTCOME_OK, "predicted on 'gpu': 8 cases take ");
}

Test(command_cost, a_deadline_that_nothing_meets_is_wrong)
{
    printed_expect(PRINTED(command_cost_main, STORE, "--start", "2s", "--deadline", "1ms"),
                   OUTCOME_WRONG, "no pool of up to 16 members meets 1 ms: ");
}

Test(command_cost, what_is_not_understood_is_refused)
{
    printed_expect(PRINTED(command_cost_main, NULL), OUTCOME_USAGE,
                   "the folder of one run, found 0");
    printed_expect(PRINTED(command_cost_main, STORE), OUTCOME_USAGE,
                   "no start of 'gpu' was measured");
    printed_expect(PRINTED(command_cost_main, STORE, "--deadline", "soon"), OUTCOME_USAGE,
                   "--deadline: ");
    printed_expect(PRINTED(command_cost_main, STORE, "--rate", "cheap"), OUTCOME_USAGE,
                   "--rate: expected an amount");
    printed_expect(PRINTED(command_cost_main, STORE, "--runs", "0"), OUTCOME_USAGE,
                   "--runs is '0', expected a number above 0");
    printed_expect(PRINTED(command_cost_main, STORE, "--start", "2s", "--rate", "2 USD/h",
                           "--resident-rate", "1 EUR/h"),
                   OUTCOME_USAGE, "--resident-rate is in 'EUR'");
    printed_expect(PRINTED(command_cost_main, STORE, "--target", "npu", "--start", "2s"),
                   OUTCOME_USAGE, "npu");
}
