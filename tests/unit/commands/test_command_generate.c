// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

#define TINY ((char *)(uintptr_t)scratch_source("models/tiny"))

Test(command_generate, goes_on_from_a_prompt)
{
    struct printed printed =
        PRINTED(command_generate_main, "--model", TINY, "--prompt", "The fox was", "--count", "12");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_str_eq(printed.out, "The fox was curious, so Finn gave it the kite. Finn gave 1\n");
    printed_release(&printed);
}

Test(command_generate, ids_and_text_are_one_prompt)
{
    struct printed printed = PRINTED(command_generate_main, "--model", TINY, "--ids",
                                     "0 53 258 594 291", "--count", "3", "--json");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "\"ids\": [0, 53, 258, 594, 291, 559, 13, 487]"));
    printed_release(&printed);
}

Test(command_generate, mistakes_are_refused)
{
    struct printed printed = PRINTED(command_generate_main, "--model", TINY);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "either --prompt or --ids"));
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", TINY, "--ids", "0 x");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "'x' is no token id"));
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", TINY, "--ids", "0 100000");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "100000"));
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", "/nonexistent", "--ids", "0");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    printed_release(&printed);
    printed = PRINTED(command_generate_main, "--model", TINY, "--ids", "0 53", "--count", "9",
                      "--capacity", "4");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "capacity"), "%s", printed.err);
    printed_release(&printed);
}
