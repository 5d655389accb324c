// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

static void expect_refusal(struct printed printed, const char *sentence)
{
    cr_expect_eq(printed.outcome, OUTCOME_USAGE, "%s%s", printed.out, printed.err);
    cr_expect_not_null(strstr(printed.err, sentence), "%s", printed.err);
    printed_release(&printed);
}

Test(command_judge, what_is_missing_or_unknown_is_said)
{
    char *file = (char *)(uintptr_t)scratch_source("README.md");

    expect_refusal(PRINTED(command_judge_main, "--op", "silu"), "one shared library expected");
    expect_refusal(PRINTED(command_judge_main, "/nowhere.so", "--op", "silu"), "no such file");
    expect_refusal(PRINTED(command_judge_main, file), "--op is missing");
    expect_refusal(PRINTED(command_judge_main, file, "--op", "silu"), "--arguments is missing");
    expect_refusal(
        PRINTED(command_judge_main, file, "--op", "silu", "--arguments", "x y", "--weights", "q4"),
        "--weights is 'q4', expected 'stored' or 'f32'");
    expect_refusal(PRINTED(command_judge_main, file, "--op", "silu", "--arguments", "x y"),
                   "--cases is missing");
}
