// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "harness/scratch.h"

#include <unistd.h>

static struct scratch scratch;
static struct folder_names names;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    folder_release(&names);
    scratch_remove(&scratch);
}

TestSuite(folder, .init = begin, .fini = end);

Test(folder, lists_what_is_visible_in_the_order_of_names)
{
    scratch_text(&scratch, "b", "");
    scratch_text(&scratch, "a", "");
    scratch_text(&scratch, "B", "");
    scratch_text(&scratch, ".hidden", "");
    cr_assert_eq(folder_list(scratch.folder, &names), TAPML_OK);
    cr_assert_eq(names.count, 3);
    cr_assert_str_eq(names.items[0], scratch_path(&scratch, "B"));
    cr_assert_str_eq(names.items[1], scratch_path(&scratch, "a"));
    cr_assert_str_eq(names.items[2], scratch_path(&scratch, "b"));
}

Test(folder, what_is_no_folder_has_nothing)
{
    cr_assert_eq(folder_list(scratch_text(&scratch, "file", ""), &names), TAPML_OK);
    cr_assert_eq(names.count, 0);
    cr_assert_eq(folder_list(scratch_path(&scratch, "absent"), &names), TAPML_OK);
    cr_assert_eq(names.count, 0);
}

static tapml_status list_and_release(void)
{
    const tapml_status status = folder_list(scratch.folder, &names);

    folder_release(&names);
    return status;
}

Test(folder, lack_of_memory_leaves_nothing)
{
    scratch_text(&scratch, "a", "");
    scratch_text(&scratch, "b", "");
    SCRATCH_SWEEP(list_and_release());
}

Test(folder, is_removed_with_all_that_is_in_it)
{
    char folder[1024], inner[1100];

    (void)snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "folder"));
    (void)snprintf(inner, sizeof(inner), "%s/a/b", folder);
    cr_assert_eq(file_make_folder(inner), TAPML_OK);
    scratch_text(&scratch, "kept", "");
    (void)snprintf(inner, sizeof(inner), "%s/a/link", folder);
    cr_assert_eq(symlink(scratch.folder, inner), 0);
    folder_remove(folder);
    cr_assert_not(file_exists(folder));
    cr_assert(file_exists(scratch_path(&scratch, "kept")));
    folder_remove(folder); // Nothing is there.
}
