// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A graph that runs over one or more backends, one sequence at a time.
//
// The session owns slots, states and device copies of weights. Execution is eager, op by op; a
// value that crosses backends is moved once per consumer (exec/transfer); between host-memory
// backends nothing moves. After the first step of each shape nothing is allocated.
//
// A call of one token is the phase decode; everything else is prefill.
#pragma once

#include "device/backend.h"
#include "exec/place.h"
#include "exec/schedule.h"
#include "exec/space.h"
#include "graph/graph.h"
#include "plugin/model.h"

enum { SESSION_PLACES_MAX = SPACE_PLACES_MAX };

struct session;
struct text;

struct session_options {
    struct model *model; // Borrowed.

    // Open ones, the first of which is the source. Borrowed. Sessions share the weights of a place;
    // a place without them gets those of the session.
    struct place *const *places;
    uint32_t place_count;
    const struct plan *plan; // Copied.
    int64_t capacity;        // Rows of the states: tokens of a sequence at most.
    int64_t chunk;           // Tokens of a call at most.

    // For places without room for all weights: each is there while its ops of a call run.
    int releases_weights;
};

tapml_status session_create(const struct session_options *options,
                            struct session **out_session) STATUS_USED;
void session_destroy(struct session *session);

// Takes another plan over the same backends. States keep their values; refusals are counted anew.
tapml_status session_set_plan(struct session *session, const struct plan *plan) STATUS_USED;

// Begins a new sequence whose prompt will have `length` tokens: states get their initial values,
// position 0.
tapml_status session_begin(struct session *session, int64_t length) STATUS_USED;

// Gives a user's input beside the ids ("token_type_ids") for the steps that follow, or NULL to go
// back to its fallback. Copied.
tapml_status session_set_input(struct session *session,
                               const char *name,
                               const void *data,
                               uint64_t bytes) STATUS_USED;

// Runs `count` tokens (at most `chunk`) at the next position. `rows` are the tokens of this call
// whose logits are wanted, in order; NULL: all. Ids outside of what the ops declare, calls longer
// than `chunk` and positions beyond the capacity are refused, and the sequence can go on; where an
// op fails, a new one has to begin. The message names the op: "layers.3/attn/q_proj (tapml.linear)
// on gpu: ...". What is queued last may be held back until an output or the next step asks for it.
tapml_status session_step(struct session *session,
                          const int32_t *ids,
                          int64_t count,
                          const int32_t *rows,
                          int64_t row_count) STATUS_USED;

// Runs any number of tokens in calls of at most `chunk`, wanting only the last one's logits.
tapml_status session_feed(struct session *session, const int32_t *ids, int64_t count) STATUS_USED;

// The values of an output after the last step, dense, as f32 in memory of the session that lives
// until the next step; waits for them. `out_shape` has TAPML_MAX_RANK entries.
tapml_status session_output(struct session *session,
                            const char *name,
                            const float **out_values,
                            int64_t *out_shape,
                            uint32_t *out_rank) STATUS_USED;

// The id of the largest logit in the last row of "logits"; ties: the lowest id. TAPML_INVALID where
// a logit is NaN.
tapml_status session_greedy(struct session *session, int32_t *out_id) STATUS_USED;

int64_t session_position(const struct session *session);

// Appends the steps (exec/program), one a line, of a call of `count` tokens (1 .. `chunk`) at the
// present position which wants the last row's logits. Nothing is run or uploaded.
tapml_status
session_print_steps(struct session *session, int64_t count, struct text *out_text) STATUS_USED;

// The refusals of planned backends (exec/schedule): each (op, place) once, in the order of the
// graph, as far as the present plan has been run. Valid until the next step.
uint32_t session_refusal_count(const struct session *session);
const struct schedule_refusal *session_refusal_at(const struct session *session, uint32_t index);

// Of an op since the session was made: calls on each place, and the time spent in them, which on an
// asynchronous device is that of handing over.
uint64_t session_calls(const struct session *session, uint32_t op, uint32_t place);
uint64_t session_executions(const struct session *session); // Calls of all ops on all places.
uint64_t session_time_ns(const struct session *session, uint32_t op, uint32_t place);
