// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "config/data_folder.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "share/tapml/1/cases")), TAPML_OK);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "bin")), TAPML_OK);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "tree")), TAPML_OK);
    scratch_text(&scratch, "bin/program", "");
    scratch_text(&scratch, "tree/program", "");
    scratch_text(&scratch, "tree/tapml-build.cases", "/built/cases\n");
    unsetenv("TAPML_CASES");
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(data_folder, .init = setup, .fini = teardown);

// The folder ends with `end`.
static void expect(const char *program, const char *end)
{
    char *folder = NULL;

    cr_assert_eq(data_folder_find(DATA_FOLDER_CASES, program, &folder), TAPML_OK, "%s",
                 status_message());
    cr_assert_geq(strlen(folder), strlen(end), "%s", folder);
    cr_expect_str_eq(folder + strlen(folder) - strlen(end), end, "%s", folder);
    alloc_free(folder);
}

Test(data_folder, places_have_an_order)
{
    expect(scratch_path(&scratch, "tree/program"), "/built/cases");
    expect(scratch_path(&scratch, "bin/program"), "bin/../share/tapml/1/cases");
    expect(NULL, "/share/tapml/1/cases");
    setenv("TAPML_CASES", "given", 1); // Not absolute.
    expect(scratch_path(&scratch, "tree/program"), "/built/cases");
    setenv("TAPML_CASES", "/given", 1);
    expect(scratch_path(&scratch, "tree/program"), "/given");
}

Test(data_folder, each_kind_has_places_of_its_own)
{
    char *folder = NULL;

    setenv("TAPML_CASES", "/given", 1);
    unsetenv("TAPML_MODELS");
    cr_assert_eq(data_folder_find(DATA_FOLDER_MODELS, NULL, &folder), TAPML_OK);
    cr_expect_not_null(strstr(folder, "/models"), "%s", folder);
    alloc_free(folder);
}

Test(data_folder, memory_may_run_out)
{
    char program[2 * SCRATCH_PATH];
    char *folder = NULL;

    snprintf(program, sizeof(program), "%s/bin/program", scratch.folder);
    SCRATCH_SWEEP(data_folder_find(DATA_FOLDER_CASES, program, &folder));
    alloc_free(folder);
}
