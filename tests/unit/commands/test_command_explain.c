// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"

#include <criterion/criterion.h>
#include <string.h>

static void explains(char *word, const char *title, const char *piece)
{
    struct printed printed = PRINTED(command_explain_main, "--explain", word);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_eq(strncmp(printed.out, title, strlen(title)), 0, "%s", printed.out);
    cr_assert_not_null(strstr(printed.out, piece), "%s", printed.out);
    printed_release(&printed);
}

Test(command_explain, a_key_goes_by_many_names)
{
    explains("chunk", "[run] chunk\n", "takes    a whole number from 1 to 16777216\n");
    explains("run.chunk", "[run] chunk\n", "default  128\n");
    explains("[run] chunk", "[run] chunk\n", "example  chunk = 64\n");
    explains("target.gpu.require", "[target.NAME] require\n", "'any' or 'all'");
    explains("rule", "[plan] rule\n", "may be repeated");
}

Test(command_explain, a_section_lists_its_keys)
{
    explains("model", "[model]\n", "[model] unknown-keys\n");
    explains("[target.gpu]", "[target.NAME]\n", "[target.NAME] backend\n");
    explains("backend", "[source] backend\n", "[target.NAME] backend\n");
}

Test(command_explain, alone_it_lists_all_and_as_markdown_the_page)
{
    struct printed printed = PRINTED(command_explain_main, "--explain");

    cr_assert_not_null(strstr(printed.out, "[run] dir "));
    cr_assert_not_null(strstr(printed.out, "[plugins] deny "));
    printed_release(&printed);
    printed = PRINTED(command_explain_main, "--explain", "--markdown");
    cr_assert_not_null(strstr(printed.out, "\n## [target.NAME]\n"));
    cr_assert_not_null(strstr(printed.out, "| `keep` | 'first' or 'all' | first | `all` | "));
    printed_release(&printed);
}

Test(command_explain, an_unknown_key_is_answered_with_the_nearest)
{
    struct printed printed = PRINTED(command_explain_main, "--explain", "run.chunkk");

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "did you mean 'chunk'?"), "%s", printed.err);
    printed_release(&printed);
    printed = PRINTED(command_explain_main, "--explain", "");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    printed_release(&printed);
}
