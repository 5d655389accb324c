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

// How many of the chosen cases are of a run.
static size_t count_of_run(struct printed listed, const char *run)
{
    json_t *made = json_loads(listed.out, 0, NULL), *item = NULL;
    size_t index = 0, count = 0;

    cr_assert_not_null(made, "%s%s", listed.out, listed.err);
    cr_expect_eq(json_integer_value(json_object_get(made, "cases")), 242);
    json_array_foreach(json_object_get(made, "chosen"), index, item)
    {
        count += strcmp(json_string_value(json_object_get(item, "run")), run) == 0;
    }
    json_decref(made);
    printed_release(&listed);
    return count;
}

// The cases of two runs are chosen as those of one. Here both are the same run: of each pair of
// twins one is enough, as long as there are others.
Test(command_select, several_runs_have_one_choice)
{
    char store[SCRATCH_PATH + 32], absent[SCRATCH_PATH + 32];

    (void)snprintf(store, sizeof(store), "%s/run.tapmlrun", folder);
    (void)snprintf(absent, sizeof(absent), "%s-absent", folder);
    cr_expect_eq(count_of_run(PRINTED(command_select_main, folder, store, "--budget", "40",
                                      "--target", "other", "--json"),
                              store),
                 0);
    cr_expect_eq(
        count_of_run(PRINTED(command_select_main, folder, store, "--budget", "100%", "--json"),
                     store),
        121);
    printed_expect(PRINTED(command_select_main, folder, store, "--budget", "4"), OUTCOME_OK,
                   "4 of 242 cases");
    printed_expect(PRINTED(command_select_main, folder, absent, "--budget", "40"), OUTCOME_USAGE,
                   "there is no store");
}

Test(command_select, what_cannot_be_chosen_is_refused)
{
    printed_expect(PRINTED(command_select_main, folder), OUTCOME_USAGE, "no budget");
    printed_expect(PRINTED(command_select_main, folder, "--budget", "x"), OUTCOME_USAGE,
                   "budget is 'x'");
    printed_expect(PRINTED(command_select_main, "--budget", "3"), OUTCOME_USAGE,
                   "expected the folder of a run, found none");
    printed_expect(PRINTED(command_select_main, folder, "--budget", "3", "--order", "x"),
                   OUTCOME_USAGE, "--order is 'x', expected one of: carved balance cover, or");
    printed_expect(PRINTED(command_select_main, folder, "--budget", "3", "--policy", "reference"),
                   OUTCOME_USAGE, "expected a policy");
    printed_expect(PRINTED(command_select_main, folder, "--budget", "3", "--target", "x"),
                   OUTCOME_USAGE, "--target is 'x', which is no target of the run");
}
