// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "base/file.h"
#include "harness/scratch.h"
#include "report/run_folders.h"

#include <string.h>

static struct scratch scratch;
static struct arena *arena;
static struct run_folders folders;

static void begin(void)
{
    scratch_make(&scratch);
    arena = arena_create();
}

static void end(void)
{
    run_folders_release(&folders);
    arena_destroy(arena);
    scratch_remove(&scratch);
}

TestSuite(run_folders, .init = begin, .fini = end);

static void make_run(const char *name)
{
    char path[2 * SCRATCH_PATH], store[3 * SCRATCH_PATH];

    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, name));
    snprintf(store, sizeof(store), "%s/run.tapmlrun", path);
    cr_assert_eq(file_make_folder(path), TAPML_OK);
    cr_assert_eq(file_write(store, "x", 1), TAPML_OK);
}

static const char *last(size_t index)
{
    return strrchr(folders.names[index], '/') + 1;
}

Test(run_folders, a_folder_of_runs_stands_for_them_in_the_order_of_their_names)
{
    make_run("b");
    make_run("a");
    make_run(".hidden");
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "empty")), TAPML_OK);
    cr_assert_not(run_folders_has_run(scratch.folder));
    cr_assert(run_folders_has_any(scratch.folder));
    cr_assert_eq(run_folders_add(&folders, arena, scratch.folder), TAPML_OK);
    cr_assert_eq(folders.count, 2);
    cr_assert_str_eq(last(0), "a");
    cr_assert_str_eq(last(1), "b");
}

Test(run_folders, a_run_stands_for_itself)
{
    char path[2 * SCRATCH_PATH];

    make_run("a");
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a"));
    cr_assert(run_folders_has_run(path));
    cr_assert_eq(run_folders_add(&folders, arena, path), TAPML_OK);
    cr_assert_eq(run_folders_add(&folders, arena, path), TAPML_OK);
    cr_assert_eq(folders.count, 2);
}

Test(run_folders, no_run_is_an_error)
{
    cr_assert_not(run_folders_has_any(scratch.folder));
    cr_assert_eq(run_folders_add(&folders, arena, scratch.folder), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "there is no run in '"));
}
