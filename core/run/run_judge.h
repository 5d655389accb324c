// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The judge of a run: its prompts with what the source answered, and the limits end to end, which
// come from runs of the model on the devices that calibrate.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "exec/plan.h"
#include "exec/session.h"
#include "offload/judge.h"

struct backend;
struct checkpoint;
struct place;
struct run_lock;
struct prompts;
struct run_config;
struct setup;
struct store;

enum { RUN_JUDGE_DEVICES_MAX = 16 };

// What a judge is made of; all borrowed, and outliving it.
struct run_judge_options {
    struct setup *setup;
    const struct run_config *config;
    struct store *store; // Of a run that has been carved.
    const struct prompts *prompts;
    const struct checkpoint *checkpoint; // Of the weights that cases refer to; or NULL.
    const struct verdict_list *refuted;  // Of a run over cases (run/store_source.h); or NULL.
    struct comparers *comparers;         // Of plugins (verify/comparers.h); or NULL.
    struct policy *policy;               // The same (plugin/policy.h).
    struct run_lock *lock;
};

// A device that calibrates.
struct run_judge_device {
    char name[256];                               // "component:device"
    char identity[HASH_TEXT];                     // Of its code (run/identity.h).
    struct judge_limits limits[ACTIVATION_COUNT]; // Of f32, and of what targets have.
};

struct run_judge {
    struct run_judge_options from;
    struct judge_prompt *prompts; // As many as there are in `from`.
    struct session *source;
    struct judge *judge;
    struct run_judge_device devices[RUN_JUDGE_DEVICES_MAX];
    size_t device_count;
    uint64_t executions; // Of ops, for the limits.
};

// Reads what the source answered and finds the limits, in the store or by running the model on each
// device that calibrates. `*out_judge` is to be closed also after a failure. Where the setup has no
// model, in a run over cases, there is nothing that could be judged end to end: the judge has what
// it is made of, and no limits.
tapml_status run_judge_open(const struct run_judge_options *options,
                            struct run_judge *out_judge) STATUS_USED;

// Accepts a judge of zeros.
void run_judge_close(struct run_judge *judge);

// Judges by what the devices that calibrate allow in the activation dtype of a target, and as it
// declares that it computes: limits of that are found then, in the store or by running the model. A
// target that is one of the devices is left out of its own calibration.
tapml_status run_judge_set_limits(struct run_judge *judge, struct backend *target) STATUS_USED;

// A session over the source and, where `other` is not NULL, one more place. The caller destroys it.
tapml_status run_judge_session(const struct run_judge *judge,
                               struct place *other,
                               const struct plan *plan,
                               struct session **out_session) STATUS_USED;
