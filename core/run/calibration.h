// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// End-to-end limits that were calibrated, kept as metadata of the run's store: the model has to run
// on each device that calibrates only once.
#pragma once

#include "device/backend.h"
#include "offload/judge.h"

struct store;

// What a device allows others. It holds for the code of both, over so many prompts of the run.
struct calibration {
    const char *name;   // "component:device" of the one that calibrates.
    const char *device; // Its digest (run/identity.h),
    const char *source; // and that of the source that it was compared with.
    int64_t prompts;
};

// The limits that the store has; `out_has` is 0 where it has none, or those of other code.
tapml_status calibration_find(struct store *store,
                              const struct calibration *calibration,
                              struct judge_limits *out_limits,
                              int *out_has) STATUS_USED;

tapml_status calibration_keep(struct store *store,
                              const struct calibration *calibration,
                              const struct judge_limits *limits) STATUS_USED;
