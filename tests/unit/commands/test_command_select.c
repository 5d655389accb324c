// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

#include <jansson.h>
#include <string.h>

static struct scratch scratch;
static char *folder;

// A run that has chosen ten of its cases.
static void begin(void)
{
    scratch_make(&scratch);
    char *ini = (char *)(uintptr_t)short_run_write(&scratch, "[select]\nbudget = 30\n");
    struct printed run = PRINTED(command_run_main, "--config", ini);

    cr_assert_eq(run.outcome, OUTCOME_OK, "%s%s", run.out, run.err);
    cr_assert_not_null(strstr(run.out, "\nnot run: "), "%s", run.out);
    printed_release(&run);
    folder = (char *)(uintptr_t)scratch_path(&scratch, "run");
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_select, .init = begin, .fini = end, .timeout = 110);

Test(command_select, a_choice_is_listed_and_explained)
{
    printed_expect(PRINTED(command_select_main, folder, "--budget", "30"), OUTCOME_OK,
                   "\n30 of 121 cases, in the order 'cover', worth at least 0.");
    printed_expect(PRINTED(command_select_main, folder, "--budget=10%", "--explain"), OUTCOME_OK,
                   "first of its signature, adds 0.");
    printed_expect(
        PRINTED(command_select_main, folder, "--budget", "100s", "--target", "other", "--explain"),
        OUTCOME_OK, " times of the target; ");
    printed_expect(PRINTED(command_select_main, folder, "--budget", "20", "--order", "balance"),
                   OUTCOME_OK, "20 of 121 cases, in the order 'balance'");
}

Test(command_select, the_same_is_chosen_each_time_and_as_json)
{
    struct printed first = PRINTED(command_select_main, folder, "--budget", "30", "--json");
    struct printed again = PRINTED(command_select_main, folder, "--budget", "30", "--json");
    json_t *made = json_loads(first.out, 0, NULL);

    cr_assert_not_null(made, "%s", first.out);
    cr_expect_str_eq(first.out, again.out);
    cr_expect_eq(json_integer_value(json_object_get(made, "cases")), 121);
    cr_expect_eq(json_array_size(json_object_get(made, "chosen")), 30);
    json_decref(made);
    printed_release(&first);
    printed_release(&again);
}

Test(command_select, what_cannot_be_chosen_is_refused)
{
    printed_expect(PRINTED(command_select_main, folder), OUTCOME_USAGE, "no budget");
    printed_expect(PRINTED(command_select_main, folder, "--budget", "x"), OUTCOME_USAGE,
                   "budget is 'x'");
    printed_expect(PRINTED(command_select_main, "--budget", "3"), OUTCOME_USAGE,
                   "expected the folder of one run");
    printed_expect(PRINTED(command_select_main, folder, "--budget", "3", "--order", "x"),
                   OUTCOME_USAGE, "--order is 'x'");
    printed_expect(PRINTED(command_select_main, folder, "--budget", "3", "--target", "x"),
                   OUTCOME_USAGE, "--target is 'x', which is no target of the run");
}
