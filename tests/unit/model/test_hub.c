// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "model/hub.h"

#include <criterion/criterion.h>
#include <string.h>

#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(hub, .init = setup, .fini = teardown);

static void make_folder(const char *name)
{
    cr_assert_eq(file_make_folder(scratch_path(&scratch, name)), TAPML_OK, "%s", status_message());
}

static void expect_failure(const char *id, tapml_status status, const char *message)
{
    char *folder = NULL;

    cr_assert_eq(hub_find(scratch.folder, id, &folder), status, "%s", status_message());
    cr_assert_not_null(strstr(status_message(), message), "%s", status_message());
    cr_assert_null(folder);
}

Test(hub, ids_name_no_other_folder)
{
    static const char *const wrong[] = {"",     "a",      "/a",     "a/",        "a/b/c", "../a",
                                        "a/..", "a/.b",   "a--b/c", "a/b--c",    "a b/c", "a/b\n",
                                        "a/-b", "a/b..c", "a\\b/c", "a/\xc3\xa4"};
    char longest[2 * 96 + 3];

    cr_assert(hub_is_id("Qwen/Qwen3-0.6B"));
    cr_assert(hub_is_id("a/b_c.d"));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_assert_not(hub_is_id(wrong[i]), "%s", wrong[i]);
    }
    memset(longest, 'a', sizeof(longest));
    longest[96] = '/';
    longest[2 * 96 + 1] = '\0';
    cr_assert(hub_is_id(longest));
    longest[2 * 96 + 1] = 'a';
    longest[2 * 96 + 2] = '\0';
    cr_assert_not(hub_is_id(longest));
}

Test(hub, the_folder_is_that_of_main)
{
    char *folder = NULL;

    make_folder("models--Org--M.1/refs");
    make_folder("models--Org--M.1/snapshots/" COMMIT);
    scratch_text(&scratch, "models--Org--M.1/refs/main", COMMIT);
    cr_assert_eq(hub_find(scratch.folder, "Org/M.1", &folder), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(folder, scratch_path(&scratch, "models--Org--M.1/snapshots/" COMMIT));
    alloc_free(folder);
    scratch_text(&scratch, "models--Org--M.1/refs/main", COMMIT "\n");
    SCRATCH_SWEEP(hub_find(scratch.folder, "Org/M.1", &folder));
    alloc_free(folder);
}

Test(hub, a_cache_that_lacks_something_is_named)
{
    expect_failure("Org/M", TAPML_NOT_FOUND, "models--Org--M/refs/main");
    make_folder("models--Org--M/refs");
    expect_failure("Org/M", TAPML_NOT_FOUND, "models--Org--M/refs/main");
    scratch_text(&scratch, "models--Org--M/refs/main", COMMIT);
    expect_failure("Org/M", TAPML_INVALID,
                   "snapshots/" COMMIT
                   ": expected the folder that 'refs/main' names, found nothing");
    make_folder("models--Org--M/snapshots");
    scratch_text(&scratch, "models--Org--M/snapshots/" COMMIT, "");
    expect_failure("Org/M", TAPML_INVALID, "found a file");
}

Test(hub, a_reference_leads_nowhere_else)
{
    static const char *const wrong[] = {"",           "../../..",
                                        "0123",       COMMIT "0",
                                        COMMIT "/..", "0123456789ABCDEF0123456789ABCDEF01234567"};

    make_folder("models--Org--M/refs");
    make_folder("models--Org--M/snapshots/" COMMIT);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        scratch_text(&scratch, "models--Org--M/refs/main", wrong[i]);
        expect_failure("Org/M", TAPML_INVALID,
                       "models--Org--M/refs/main: expected a commit of 40 hexadecimal digits");
    }
    // Nor does a zero byte end it.
    scratch_write(&scratch, "models--Org--M/refs/main", COMMIT "\0x", sizeof(COMMIT) + 1);
    expect_failure("Org/M", TAPML_INVALID, "expected a commit");
}
