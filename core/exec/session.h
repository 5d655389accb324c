// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A graph that runs over one or more backends, one sequence at a time.
//
// The session owns slots, states and device copies of weights. Steps are queued on all places at
// once (exec/dispatch); a value that crosses backends is moved once per consumer (exec/transfer);
// between host-memory backends nothing moves. After the first step of each shape nothing is
// allocated, unless a place has a budget that its weights exceed (exec/allowance).
//
// A call of one token is the phase decode; everything else is prefill.
//
// One thread, that of the backends. Failures are those of the backends and of the model plugin,
// TAPML_NO_MEMORY, and those that a function names.
#pragma once

#include "device/backend.h"
#include "exec/persist.h"
#include "exec/place.h"
#include "exec/schedule.h"
#include "exec/space.h"
#include "graph/graph.h"
#include "model/prompts.h"
#include "plugin/model.h"

enum { SESSION_PLACES_MAX = SPACE_PLACES_MAX };

struct ring;
struct session;
struct step_count;
struct text;

struct session_options {
    struct model *model; // Borrowed.

    // Open places, the first is the source. Borrowed. Sessions share the weights of a place; for a
    // place without weights the session owns a set.
    struct place *const *places;
    uint32_t place_count;
    const struct plan *plan; // Copied.
    int64_t capacity;        // Rows of the states: tokens of a sequence at most.
    int64_t chunk;           // Tokens of a call at most.

    // For places without room for all weights: a weight is uploaded before the ops of a call that
    // read it, and released after them.
    int releases_weights;
};

// The caller owns the session; what it borrows outlives it. TAPML_INVALID if a capacity, a chunk or
// the number of places is out of range, TAPML_PRECONDITION or TAPML_UNIMPLEMENTED if a weight
// cannot be used; else as `plan_resolve` and `input_set_create` fail.
tapml_status session_create(const struct session_options *options,
                            struct session **out_session) STATUS_USED;
// Waits for the places and frees the session. Accepts NULL.
void session_destroy(struct session *session);

// Replaces the plan; the places stay. States keep their values, and refusals are counted anew.
// Fails as `plan_resolve` does; the old plan then stays.
tapml_status session_set_plan(struct session *session, const struct plan *plan) STATUS_USED;

// Begins a new sequence whose prompt will have `length` tokens: states get their initial values,
// the position is 0. TAPML_INVALID if the prompt is longer than the capacity.
tapml_status session_begin(struct session *session, int64_t length) STATUS_USED;

// Sets a user's input beside the ids ("token_type_ids") for the steps that follow: `bytes` bytes,
// copied. NULL sets it back to its fallback. TAPML_NOT_FOUND if the graph has no such input.
tapml_status session_set_input(struct session *session,
                               const char *name,
                               const void *data,
                               uint64_t bytes) STATUS_USED;

// Gives what the next prompt has beside its ids, from the next session_begin on: inputs of the user
// as `session_set_input`, and rows of parts of the graph; copied. Rows of a prompt before are taken
// back. Fails as `session_set_input`.
tapml_status session_give(struct session *session, const struct prompt_givens *given) STATUS_USED;

// Runs `count` tokens (at most `chunk`) at the next position. `rows` are the tokens of this call
// whose logits are wanted, in order; NULL: all. Ids outside of what the ops declare, calls longer
// than `chunk` and positions beyond the capacity are TAPML_INVALID, and the sequence can continue.
// If an op fails, a new sequence has to begin: TAPML_PRECONDITION until then. The message names the
// failed op that stands first in the graph: "layers.3/attn/q_proj (tapml.linear) on gpu: ...".
// Calls that are queued last may start, and fail, only when an output or the next step needs them.
// TAPML_NO_MEMORY if an op needs more than the budget of its place.
tapml_status session_step(struct session *session,
                          const int32_t *ids,
                          int64_t count,
                          const int32_t *rows,
                          int64_t row_count) STATUS_USED;

// The op, an index into the graph, that the message of a failed step or output names: others may
// have been called behind it. GRAPH_NONE if it names none.
uint32_t session_failed_op(const struct session *session);

// Runs any number of tokens in calls of at most `chunk`, with logits of the last token only. Fails
// as `session_step` does.
tapml_status session_feed(struct session *session, const int32_t *ids, int64_t count) STATUS_USED;

// Goes back to an earlier position of the sequence, as where drafted tokens are dropped: the next
// step is at `position`. Rows of states behind it stay as they are until they are written anew.
// TAPML_UNIMPLEMENTED names an op with a state that goes as a whole from token to token;
// TAPML_INVALID if the sequence has not come as far, TAPML_PRECONDITION behind a step that failed.
tapml_status session_rewind(struct session *session, int64_t position) STATUS_USED;

// The values of an output after the last step, dense, as f32 in memory of the session that lives
// until the next step; waits for them. `out_shape` has TAPML_MAX_RANK entries. TAPML_NOT_FOUND if
// the graph has no such output, TAPML_PRECONDITION before the first step.
tapml_status session_output(struct session *session,
                            const char *name,
                            const float **out_values,
                            int64_t *out_shape,
                            uint32_t *out_rank) STATUS_USED;

// The values of a state of f32 after the last step, dense, all its rows, in memory of the session
// that lives until the next step; waits for them. TAPML_NOT_FOUND if the graph has no such state,
// TAPML_PRECONDITION if it is of another type or before the first step.
tapml_status session_state(struct session *session,
                           const char *name,
                           const float **out_values,
                           uint64_t *out_row_values) STATUS_USED;

// The id of the largest logit in the last row of "logits"; ties: the lowest id. TAPML_INVALID if a
// logit is NaN.
tapml_status session_greedy(struct session *session, int32_t *out_id) STATUS_USED;

// Tokens of the sequence so far, which is the position of the next one.
int64_t session_position(const struct session *session);

// Appends the steps (exec/program), one a line, of a call of `count` tokens (1 .. `chunk`) at the
// current position, with logits of the last row. Nothing is run or uploaded.
tapml_status
session_print_steps(struct session *session, int64_t count, struct text *out_text) STATUS_USED;

// Counts what a call of `count` tokens (1 .. `chunk`) at the current position would do with each op
// at the place of `places` (op_count of them): moves and memory (exec/step_count). NULL: where the
// present plan has them, refusals taken into account. Nothing is run or uploaded.
tapml_status session_count_steps(struct session *session,
                                 const uint8_t *places,
                                 int64_t count,
                                 struct step_count *out_count) STATUS_USED;

// The ring of a place, which lives as long as the session; NULL: it has none.
const struct ring *session_ring(const struct session *session, uint32_t place);

// The refusals of planned backends (exec/schedule): each (op, place) once, in the order of the
// graph, as far as the present plan has been run. Valid until the next step.
uint32_t session_refusal_count(const struct session *session);
const struct schedule_refusal *session_refusal_at(const struct session *session, uint32_t index);

// Since the session was created: the calls of an op on a place, and their time in ns. On an
// asynchronous device that is the time to queue them.
uint64_t session_calls(const struct session *session, uint32_t op, uint32_t place);
uint64_t session_executions(const struct session *session); // Calls of all ops on all places.
uint64_t session_time_ns(const struct session *session, uint32_t op, uint32_t place);

// Begins work of a session (exec/persist) that stands on the backends of all its places.
void session_persist(const struct session *session, struct persist *out_persist);
