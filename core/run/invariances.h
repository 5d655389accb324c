// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What [check] of a run's file asks of a target (verify/invariance.h), as a job of it: with its
// progress, and a second queue on its device, which is another place with the same settings.
//
// One thread. Failures are those of verify/invariance.h; that the second place cannot be opened is
// none.
#pragma once

#include "verify/invariance.h"

struct place;
struct run_lock;
struct setup;

struct invariances_options {
    struct setup *setup;
    const struct place *target;             // Open, and in use.
    const struct verdict_options *verdicts; // As for a replay on it.
    const struct verdict_list *list;        // Of kept cases on it.
    struct invariance_settings settings;    // Nothing asked: what the store has is deleted.
    struct run_lock *lock;
};

tapml_status invariances_judge(const struct invariances_options *options) STATUS_USED;
