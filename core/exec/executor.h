// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Executes programs: binds the arguments of each call, queues it at its place, and moves, casts and
// waits as the steps say. Allocates nothing after the first run of a program.
//
// A failure ends the run when all that does not depend on it is done (exec/aftermath): then no
// place has work, its buffers are valid, and the message is that of the first cause.
//
// One thread. Failures are those of the backends and TAPML_NO_MEMORY.
#pragma once

#include "exec/binding.h"
#include "exec/program.h"
#include "exec/residency.h"
#include "exec/value.h"

struct executor;

// All are borrowed: one binding for each op.
struct executor_options {
    const struct graph *graph;
    struct space_set *spaces;
    struct value_set *values;
    struct binding *bindings;
};

// The caller owns the executor; `executor_destroy` accepts NULL.
tapml_status executor_create(const struct executor_options *options,
                             struct executor **out_executor) STATUS_USED;
void executor_destroy(struct executor *executor);

// Prepares the executor for a new program and sets its `serial`. The caller keeps the program.
tapml_status executor_adopt(struct executor *executor, struct program *program) STATUS_USED;

// Runs an adopted program for the call at `point`; its inputs are valid in host memory. Arguments
// that do not change with the position stay bound from call to call while program and shapes are
// the same. Work may still be queued when it returns. The message of a failed call names op,
// instance and place. Exhausted memory and a cancelled run end it at once.
tapml_status executor_run(struct executor *executor,
                          const struct program *program,
                          const struct affine_point *point) STATUS_USED;

// Where what was queued by the last run has failed with `status`, in something else that waits for
// it: waits for all places. Returns the first cause.
tapml_status executor_settle(struct executor *executor, tapml_status status) STATUS_USED;

// The op of the first cause of the last run's failure; GRAPH_NONE if it is not known.
uint32_t executor_failed_op(const struct executor *executor);

// Forgets the last run: its program is destroyed.
void executor_forget(struct executor *executor);

// Whether a base value of the last run depends on something that has failed, as
// `aftermath_is_poisoned`.
int executor_is_poisoned(const struct executor *executor, uint32_t value, uint32_t place);

// Since the executor was created: the calls of an op on a place, and their time in ns. On an
// asynchronous device that is the time to queue them.
uint64_t executor_calls(const struct executor *executor, uint32_t op, uint32_t place);
uint64_t executor_time_ns(const struct executor *executor, uint32_t op, uint32_t place);
