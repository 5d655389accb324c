// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What is left of a run of a program in which something has failed.
//
// Steps are queued ahead, so a failure is heard of late, perhaps behind that of an op which stands
// later in the graph. From the step that failed on, its place does nothing more in this run: what
// was queued there is gone. (A call on host memory that returns a failure is the one step that is
// lost: there is no queue.) What these steps would have written is poisoned, and so is all that is
// computed of it at any place; steps that need something poisoned are left out. All others run, so
// that each place comes to an end, and the first cause is the failed op that stands first in the
// graph: the one at which a host would have stopped that waits after each op.
//
// Values are poisoned in spaces: one that arrived in host memory is good there, if its place fails
// later.
//
// One thread. Nothing allocates behind `aftermath_create`.
#pragma once

#include "exec/binding.h"
#include "exec/program.h"
#include "exec/space.h"

struct aftermath;

// All are borrowed: one binding for each op.
struct aftermath_options {
    const struct graph *graph;
    const struct space_set *spaces;
    const struct binding *bindings;
};

// The caller owns the object; `aftermath_destroy` accepts NULL. TAPML_NO_MEMORY is its one failure.
tapml_status aftermath_create(const struct aftermath_options *options,
                              struct aftermath **out_aftermath) STATUS_USED;
void aftermath_destroy(struct aftermath *aftermath);

// Begins a run, in which nothing has failed.
void aftermath_begin(struct aftermath *aftermath);

// Whether something has failed in the run.
int aftermath_any(const struct aftermath *aftermath);

// Notes the failure `status` of a place, with the thread's message; nothing is queued there any
// more. `queued` are the steps of the program in front of the one at which it was heard of. `op` is
// the op whose call returned it, or GRAPH_NONE: then it is the one at `place` whose instance the
// message names; if it names none, all that the place has done in this run is poisoned. Returns 0
// if it is nothing new: of what a queue has lost the first failure counts.
int aftermath_note(struct aftermath *aftermath,
                   const struct program *program,
                   uint32_t queued,
                   uint32_t place,
                   uint32_t op,
                   tapml_status status);

// Whether the step `index`, the next one, is left out; to be asked for each step behind the first
// failure.
int aftermath_skip(struct aftermath *aftermath, const struct program *program, uint32_t index);

// Whether a base value is poisoned in host memory, at a place (SPACE_NO_PLACE: in host memory).
int aftermath_is_poisoned(const struct aftermath *aftermath, uint32_t value, uint32_t place);

// The op of the first cause; GRAPH_NONE if nothing has failed, or if it is not known.
uint32_t aftermath_op(const struct aftermath *aftermath);

// The status of the first cause, with its message: "INSTANCE (OP) on PLACE: ...". TAPML_OK if
// nothing has failed.
tapml_status aftermath_status(const struct aftermath *aftermath);
