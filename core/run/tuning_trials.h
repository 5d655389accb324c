// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The trials of a class: settings that the tuner (choose/tuner.h) asks for, one after the other,
// each tried by whoever knows what it is a setting of, and kept in the user's file
// (config/tuning_file) at once, so that the next start goes on where this one ended.
//
// One thread. Failures are TAPML_NO_MEMORY, a key that the file cannot hold, and those of the
// caller's functions.
#pragma once

#include "choose/tuner.h"
#include "config/tuning_file.h"

// What came out for a class.
struct tuning_result {
    const char *op, *shape_class;
    size_t legal;          // Combinations that are,
    size_t tried, wrong;   // of these, what is known, the device's own choice among them,
    size_t now;            // and what of it was tried now.
    uint64_t own_ns;       // The time of the device's own choice; 0: it is wrong.
    const char *own_wrong; // Why that is; or NULL.
    uint64_t best_ns;      // Of the winner; 0: there is none.
    const char *winner;    // "form=1 width=4"; or NULL.
    const char *own;       // The same of the device's own choice.
};

enum { TUNING_TRIAL_WHY_TEXT = 256 };

// What a trial came to.
struct tuning_trial_outcome {
    uint64_t time_ns;
    char wrong[TUNING_TRIAL_WHY_TEXT]; // "" where it is right.
};

struct tuning_trials_options {
    struct tuning_key key;
    const struct knob_space *space;
    enum tuner_chooser chooser;
    size_t trials; // Those of earlier starts among them.
    uint64_t seed;

    // Tries a combination, whose text is `values`. What is wrong is an outcome; a failure ends it
    // all.
    tapml_status (*attempt)(void *user,
                            uint32_t number,
                            const char *values,
                            struct tuning_trial_outcome *out_outcome);

    // Told after each trial how many were tried now; a failure ends it all. `values` is the setting
    // and `outcome` what came out.
    tapml_status (*progress)(void *user, size_t now, const char *values, const char *outcome);
    void *user; // Of both functions.
};

// Tries settings until the budget is spent. Texts of the result are in `arena`, or the space's.
tapml_status tuning_trials_run(const struct tuning_trials_options *options,
                               struct arena *arena,
                               struct tuning_result *out_result) STATUS_USED;
