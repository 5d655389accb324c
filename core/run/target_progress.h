// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How far the jobs of a target are (run/target_jobs.h): phase by phase, as its replays and steps
// tell it. With each case it is looked whether the device is still well, and when the last kept
// one has been judged the account of the place is told.
//
// The functions that are callbacks take the struct as `user`. One thread.
#pragma once

#include "offload/loop.h"
#include "run/place_usage.h"
#include "run/progress.h"
#include "verify/outlook.h"

struct target_health;

struct target_progress {
    // The caller's.
    const char *name; // Of the target.
    struct run_lock *lock;
    struct target_health *health;
    struct place_usage *usage;

    struct progress progress;
    struct outlook outlook; // Of the kept cases at hand.

    // The module's.
    char phase[160];
    char note[OUTLOOK_TEXT];   // The outlook in words.
    size_t judged, judged_all; // Prompts before the step at hand, and in all steps.
};

// Begins the phase "`what` NAME", which counts `unit`.
void target_progress_begin(struct target_progress *progress, const char *what, const char *unit);

// Of kept cases, and of the classes whose limits are measured before.
tapml_status target_progress_cases(void *user, size_t done, size_t all) STATUS_USED;
tapml_status target_progress_limits(void *user, size_t done, size_t all) STATUS_USED;

// Of derived cases, which are a phase of their own: they take another time.
tapml_status target_progress_derived(void *user, size_t done, size_t all) STATUS_USED;

// Of a step of the offload, and of the prompts that are judged within it again and again.
tapml_status target_progress_step(void *user, const struct loop_progress *step) STATUS_USED;
tapml_status target_progress_judged(void *user, size_t done, size_t all) STATUS_USED;
