// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "config/user_cache.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct scratch scratch;
static struct text text;

static void begin(void)
{
    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    text_init(&text);
    text_append(&text, "[a]\nb = c\n");
}

static void end(void)
{
    text_release(&text);
    scratch_remove(&scratch);
}

TestSuite(user_cache, .init = begin, .fini = end);

Test(user_cache, what_is_written_is_read_until_it_is_removed)
{
    size_t size = 0;
    cr_expect_null(user_cache_read("x.ini", 100, &size));
    cr_assert(user_cache_write("x.ini", &text));
    char *data = user_cache_read("x.ini", 100, &size);
    cr_assert_str_eq(data, text.data);
    cr_expect_eq(size, text.length);
    alloc_free(data);
    cr_expect_null(user_cache_read("x.ini", 3, &size));
    user_cache_remove("x.ini");
    cr_expect_null(user_cache_read("x.ini", 100, &size));
}

Test(user_cache, what_others_can_write_is_not_used)
{
    size_t size = 0;
    cr_assert(user_cache_write("x.ini", &text));
    cr_assert_eq(chmod(scratch_path(&scratch, "tapml/x.ini"), 0666), 0);
    cr_expect_null(user_cache_read("x.ini", 100, &size));
    cr_assert_eq(chmod(scratch_path(&scratch, "tapml/x.ini"), 0600), 0);
    cr_assert_eq(chmod(scratch_path(&scratch, "tapml"), 0777), 0);
    cr_expect_null(user_cache_read("x.ini", 100, &size));
    cr_expect(!user_cache_write("x.ini", &text));
}

Test(user_cache, links_are_not_followed)
{
    size_t size = 0;
    cr_assert(user_cache_write("x.ini", &text));
    cr_assert_eq(symlink("x.ini", scratch_path(&scratch, "tapml/y.ini")), 0);
    cr_expect_null(user_cache_read("y.ini", 100, &size));
}

Test(user_cache, its_path_is_told)
{
    struct arena *arena = arena_create();
    const char *path = user_cache_path("x.ini", arena);
    cr_assert_not_null(path);
    cr_expect_not_null(strstr(path, "tapml/x.ini"));
    arena_destroy(arena);
}
