// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/scratch.h"
#include "kit/kit_folder.h"

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
    setenv("TMPDIR", scratch.folder, 1);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(kit_folder, .init = setup, .fini = teardown);

Test(kit_folder, what_is_left_in_it_goes_and_what_a_link_names_stays)
{
    char path[SCRATCH_PATH], kept[SCRATCH_PATH];
    struct kit_folder folder;

    snprintf(kept, sizeof(kept), "%s", scratch_text(&scratch, "kept", "mine"));
    kit_folder_begin(&folder);
    cr_assert_eq(strncmp(folder.path, scratch.folder, strlen(scratch.folder)), 0, "%s",
                 folder.path);
    cr_expect_str_eq(getenv("TMPDIR"), folder.path);
    snprintf(path, sizeof(path), "%s/inner", folder.path);
    cr_assert_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/inner/link", folder.path);
    cr_assert_eq(symlink(kept, path), 0);
    snprintf(path, sizeof(path), "%s/inner/up", folder.path);
    cr_assert_eq(symlink(scratch.folder, path), 0);
    snprintf(path, sizeof(path), "%s", folder.path);
    kit_folder_end(&folder);
    cr_expect_neq(access(path, F_OK), 0);
    cr_expect_eq(access(kept, F_OK), 0);
    cr_expect_str_eq(getenv("TMPDIR"), scratch.folder);
    kit_folder_end(&folder); // Nothing more to end.
}

Test(kit_folder, where_none_can_be_made_there_is_none)
{
    struct kit_folder folder;

    setenv("TMPDIR", "/nowhere/at/all", 1);
    kit_folder_begin(&folder);
    cr_expect_str_eq(folder.path, "");
    cr_expect_str_eq(getenv("TMPDIR"), "/nowhere/at/all");
    kit_folder_end(&folder);
}
