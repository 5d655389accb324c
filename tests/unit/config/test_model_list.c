// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "config/model_list.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scratch scratch;

// A list whose only model is called `name`.
static void make_list(const char *folder, const char *name)
{
    char path[SCRATCH_PATH], text[512];

    cr_assert_eq(file_make_folder(scratch_path(&scratch, folder)), TAPML_OK);
    snprintf(path, sizeof(path), "%s/list.json", folder);
    snprintf(text, sizeof(text),
             "{\"models\": [{\"name\": \"%s\", \"type\": \"t\", \"source\": {\"repository\": "
             "\"r\", \"path\": \"p\"}, \"config\": {\"model_type\": \"t\"}}]}",
             name);
    scratch_text(&scratch, path, text);
}

static void setup(void)
{
    char text[2 * SCRATCH_PATH];

    scratch_make(&scratch);
    make_list("given", "given");
    make_list("source", "tree");
    make_list("share/tapml/1/models", "beside");
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "bin")), TAPML_OK);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "tree")), TAPML_OK);
    scratch_text(&scratch, "bin/program", "");
    scratch_text(&scratch, "tree/program", "");
    snprintf(text, sizeof(text), "%s/source\n", scratch.folder);
    scratch_text(&scratch, "tree/tapml-build.models", text);
    unsetenv("TAPML_MODELS");
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(model_list, .init = setup, .fini = teardown);

static void expect(const char *program, const char *name)
{
    struct published *list = NULL;

    cr_assert_eq(model_list_open(scratch_path(&scratch, program), &list), TAPML_OK, "%s",
                 status_message());
    cr_assert_str_eq(published_at(list, 0)->name, name);
    published_close(list);
}

Test(model_list, it_is_read_where_it_is)
{
    expect("tree/program", "tree");
    expect("bin/program", "beside");
    setenv("TAPML_MODELS", scratch_path(&scratch, "given"), 1);
    expect("tree/program", "given");
}

Test(model_list, a_list_that_is_not_there_is_named)
{
    struct published *list = NULL;

    setenv("TAPML_MODELS", scratch_path(&scratch, "nowhere"), 1);
    cr_assert_eq(model_list_open("program", &list), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "/nowhere: expected a folder with lists of models"),
                       "%s", status_message());
    unsetenv("TAPML_MODELS");
    scratch_text(&scratch, "source/broken.json", "{");
    cr_assert_eq(model_list_open(scratch_path(&scratch, "tree/program"), &list), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "/source/broken.json"), "%s", status_message());
}

Test(model_list, memory_may_run_out)
{
    struct published *list = NULL;
    char program[2 * SCRATCH_PATH];

    snprintf(program, sizeof(program), "%s/tree/program", scratch.folder);
    SCRATCH_SWEEP(model_list_open(program, &list));
    published_close(list);
    snprintf(program, sizeof(program), "%s/bin/program", scratch.folder);
    SCRATCH_SWEEP(model_list_open(program, &list));
    published_close(list);
}
