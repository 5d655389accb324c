// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// End to end: does a session compute what the source computes?
//
// Every prompt is run step by step, teacher-forced along the source's greedy ids, so that one
// divergence does not hide the next. Judged are the KL divergence of the logits and the top-1 of
// every step; a graph without logits is judged by the NMSE of its outputs after the prefill. Limits
// come from runs of the model on the devices that calibrate: 8 times what those diverge from the
// source.
//
// One thread. Failures are those of the sessions that run the model.
#pragma once

#include "base/hash.h"
#include "exec/session.h"

struct judge;

struct judge_prompt {
    const int32_t *ids;
    int64_t count;
    const int32_t *greedy; // What the source chose, one after each step.
    int64_t greedy_count;
    const char *text; // For sentences.
    struct hash id;   // In the store.
};

struct judge_options {
    struct session *source; // All on the source. Borrowed.
    const struct graph *graph;
    const struct judge_prompt *prompts; // Borrowed.
    size_t prompt_count;
    size_t kept_count; // The first so many prompts are judged often: their source logits are kept.
};

tapml_status judge_create(const struct judge_options *options,
                          struct judge **out_judge) STATUS_USED;
void judge_destroy(struct judge *judge);

struct judge_result {
    int agrees;
    double margin;       // observed / limit, the worst of all steps.
    double distance;     // The largest KL, or NMSE.
    int64_t divergences; // Steps with another top-1.
    size_t prompt;       // Where it diverges first:
    int64_t step;        // the prompt's index, and the step.
    uint64_t executions; // Of ops, for all of this.
    char sentence[256];  // Where it diverges first and how; or how far it stayed within the limit.
};

typedef tapml_status (*judge_progress_fn)(void *user, size_t done, size_t all);

// Runs the first `prompt_count` prompts through `session`. Failures of a backend are results that
// do not agree, with the message; what ends all (status_ends_all) is a status.
tapml_status judge_run(struct judge *judge,
                       struct session *session,
                       size_t prompt_count,
                       judge_progress_fn progress,
                       void *user,
                       struct judge_result *out_result) STATUS_USED;

// The same for one prompt alone, of which the first `steps` steps are run.
tapml_status judge_run_prompt(struct judge *judge,
                              struct session *session,
                              size_t prompt,
                              int64_t steps,
                              struct judge_result *out_result) STATUS_USED;

// What a judge allows.
struct judge_limits {
    double distance; // The KL divergence of the logits, or the NMSE of the outputs.
    double tie;      // Logits that are nearer than this may come in any order.
};

// What `variant`, a session on a device that calibrates, allows others by how far it diverges from
// the source over the first `prompt_count` prompts.
tapml_status judge_calibrate(struct judge *judge,
                             struct session *variant,
                             size_t prompt_count,
                             struct judge_limits *out_limits) STATUS_USED;

// Judges by the widest of `limits` from now on, and by no less than what f32 cannot tell apart.
void judge_set_limits(struct judge *judge, const struct judge_limits *limits, size_t count);

// For the report.
double judge_distance_limit(const struct judge *judge);
