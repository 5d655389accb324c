// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed.h"
#include "report/history.h"

static struct changed changed;
static struct history history;

static void end(void)
{
    history_release(&history);
    changed_end(&changed);
}

TestSuite(history, .fini = end);

static void read_runs(void)
{
    cr_assert_eq(history_read(changed.sides, changed.count, &history), TAPML_OK);
}

// Four kept cases, of which two have one name, and a derived one.
Test(history, cases_of_all_runs_are_paired)
{
    changed_begin(&changed, 3);
    read_runs();
    cr_assert_eq(history.count, 5);
    for (size_t i = 0; i < 4; i++) {
        for (size_t run = 0; run < 3; run++) {
            cr_assert_eq(history.cases[i].items[run], changed_case(&changed, run, i));
        }
    }
    cr_assert_str_eq(history.cases[0].target, "gpu" REPORT_HOSTILE);
}

Test(history, keys_go_before_the_order)
{
    changed_begin(&changed, 2);
    compared_set(changed_case(&changed, 0, 2), "key", json_string("01aa"));
    compared_set(changed_case(&changed, 0, 3), "key", json_string("01bb"));
    compared_set(changed_case(&changed, 1, 2), "key", json_string("01bb"));
    compared_set(changed_case(&changed, 1, 3), "key", json_string("01aa"));
    read_runs();
    cr_assert_eq(history.count, 5);
    cr_assert_eq(history.cases[2].items[1], changed_case(&changed, 1, 3));
    cr_assert_eq(history.cases[3].items[1], changed_case(&changed, 1, 2));
}

// The source of the second run was built anew, the third run has both contents.
Test(history, other_contents_are_paired_by_name)
{
    changed_begin(&changed, 3);
    compared_set(changed_case(&changed, 0, 0), "key", json_string("01aa"));
    compared_set(changed_case(&changed, 1, 0), "key", json_string("01cc"));
    compared_set(changed_case(&changed, 2, 0), "key", json_string("01cc"));
    read_runs();
    cr_assert_eq(history.count, 5);
    cr_assert_eq(history.cases[0].items[1], changed_case(&changed, 1, 0));
    cr_assert_eq(history.cases[0].items[2], changed_case(&changed, 2, 0));
}

Test(history, a_case_of_a_later_run_alone_has_a_place)
{
    size_t run = 0;

    changed_begin(&changed, 2);
    compared_set(changed_case(&changed, 1, 0), "instance", json_string("layers.9/new"));
    read_runs();
    cr_assert_eq(history.count, 6);
    cr_assert_null(history.cases[0].items[1]);
    cr_assert_null(history.cases[5].items[0]);
    cr_assert_eq(history.cases[5].items[1], changed_case(&changed, 1, 0));
    cr_assert_null(history_before(&history, 5, 1, &run));
    cr_assert_eq(history_before(&history, 0, 2, &run), changed_case(&changed, 0, 0));
    cr_assert_eq(run, 0);
}

Test(history, classes_of_verdicts_and_targets_by_name)
{
    changed_begin(&changed, 1);
    read_runs();
    cr_assert_eq(history_class_of(changed_case(&changed, 0, 2)), HISTORY_GOOD);
    cr_assert_eq(history_class_of(changed_case(&changed, 0, 0)), HISTORY_BAD);
    cr_assert_eq(history_class_of(changed_case(&changed, 0, 3)), HISTORY_BAD);
    cr_assert_eq(history_class_of(changed_case(&changed, 0, 1)), HISTORY_NONE);
    cr_assert_eq(history_class_of(NULL), HISTORY_NONE);
    cr_assert_eq(history_target(&history, 0, "gpu" REPORT_HOSTILE),
                 compared_target(changed.reports[0]));
    cr_assert_null(history_target(&history, 0, "cpu"));
}
