// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

Test(command_judge, what_is_missing_or_unknown_is_said)
{
    char *file = (char *)(uintptr_t)scratch_source("README.md");

    printed_expect(PRINTED(command_judge_main, "--op", "silu"), OUTCOME_USAGE,
                   "one shared library or one text of a kernel");
    printed_expect(PRINTED(command_judge_main, "/nowhere.so", "--op", "silu"), OUTCOME_USAGE,
                   "no such file");
    printed_expect(PRINTED(command_judge_main, file), OUTCOME_USAGE, "--op is missing");
    printed_expect(PRINTED(command_judge_main, file, "--op", "silu"), OUTCOME_USAGE,
                   "--arguments is missing");
    printed_expect(
        PRINTED(command_judge_main, file, "--op", "silu", "--arguments", "x y", "--weights", "q4"),
        OUTCOME_USAGE, "--weights is 'q4', expected 'stored' or 'f32'");
    printed_expect(PRINTED(command_judge_main, file, "--op", "silu", "--arguments", "x y"),
                   OUTCOME_USAGE, "--cases is missing");
}
