// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What is known of the plans of a run without running one: the model and the places of the run,
// where each operator may run, what it takes there as its cases have taken, and what a plan moves
// and needs of memory, by compiling it (exec/step_count.h).
//
// An operator may run at a place where each of its cases has passed there, with results that are
// fresh, where the run has not blamed it, and where the place does not refuse it; on the source
// always.
//
// One thread, that of the backends. Failures are those of the run's store, the model and the
// backends, and TAPML_NO_MEMORY.
#pragma once

#include "choose/plan_build.h"
#include "choose/plan_columns.h"
#include "choose/plan_pool.h"
#include "choose/plan_times.h"
#include "config/options.h"
#include "run/plan_setup.h"
#include "run/text_setup.h"

// The options of commands about plans, beside those of each. A plan's places are those of its run.
#define PLAN_GROUND_OPTIONS TEXT_SETUP_OPTIONS, SETUP_OPTIONS

struct plan_ground_options {
    const char *program;
    const struct options *given; // Of PLAN_GROUND_OPTIONS and others.
    const char *folder;          // Of the run.
    const char *text;            // In place of --text where that is absent; or NULL.
};

// Why operators may not run at a place.
struct plan_ground_place {
    uint32_t may_run;   // Operators.
    uint32_t failed;    // Those that are blamed, or of which a case has failed,
    uint32_t unknown;   // without a fresh result of some case,
    uint32_t refused;   // and refused by the backend.
    const char *reason; // Of the first refusal; or NULL.
    struct plan_times times;
};

struct plan_ground {
    struct plan_ground_options from;
    struct options options; // Of contenders (run/contender.h) of the run.
    const char *plan;       // A path in the run's folder, by which they find the run.
    struct arena *arena;
    struct setup setup;
    struct plan_setup plan_setup;
    struct model_options model;
    struct session *session; // By chunks as those that contenders are measured on, or without a
                             // text by the run's capacity.
    int64_t capacity;        // Tokens of that.
    tapml_policy_ops question;
    const char *names[SPACE_PLACES_MAX];
    uint8_t is_reduced[SPACE_PLACES_MAX]; // Activations of the place.
    struct plan_ground_place places[SPACE_PLACES_MAX];
    struct plan_columns columns; // Of a time, until plan_ground_measure_divergence.
};

// Opens it. TAPML_PRECONDITION if the folder has no run. The caller closes it after a failure, too.
tapml_status plan_ground_open(const struct plan_ground_options *options,
                              struct plan_ground *out_ground) STATUS_USED;
void plan_ground_close(struct plan_ground *ground);

// From now on the columns are those of a divergence, or those of a time again.
tapml_status plan_ground_measure_divergence(struct plan_ground *ground) STATUS_USED;
tapml_status plan_ground_measure_time(struct plan_ground *ground) STATUS_USED;

// What a plan comes to: the `look` of choose/plan_pool.h, whose user is the ground.
tapml_status
plan_ground_look(void *user, const uint8_t *places, struct plan_look *io_look) STATUS_USED;

// The places of all operators in a decode under a plan: as it says, with refused operators on the
// source. TAPML_NOT_FOUND as plan_resolve says.
tapml_status plan_ground_resolve(struct plan_ground *ground,
                                 const struct plan *plan,
                                 uint8_t *out_places) STATUS_USED;

// Fails with TAPML_UNAVAILABLE, and the reason, if no operator may run away from the source, or no
// place but the source has room for any in `memory_bytes` (0: no bound).
tapml_status plan_ground_check(struct plan_ground *ground, uint64_t memory_bytes) STATUS_USED;
