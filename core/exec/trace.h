// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tracer: a backend that wraps a backend and counts calls, launches and time of every op.
//
// It waits after each call, so that the time is the op's own: meant for runs that measure, since it
// makes a run slower. One thread, that of the inner backend.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"

#include <stddef.h>

struct trace;

struct trace_line {
    const tapml_op *op;
    uint64_t calls;
    uint64_t launches;
    uint64_t time_ns;
};

// `inner` is borrowed. The caller owns the trace, whose backend is `trace_backend`; `trace_destroy`
// accepts NULL. TAPML_NO_MEMORY is its one failure.
tapml_status trace_create(struct backend *inner, struct trace **out_trace) STATUS_USED;
void trace_destroy(struct trace *trace);
struct backend *trace_backend(struct trace *trace);

// The same as a link of a chain (exec/place), which owns the trace; `*out_trace` is set when the
// chain is made.
struct place_link trace_link(struct trace **out_trace);

// One line for each op that was called, in the order of their first calls. `trace_at` is valid
// until the next call.
size_t trace_count(const struct trace *trace);
const struct trace_line *trace_at(const struct trace *trace, size_t index);

// The line of an op, valid until the next call; NULL if it was not called.
const struct trace_line *trace_find(const struct trace *trace, const tapml_op *op);
