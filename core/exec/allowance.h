// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The bytes that a model may take on a device, held before each step is queued.
//
// A place can have a budget (exec/place): for the weights that lie on its device and for the
// buffers of states and values of a session. A step that needs more than is left waits until what
// is queued there is done; then weights and buffers are freed that no later step of the run needs,
// and if these are not enough, weights that are needed again: those whose turn comes last. They are
// uploaded again in their turn. States stay, and so do values that are still to be read. A program
// with a step that could not run then is refused before its first step.
//
// Weights are shared by the sessions and replays of a place, buffers of other sessions are not
// counted. Without a budget nothing of this costs anything.
//
// One thread. Failures are those of the backends, TAPML_NO_MEMORY, and those that a function names.
#pragma once

#include "exec/binding.h"
#include "exec/program.h"
#include "exec/space.h"
#include "exec/value.h"

struct allowance;

// All are borrowed: one binding for each op.
struct allowance_options {
    const struct graph *graph;
    struct space_set *spaces;
    struct value_set *values;
    const struct binding *bindings;
};

// The caller owns the object; `allowance_destroy` accepts NULL.
tapml_status allowance_create(const struct allowance_options *options,
                              struct allowance **out_allowance) STATUS_USED;
void allowance_destroy(struct allowance *allowance);

// TAPML_NO_MEMORY if a step of the program, just compiled, needs more bytes at once than the budget
// of its place; the message names op, place and bytes.
tapml_status allowance_check(struct allowance *allowance,
                             const struct program *program) STATUS_USED;

// Makes room for the step `index` of a program, whose earlier ones are queued. `*out_is_freed` is
// set if something was freed: what is bound to buffers is bound anew.
tapml_status allowance_admit(struct allowance *allowance,
                             const struct program *program,
                             uint32_t index,
                             int *out_is_freed) STATUS_USED;

// Whether a weight can be uploaded to a place before its turn, without anything being freed.
int allowance_has_room(const struct allowance *allowance,
                       uint32_t place,
                       const struct resident *resident);
