// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Judges end to end whether a session computes what the source computes.
//
// Every prompt is run step by step, teacher-forced along the source's greedy ids, so that one
// divergence does not hide the next. The KL divergence of the logits and the top-1 id of every step
// are judged; for a graph without logits it is the NMSE of the outputs after the prefill. The
// limits are 8 times the divergence from the source of runs on the devices that calibrate.
//
// One thread. Failures are those of the sessions that run the model, and TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "exec/session.h"

struct judge;

struct judge_prompt {
    const int32_t *ids;
    int64_t count;
    struct prompt_givens given; // Beside the ids.
    const int32_t *greedy;      // What the source chose, one after each step.
    int64_t greedy_count;
    const char *text; // For messages.
    struct hash id;   // In the store.
};

struct judge_options {
    struct session *source; // All on the source. Borrowed.
    const struct graph *graph;
    const struct judge_prompt *prompts; // Borrowed.
    size_t prompt_count;
    size_t kept_count; // The logits of the source are kept for the first `kept_count` prompts.
};

// The caller owns the judge; `judge_destroy` accepts NULL. What the options borrow outlives it.
tapml_status judge_create(const struct judge_options *options,
                          struct judge **out_judge) STATUS_USED;
void judge_destroy(struct judge *judge);

struct judge_result {
    int agrees;
    double margin;       // observed / limit, the worst of all steps.
    double distance;     // The largest KL, or NMSE.
    int64_t divergences; // Steps with another top-1.
    size_t prompt;       // Index of the prompt that diverges first.
    int64_t step;        // The step of that prompt.
    uint64_t executions; // Op executions for this result.
    char sentence[256];  // The first divergence; or the largest distance within the limit.
};

typedef tapml_status (*judge_progress_fn)(void *user, size_t done, size_t all);

// Runs the first `prompt_count` prompts through `session`. `progress`, which may be NULL, is called
// after each prompt; its failure ends the judging. A failure of a backend is a result that does not
// agree, with the message; a failure that ends everything (status_ends_all) is a status.
tapml_status judge_run(struct judge *judge,
                       struct session *session,
                       size_t prompt_count,
                       judge_progress_fn progress,
                       void *user,
                       struct judge_result *out_result) STATUS_USED;

// The same for the first `steps` steps of one prompt.
tapml_status judge_run_prompt(struct judge *judge,
                              struct session *session,
                              size_t prompt,
                              int64_t steps,
                              struct judge_result *out_result) STATUS_USED;

// What a judge allows.
struct judge_limits {
    double distance; // The KL divergence of the logits, or the NMSE of the outputs.
    double tie;      // Logits that differ by less may come in any order.
};

// Computes limits from the divergence of `variant`, a session on a device that calibrates, from the
// source over the first `prompt_count` prompts.
tapml_status judge_calibrate(struct judge *judge,
                             struct session *variant,
                             size_t prompt_count,
                             struct judge_limits *out_limits) STATUS_USED;

// Sets the limits to the widest of `limits`, and to at least what f32 can resolve.
void judge_set_limits(struct judge *judge, const struct judge_limits *limits, size_t count);

// The limit of the distance, for the report.
double judge_distance_limit(const struct judge *judge);
