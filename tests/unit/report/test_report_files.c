// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/json_file.h"
#include "harness/report.h"
#include "harness/scratch.h"
#include "report/report_files.h"

static struct scratch scratch;
static json_t *report;
static char json_path[2 * SCRATCH_PATH];
static char junit_path[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    report = report_make();
    snprintf(json_path, sizeof(json_path), "%s", scratch_path(&scratch, "report.json"));
    snprintf(junit_path, sizeof(junit_path), "%s", scratch_path(&scratch, "report.xml"));
}

static void end(void)
{
    json_decref(report);
    scratch_remove(&scratch);
}

TestSuite(report_files, .init = begin, .fini = end);

Test(report_files, page_is_written_and_the_others_where_they_are_asked_for)
{
    cr_assert_eq(report_files_write(report, &(struct report_files){.dir = scratch.folder}),
                 TAPML_OK);
    cr_assert_eq(access(scratch_path(&scratch, "report.html"), R_OK), 0);
    cr_assert_neq(access(json_path, R_OK), 0);
    cr_assert_neq(access(junit_path, R_OK), 0);
}

Test(report_files, json_is_the_document_as_it_is)
{
    json_t *again = NULL;

    cr_assert_eq(report_files_write(report, &(struct report_files){.dir = scratch.folder,
                                                                   .json = json_path,
                                                                   .junit = junit_path}),
                 TAPML_OK);
    cr_assert_eq(json_file_load(json_path, &again), TAPML_OK, "%s", status_message());
    cr_assert(json_equal(again, report));
    cr_assert_eq(access(junit_path, R_OK), 0);
    json_decref(again);
}

Test(report_files, a_path_that_cannot_be_written_is_named)
{
    snprintf(json_path, sizeof(json_path), "%s", scratch_path(&scratch, "none/report.json"));
    cr_assert_neq(report_files_write(
                      report, &(struct report_files){.dir = scratch.folder, .json = json_path}),
                  TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "none/report.json"), "%s", status_message());
}
