// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The files that verdicts of a run depend on: what they were at a look, which of them are others
// now, and waiting until one changes.
//
// A list belongs to one thread. Failures are TAPML_NO_MEMORY and those that a function names.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

// A file, and what the system says of it. All 0 where it is absent.
struct watched_file {
    char *path;
    int64_t size, changed_ns; // In ns since 1970.
    uint64_t inode;
};

struct watched_files {
    struct watched_file *items; // By their paths.
    size_t count, capacity;
    int64_t begun_ns; // By watched_files_begin; or 0.
};

// Files are read from now on, and added to the empty list later. Which of them have changed between
// may have been read as they were before: they are in the list as what no file is, so that the next
// list differs.
void watched_files_begin(struct watched_files *files);

// Adds a file as it is now, once. A path with a line break is left out.
tapml_status watched_files_add(struct watched_files *files, const char *path) STATUS_USED;

// The same of all files of a folder whose names match `pattern`.
tapml_status watched_files_add_all(struct watched_files *files,
                                   const char *folder,
                                   const char *pattern) STATUS_USED;

// Frees what a list owns. A list of zeros is allowed.
void watched_files_release(struct watched_files *files);

// A line for each file, and such lines as a list; what is no such line is skipped.
void watched_files_print(const struct watched_files *files, struct text *out);
tapml_status watched_files_read(const char *text, struct watched_files *out_files) STATUS_USED;

// Appends the names of files that are others than in `before`, with ", " between: "run.ini changed,
// x.so is new, y.so is gone". Gives how many.
size_t watched_files_compare(const struct watched_files *before,
                             const struct watched_files *now,
                             struct text *out);

// Sees a file that was there in the list before, and is there now, or only one of both.
typedef void (*watched_files_fn)(void *user, const char *path, int was_there, int is_there);

// Calls `see` for each of the files that are others than in `before`.
void watched_files_visit(const struct watched_files *before,
                         const struct watched_files *now,
                         watched_files_fn see,
                         void *user);

// Waits until one of the files is written, replaced, made or removed and nothing more has happened
// to them for a moment, or until `seconds` are over, or `is_over` says so after a signal; signals
// are let in while it waits, as `mask` says (a sigset_t). Without inotify it waits for the time
// alone.
void watched_files_wait(const struct watched_files *files,
                        double seconds,
                        const void *mask,
                        int (*is_over)(void));
