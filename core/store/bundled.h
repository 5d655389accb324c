// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `bundle`: the bundle of each blamed instance, or of the driver, as a file in the run's
// folder.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct arena;
struct store;

// What stands for the instance in the row of the program for the vendor of a driver
// (run/vendor_program.h), whose `file` it is; `shape_class` and `command` are "".
#define BUNDLED_PROGRAM "driver program"

struct bundled_row {
    const char *instance;
    const char *file;        // Its name in the run's folder.
    const char *shape_class; // After the case was made smaller.
    const char *command;     // Reproduces the fault in the run's folder.
};

tapml_status
bundled_write(struct store *store, const char *target, const struct bundled_row *item) STATUS_USED;

// Those of a target by file, in `arena`.
tapml_status bundled_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct bundled_row **out_items,
                          size_t *out_count) STATUS_USED;
tapml_status bundled_forget(struct store *store, const char *target) STATUS_USED;
