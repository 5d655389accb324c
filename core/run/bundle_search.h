// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Looks for bundles and packs in files and folders: they are known by what they say of themselves
// (run/bundle_tags.h), wherever they lie.
//
// Files are only read, and may be a stranger's. One thread.
#pragma once

#include "run/bundle_tags.h"

// Folders with ':' between them, which are searched where no other is named; the current one where
// it is absent.
#define BUNDLE_SEARCH_VARIABLE "TAPML_BUNDLE_PATH"

struct bundle_found {
    const char *path;
    struct bundle_tags tags;
};

// Begun as zeros but for the arena, which has all texts, and is borrowed.
struct bundle_search {
    struct arena *arena;
    const struct bundle_condition *conditions; // All of which are to be met. Borrowed.
    size_t condition_count;
    struct bundle_found *items; // In the order of the paths that were named, then of names.
    size_t count, capacity;
    size_t unreadable; // Files in folders that are no store, or damaged: each is logged.
};

// Adds those at `path`: a file, which has to be one of both, or all *.tapmlrun in a folder and the
// folders below it. There, stores of runs are passed over, and what is hidden or a link is not
// looked at. TAPML_NOT_FOUND where there is no such path, TAPML_INVALID for a file that is neither,
// TAPML_CANCELLED after a signal (run/interrupt.h).
tapml_status bundle_search_add(struct bundle_search *search, const char *path) STATUS_USED;

// The same of the folders of BUNDLE_SEARCH_VARIABLE, or of the current one. One that is not there
// is passed over.
tapml_status bundle_search_add_all(struct bundle_search *search) STATUS_USED;
void bundle_search_release(struct bundle_search *search);

// Whether `word` may be the begin of an id: eight hexadecimal digits or more. Then, the path of the
// one file that has it, in the arena of the search, which is an empty one: copies of one file are
// one. TAPML_NOT_FOUND where there is none, TAPML_INVALID where several files begin so.
int bundle_search_is_id(const char *word);
tapml_status
bundle_search_find(struct bundle_search *search, const char *id, const char **out_path) STATUS_USED;
