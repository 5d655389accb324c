// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

static struct scratch scratch;
static char ini[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    (void)snprintf(ini, sizeof(ini), "%s", short_run_write(&scratch, "[select]\nbudget = 1\n"));
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_tune, .init = begin, .fini = end, .timeout = 110);

Test(command_tune, what_is_missing_is_said)
{
    printed_expect(PRINTED(command_tune_main, "--json"), OUTCOME_USAGE,
                   "expected --config FILE, or one DIR");
    printed_expect(PRINTED(command_tune_main, scratch.folder), OUTCOME_USAGE, "--backend is for");
    printed_expect(PRINTED(command_tune_main, "--config", ini, "--backend", "x"), OUTCOME_USAGE,
                   "--backend is for DIR");
    printed_expect(PRINTED(command_tune_main, "--config", ini, "--by", "luck"), OUTCOME_USAGE,
                   "random predictor transferred");
    printed_expect(PRINTED(command_tune_main, "--config", ini, "--target", "none"), OUTCOME_USAGE,
                   "none");
}

Test(command_tune, a_run_comes_first)
{
    printed_expect(PRINTED(command_tune_main, "--config", ini), OUTCOME_USAGE, "has no run yet");
}

Test(command_tune, a_device_without_choices_is_said_to_have_none)
{
    printed_expect(PRINTED(command_run_main, "--config", ini), OUTCOME_OK, "not run: ");
    printed_expect(PRINTED(command_tune_main, "--config", ini), OUTCOME_USAGE,
                   "has nothing to choose for any of");
}
