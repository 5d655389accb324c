// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where each op of a call runs: the plan's place, or the source if that place refuses it.
//
// A backend is asked once for each op and shape class (T and R exact, P + T rounded up to a power
// of two, at its upper end), and the answer is kept.
//
// One thread. Failures are TAPML_NO_MEMORY and those that a function names.
#pragma once

#include "exec/binding.h"
#include "exec/plan.h"
#include "exec/space.h"
#include "graph/graph.h"

struct schedule;
struct value_set;

// All are borrowed: one binding for each op.
struct schedule_options {
    const struct graph *graph;
    const struct space_set *spaces;
    const struct value_set *values;
    struct binding *bindings;
};

// All ops are on the source until a plan is set. The caller owns the schedule; `schedule_destroy`
// accepts NULL.
tapml_status schedule_create(const struct schedule_options *options,
                             struct schedule **out_schedule) STATUS_USED;
void schedule_destroy(struct schedule *schedule);

// Replaces the plan, which is copied, and forgets the refusals; the answers of backends stay. Fails
// as `plan_resolve` does; the old plan then stays.
tapml_status schedule_set_plan(struct schedule *schedule, const struct plan *plan) STATUS_USED;

// The place of each op in a call of a shape class.
struct schedule_answer {
    const uint8_t *places; // Of each op. Until the next `schedule_ask` or plan.
    uint64_t plan_number;  // Counts the plans that were set, from 1.
};

// Finds where each op of the call at `point` runs. TAPML_UNIMPLEMENTED if the source refuses an op;
// the message names op and reason.
tapml_status schedule_ask(struct schedule *schedule,
                          const struct affine_point *point,
                          struct schedule_answer *out_answer) STATUS_USED;

// An op that its planned backend refused and that ran on the source instead.
struct schedule_refusal {
    uint32_t op; // In the graph.
    uint32_t place;
    char reason[128];
};

// Each (op, place) once, in the order of the graph, of all `schedule_ask` since the plan was set.
// Valid until the next `schedule_ask` or plan.
uint32_t schedule_refusal_count(const struct schedule *schedule);
const struct schedule_refusal *schedule_refusal_at(const struct schedule *schedule, uint32_t index);
