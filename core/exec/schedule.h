// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where each op of a call runs: the plan's place, or the source where that one refuses.
//
// A backend is asked once for each op and shape class (T and R exact, P + T rounded up to a power
// of two, at its upper end), and the answer is kept.
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

// All ops on the source until a plan is set. The caller owns the schedule.
tapml_status schedule_create(const struct schedule_options *options,
                             struct schedule **out_schedule) STATUS_USED;
void schedule_destroy(struct schedule *schedule);

// Forgets the refusals, but not what was answered.
tapml_status schedule_set_plan(struct schedule *schedule, const struct plan *plan) STATUS_USED;

// The place of each op in a call of a shape class.
struct schedule_answer {
    const uint8_t *places; // Until the next question or plan.
    uint64_t plan_number;  // Of the plan, counted from 1 up.
};

// TAPML_UNIMPLEMENTED where the source refuses.
tapml_status schedule_ask(struct schedule *schedule,
                          const struct affine_point *point,
                          struct schedule_answer *out_answer) STATUS_USED;

// An op that its planned backend refused and that ran on the source instead.
struct schedule_refusal {
    uint32_t op; // In the graph.
    uint32_t place;
    char reason[128];
};

// Each (op, place) once, in the order of the graph, as far as the present plan was asked for. Valid
// until the next question or plan.
uint32_t schedule_refusal_count(const struct schedule *schedule);
const struct schedule_refusal *schedule_refusal_at(const struct schedule *schedule, uint32_t index);
