// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

Test(command_replay, replays_a_store_of_a_run)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch, "");
    struct printed printed = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    printed_release(&printed);
    char *store = (char *)(uintptr_t)scratch_path(&scratch, "run/run.tapmlrun");

    printed = PRINTED(command_replay_main, store, "--backend", "reference:f32-blocked");
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "tapml.attention"));
    cr_assert_not_null(strstr(printed.err, " 0 failed"));
    printed_release(&printed);
    printed = PRINTED(command_replay_main, store, "--backend", "reference", "--case", "999999");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "999999"));
    printed_release(&printed);
    // Without a backend, on every device that is asked for.
    printed = PRINTED(command_replay_main, store, "component=reference");
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "\nreference:f64 "), "%s", printed.out);
    cr_assert_not_null(strstr(printed.out, " right      0 failed, "), "%s", printed.out);
    printed_release(&printed);
    printed = PRINTED(command_replay_main, store, "component=null", "--bisect");
    cr_assert_eq(printed.outcome, OUTCOME_UNKNOWN, "no case runs there: %s", printed.err);
    printed_release(&printed);
    printed = PRINTED(command_replay_main, store, "component=none");
    cr_assert_eq(printed.outcome, OUTCOME_ENVIRONMENT, "%s", printed.err);
    cr_assert_not_null(strstr(printed.err, "no installed device meets the conditions"));
    printed_release(&printed);
    // `git bisect run` skips a commit for 125.
    printed = PRINTED(command_replay_main, store, "--backend", "reference", "--bisect");
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    printed_release(&printed);
    printed = PRINTED(command_replay_main, store, "--backend", "null", "--bisect");
    cr_assert_eq(printed.outcome, OUTCOME_UNKNOWN, "no case runs there: %s", printed.err);
    printed_release(&printed);
    printed = PRINTED(command_replay_main, store, "--backend", "nothing", "--bisect");
    cr_assert_eq(printed.outcome, OUTCOME_UNKNOWN, "%s", printed.err);
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_replay, a_store_is_needed)
{
    struct printed printed = PRINTED(command_replay_main, "--backend", "reference");

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    printed_release(&printed);
    printed = PRINTED(command_replay_main, "/nonexistent.tapmlrun");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    printed_release(&printed);
    printed_expect(PRINTED(command_replay_main, "a.tapmlrun", "b.tapmlrun"), OUTCOME_USAGE,
                   "TAG=GLOB behind it, found 'b.tapmlrun'");
    printed_expect(PRINTED(command_replay_main, "a.tapmlrun", "op=silu"), OUTCOME_USAGE,
                   "expected a tag of devices");
}
