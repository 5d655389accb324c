// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a run in a reduced dtype chooses otherwise than the same run in f32: ops that give whole
// numbers for floats, such as which experts a token takes. A near tie is a choice between scores
// that agree with those of f32, and that f32 would make over these very scores, too: the op is
// right, and roundings before it decided. What follows from it for the token, and for later ones
// through states, is the result of another expert and compares with nothing.
//
// One thread. Failures are those of the backend and TAPML_NO_MEMORY.
#pragma once

#include "exec/session.h"
#include "graph/graph.h"
#include "model/checkpoint.h"
#include "run/probe.h"

struct choices;

// `plain` is a place in f32, `tolerance` the error of a row of scores that is allowed. All is
// borrowed. The caller owns the choices; `choices_destroy` accepts NULL.
tapml_status choices_create(const struct graph *graph,
                            const struct checkpoint *checkpoint,
                            struct backend *plain,
                            double tolerance,
                            struct choices **out_choices) STATUS_USED;
void choices_destroy(struct choices *choices);

// Whether any op of the graph chooses.
int choices_are_there(const struct choices *choices);

// Whether an argument of an op has to be seen.
int choices_want(const struct choices *choices, uint32_t op, uint32_t param);

// Begins a run: that of f32, whose choices are kept, or another one, which has no ties yet.
void choices_begin(struct choices *choices, int is_plain);

// The position of the first token of the calls that follow.
void choices_set_position(struct choices *choices, int64_t position);

// Sees a call of an op.
tapml_status
choices_see(struct choices *choices, uint32_t op, const struct probe_call *call) STATUS_USED;

// A prompt, and what follows it.
struct choices_text {
    const int32_t *ids, *greedy;
    int64_t count, greedy_count;
};

// Runs a text on the first place of `options`, in f32, and keeps what it chooses. The calls of the
// session are seen by `choices_see`.
tapml_status choices_learn(struct choices *choices,
                           const struct session_options *options,
                           const struct prompt_givens *givens,
                           const struct choices_text *text) STATUS_USED;

// Whether a row of a value, that of the token at `position`, follows from a near tie.
int choices_hide(const struct choices *choices, uint32_t value, int64_t position);

// Prints a line about the near ties of this run, if there are any.
void choices_print(const struct choices *choices);
