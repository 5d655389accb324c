// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Finds settings of a device's kernels: for each class of shapes that the cases of a store have,
// some settings are tried on a device that is opened for each of them, as the target is opened in a
// run. A trial counts if its cases pass: the kept ones of the class, and those that are derived
// from them, for which the setting is that of all classes. Then the kept ones are run again for
// their times. What was tried is in the user's file at once (config/tuning_file), with what was
// wrong.
//
// One thread. Failures are those of the store, TAPML_NO_MEMORY, and whatever opens the device; a
// device that is lost over a setting is a wrong setting.
#pragma once

#include "run/tuning_classes.h"
#include "run/tuning_trials.h"

struct place_settings;
struct setup;

enum { TUNING_RUNS = 3 }; // Of a case for its time, of which the fastest counts.

struct tuning_options {
    struct setup *setup;
    const struct place_settings *target;
    struct store *store; // Stays as it is.
    const struct checkpoint *checkpoint;
    const char *op; // NULL: all that have knobs.
    enum tuner_chooser chooser;
    size_t trials; // Of each class, those of earlier starts among them.
    uint64_t seed;

    // Told after each trial, how many of `all` are done; a failure ends it all. `what` is the
    // setting at hand and `outcome` what came out. Or NULL.
    tapml_status (*progress)(
        void *user, size_t done, size_t all, const char *what, const char *outcome);
    void *user;
};

struct tuning {
    struct tuning_result *results; // In the order of the store's cases.
    size_t count;
    size_t cases, no_choices; // As in struct tuning_classes.
    const char *component, *device, *driver;
};

// Tries settings. Results are in `arena`. TAPML_NOT_FOUND if the device has nothing to choose for
// any of the cases.
tapml_status tuning_run(const struct tuning_options *options,
                        struct arena *arena,
                        struct tuning *out_tuning) STATUS_USED;
