// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Settings of a device's kernels (tapml/draft/tuning.h), timed: what a bench shows beside what the
// device chooses by itself. Results are not judged here; `tapml-host tune` judges them.
#pragma once

#include "harness/plugin.h"

#include <tapml/draft/tuning.h>

struct settings_options {
    struct plugin *plugin;
    tapml_call *call;
    const tapml_op *op;
    const tapml_value *args; // One for each parameter.
    uint32_t trials;         // Settings that are drawn, with always the same random numbers.

    // The time of the call as the device computes it now.
    double (*time)(void *user);
    void *user;
};

// The least time of the settings that were drawn, and of what the device chooses by itself, which
// takes `own`; that is what it has again afterwards. `own` where there is nothing to choose.
double settings_best(const struct settings_options *options, double own);
