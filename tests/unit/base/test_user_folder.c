// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/user_folder.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void set(const char *caches, const char *home)
{
    cr_assert_eq(unsetenv("XDG_CACHE_HOME"), 0);
    cr_assert_eq(unsetenv("HOME"), 0);
    if (caches) {
        cr_assert_eq(setenv("XDG_CACHE_HOME", caches, 1), 0);
    }
    if (home) {
        cr_assert_eq(setenv("HOME", home, 1), 0);
    }
}

static void expect(const char *below, const char *path)
{
    char *found = NULL;
    cr_assert_eq(user_folder_find(USER_FOLDER_CACHE, below, &found), TAPML_OK);
    cr_expect_str_eq(found, path);
    alloc_free(found);
}

Test(user_folder, the_variable_comes_first)
{
    set("/somewhere/caches", "/home/me");
    expect("tapml/far", "/somewhere/caches/tapml/far");
    expect("", "/somewhere/caches");
}

Test(user_folder, without_an_absolute_path_it_is_below_home)
{
    set(NULL, "/home/me");
    expect("tapml", "/home/me/.cache/tapml");
    set("relative", "/home/me");
    expect("", "/home/me/.cache");
}

Test(user_folder, without_both_there_is_none)
{
    char *found = NULL;
    set("", "also/relative");
    cr_assert_eq(user_folder_find(USER_FOLDER_CACHE, "x", &found), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "neither XDG_CACHE_HOME nor HOME"));
    cr_assert_eq(unsetenv("XDG_CONFIG_HOME"), 0);
    cr_assert_eq(user_folder_find(USER_FOLDER_CONFIG, "x", &found), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "XDG_CONFIG_HOME"));
}
