// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/temporary_folder.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>

Test(temporary_folder, each_is_of_its_own_and_for_this_user)
{
    struct scratch scratch;
    struct stat about;
    char one[TEMPORARY_FOLDER_TEXT], other[TEMPORARY_FOLDER_TEXT];

    scratch_make(&scratch);
    cr_assert_eq(setenv("TMPDIR", scratch.folder, 1), 0);
    cr_assert_eq(temporary_folder_make("tapml-x", one), TAPML_OK, "%s", status_message());
    cr_assert_eq(temporary_folder_make("tapml-x", other), TAPML_OK, "%s", status_message());
    cr_expect_str_neq(one, other);
    cr_expect_eq(strncmp(one, scratch.folder, strlen(scratch.folder)), 0, "%s", one);
    cr_assert_eq(stat(one, &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0700u);
    scratch_remove(&scratch);
}

Test(temporary_folder, where_it_cannot_be_its_path_is_named)
{
    char path[TEMPORARY_FOLDER_TEXT];

    cr_assert_eq(setenv("TMPDIR", "/nonexistent", 1), 0);
    cr_expect_eq(temporary_folder_make("tapml-x", path), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "/nonexistent/tapml-x-"));
    cr_expect_str_eq(path, "");
}
