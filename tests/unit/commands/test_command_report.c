// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "harness/reported.h"

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_report, .init = setup, .fini = teardown, .timeout = 110);

Test(command_report, the_store_gives_the_bytes_of_the_run)
{
    char folder[2 * SCRATCH_PATH], page[2 * SCRATCH_PATH];
    char *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;

    json_decref(reported_run(&scratch, "", OUTCOME_OK));
    snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "run"));
    snprintf(page, sizeof(page), "%s", scratch_path(&scratch, "run/report.html"));
    cr_assert_eq(file_read(page, SIZE_MAX / 2, &first, &first_size), TAPML_OK);
    cr_assert_eq(remove(page), 0);
    struct printed printed = PRINTED(command_report_main, folder);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "40 of 40 instances on other, 0 blamed"));
    cr_assert_eq(file_read(page, SIZE_MAX / 2, &second, &second_size), TAPML_OK);
    cr_assert_eq(second_size, first_size);
    cr_assert_eq(memcmp(first, second, first_size), 0);
    printed_release(&printed);
    alloc_free(first);
    alloc_free(second);
}

Test(command_report, one_folder_with_a_run_is_needed)
{
    struct printed printed = PRINTED(command_report_main, scratch.folder);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "there is no run in"));
    printed_release(&printed);
    printed = PRINTED(command_report_main, scratch.folder, scratch.folder);
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "expected the folder of one run, found 2 arguments"));
    printed_release(&printed);
}
