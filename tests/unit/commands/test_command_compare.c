// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

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

TestSuite(command_compare, .init = setup, .fini = teardown, .timeout = 110);

Test(command_compare, a_run_is_like_itself_as_text_json_and_page)
{
    char folder[2 * SCRATCH_PATH], json[2 * SCRATCH_PATH], page[2 * SCRATCH_PATH];
    json_t *document = NULL;

    json_decref(reported_run(&scratch, "", OUTCOME_OK));
    snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "run"));
    snprintf(json, sizeof(json), "%s", scratch_path(&scratch, "comparison.json"));
    snprintf(page, sizeof(page), "%s", scratch_path(&scratch, "comparison.html"));
    struct printed printed = PRINTED(command_compare_main, folder, folder, (char[]){"--json"}, json,
                                     (char[]){"--html"}, page);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "The runs are alike (no difference at all)."));
    cr_assert(file_exists(page));
    cr_assert_eq(json_file_load(json, &document), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(reported_string(document, "format"), "tapml.comparison/1");
    cr_assert(json_is_true(json_object_get(document, "alike")));
    json_decref(document);
    printed_release(&printed);
}

Test(command_compare, two_folders_with_runs_are_needed)
{
    struct printed printed = PRINTED(command_compare_main, scratch.folder, scratch.folder);

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "there is no run in"));
    printed_release(&printed);
    printed = PRINTED(command_compare_main, scratch.folder);
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(
        strstr(printed.err, "expected the folders of two runs, or two dumps, found 1"));
    printed_release(&printed);
}
