// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The runs that folders stand for: a folder with a run for itself, any other for the runs in its
// folders, in the order of their names; hidden ones are left out.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct arena;

struct run_folders {
    const char **names; // As they were given, with the name of a folder in it behind.
    size_t count, capacity;
};

// Whether a folder has the store of a run.
int run_folders_has_run(const char *folder);

// Whether it stands for any.
int run_folders_has_any(const char *folder);

// Adds the runs that `folder` stands for. TAPML_NOT_FOUND if there is none. Names are in `arena`,
// the list is released by the caller, be it that this fails.
tapml_status
run_folders_add(struct run_folders *folders, struct arena *arena, const char *folder) STATUS_USED;
void run_folders_release(struct run_folders *folders);
