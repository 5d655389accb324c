// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver of a target as a suspect of a run: it is checked (verify/driver_check.h) before the
// jobs of the target, when something fails, and at the end of them. If it is wrong, no op is judged
// around it: what was found is forgotten, and the driver alone is blamed.
#pragma once

#include "base/status.h"

struct place;
struct registry;
struct store;

enum driver_checks_moment {
    DRIVER_CHECKS_BEGIN,
    DRIVER_CHECKS_FAILURE, // A case has failed.
    DRIVER_CHECKS_END
};

// All is borrowed.
struct driver_checks_options {
    struct store *store;
    struct registry *registry;
    const struct place *place; // The target, open.
    const char *dir;           // Of the run.
    const char *config;        // Path of the run's INI, for the command that repeats a check;
    const char *arguments;     // what else it needs to find the run's plugins (run/follow_up.h).
    unsigned *io_bundles;      // FAULT-n.tapmlrun of the run so far; NULL: none is written.
};

// The plan of a target whose driver is wrong.
#define DRIVER_CHECKS_PLAN "* -> source\n"

// Checks the driver, and writes a step unless an earlier start has written the same. If the driver
// is wrong, its bundle is written and, if the plugin has one, the program for its vendor,
// `*out_is_wrong` is set and the target is finished in the same transaction: the row in `blame` is
// about the driver, that in `bundle` names the file and has the command that repeats the check,
// that in `offload` has DRIVER_CHECKS_PLAN. If it passes at the begin where an earlier start has
// blamed it, the jobs of the target begin anew. Failures are those of the store and those of the
// target that end all (base/status.h).
tapml_status driver_checks_make(const struct driver_checks_options *options,
                                enum driver_checks_moment moment,
                                int *out_is_wrong) STATUS_USED;

// Whether the store has the step of a check of `target`: one that has ended, however it came out.
// Failures are those of the store.
tapml_status driver_checks_find(struct store *store,
                                const char *target,
                                enum driver_checks_moment moment,
                                int *out_is_made) STATUS_USED;
