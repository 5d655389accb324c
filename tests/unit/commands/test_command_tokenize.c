// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

#include <string.h>

Test(command_tokenize, takes_one_folder)
{
    struct printed printed = PRINTED(command_tokenize_main, "--plain");

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "expected one folder"), "%s", printed.err);
    printed_release(&printed);
}

Test(command_tokenize, a_folder_without_a_tokenizer_is_refused)
{
    struct scratch scratch;

    scratch_make(&scratch);
    struct printed printed = PRINTED(command_tokenize_main, scratch.folder);

    cr_assert_neq(printed.outcome, OUTCOME_OK);
    cr_assert_not_null(strstr(printed.err, "found none"), "%s", printed.err);
    printed_release(&printed);
    scratch_remove(&scratch);
}
