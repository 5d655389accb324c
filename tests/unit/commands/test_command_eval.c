// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

Test(command_eval, the_embedded_model_agrees_in_all_ways)
{
    struct printed printed =
        PRINTED(command_eval_main, "--model", (char *)(uintptr_t)scratch_source("models/tiny"));

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "at once          agrees"));
    cr_assert_not_null(strstr(printed.out, "chunks of 5      agrees"));
    cr_assert_not_null(strstr(printed.out, "token by token   agrees"));
    printed_release(&printed);
}

Test(command_eval, a_model_is_needed)
{
    struct printed printed = PRINTED(command_eval_main, "--backend", "reference");

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "--model PATH"));
    printed_release(&printed);
}

#define IMAGES ((char *)(uintptr_t)scratch_data("models/llava"))

Test(command_eval, a_part_is_compared_with_the_text_and_alone)
{
    struct printed printed = PRINTED(command_eval_main, "--model", IMAGES);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "chunks of 5      agrees"));
    cr_assert_not_null(strstr(printed.out, "greedy 5 / 5, 20 rows"));
    printed_release(&printed);
    printed = PRINTED(command_eval_main, "--model", IMAGES, "--architecture", "llava_vision");
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s%s", printed.out, printed.err);
    cr_assert_not_null(strstr(printed.out, "(image_features)"));
    cr_assert_not_null(strstr(printed.out, "0 / 0, 4 rows"));
    printed_release(&printed);
}
