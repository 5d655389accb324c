// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What many tests need: a folder of their own, files in it, and paths to the test data.
#pragma once

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRATCH_PATH = 512 };

struct scratch {
    char folder[SCRATCH_PATH];
    char path[2 * SCRATCH_PATH]; // The last one asked for.
};

static inline void scratch_make(struct scratch *scratch)
{
    const char *root = getenv("TMPDIR");
    snprintf(scratch->folder, sizeof(scratch->folder), "%s/tapml-XXXXXX", root ? root : "/tmp");
    cr_assert_not_null(mkdtemp(scratch->folder));
}

static inline const char *scratch_path(struct scratch *scratch, const char *name)
{
    const int length =
        snprintf(scratch->path, sizeof(scratch->path), "%s/%s", scratch->folder, name);
    cr_assert_lt((size_t)length, sizeof(scratch->path));
    return scratch->path;
}

static inline const char *
scratch_write(struct scratch *scratch, const char *name, const void *data, size_t size)
{
    FILE *file = fopen(scratch_path(scratch, name), "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(data, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
    return scratch->path;
}

static inline const char *scratch_text(struct scratch *scratch, const char *name, const char *text)
{
    return scratch_write(scratch, name, text, strlen(text));
}

static inline int
scratch_remove_one(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline void scratch_remove(struct scratch *scratch)
{
    cr_assert_eq(nftw(scratch->folder, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

// A path in tests/data, and one in the repository. Each lasts until the next call.
static inline const char *scratch_join(const char *variable, const char *name)
{
    static char path[2 * SCRATCH_PATH];
    const char *root = getenv(variable);
    cr_assert_not_null(root, "%s is not set", variable);
    snprintf(path, sizeof(path), "%s/%s", root, name);
    return path;
}

static inline const char *scratch_data(const char *name)
{
    return scratch_join("TAPML_TEST_DATA", name);
}

static inline const char *scratch_source(const char *name)
{
    return scratch_join("TAPML_TEST_SOURCE", name);
}

// Tries `call_` with the first allocation failing, then the second, until none fails any more.
// Every failure is TAPML_NO_MEMORY and leaves no block behind. Needs base/alloc.h.
#define SCRATCH_SWEEP(call_)                                                                       \
    do {                                                                                           \
        size_t sweep_count_ = 0;                                                                   \
        for (tapml_status sweep_status_ = TAPML_NO_MEMORY; sweep_status_ != TAPML_OK;) {           \
            const size_t sweep_live_ = alloc_live();                                               \
            alloc_fail_at(++sweep_count_);                                                         \
            sweep_status_ = (call_);                                                               \
            alloc_fail_at(0);                                                                      \
            if (sweep_status_ != TAPML_OK) {                                                       \
                cr_assert_eq(sweep_status_, TAPML_NO_MEMORY, "%s", status_message());              \
                cr_assert_eq(alloc_live(), sweep_live_, "failure %zu leaks", sweep_count_);        \
            }                                                                                      \
        }                                                                                          \
        cr_assert_gt(sweep_count_, 1, "nothing was allocated");                                    \
    } while (0)
