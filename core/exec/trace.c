// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/trace.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

struct trace {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct trace *`.
    struct trace_line *lines;
    size_t count;
    size_t capacity;
};

static struct trace_line *find_line(const struct trace *trace, const tapml_op *op)
{
    for (size_t i = 0; i < trace->count; i++) {
        const tapml_op *known = trace->lines[i].op;

        if (known == op || (known->version == op->version && strcmp(known->name, op->name) == 0)) {
            return &trace->lines[i];
        }
    }
    return NULL;
}

static tapml_status make_line(struct trace *trace, const tapml_op *op, struct trace_line **out_line)
{
    struct trace_line *line = find_line(trace, op);

    if (line == NULL) {
        void *lines = trace->lines;

        if (!alloc_grow(&lines, &trace->capacity, trace->count, sizeof(*trace->lines))) {
            return status_no_memory();
        }
        trace->lines = lines;
        line = &trace->lines[trace->count++];
        *line = (struct trace_line){.op = op};
    }
    *out_line = line;
    return TAPML_OK;
}

static tapml_status trace_call(struct backend *backend, const struct backend_call *call)
{
    struct trace *trace = (struct trace *)backend;
    struct backend *inner = trace->wrapper.inner;
    struct trace_line *line = NULL;

    TAPML_TRY(make_line(trace, call->op, &line));
    TAPML_TRY(backend_wait(inner));
    const uint64_t launches = backend_launches(inner);
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(backend_wait(inner));
    line->time_ns += clock_now_ns() - begin_ns;
    line->launches += backend_launches(inner) - launches;
    line->calls++;
    return TAPML_OK;
}

static void trace_release(struct backend *backend)
{
    trace_destroy((struct trace *)backend);
}

tapml_status trace_create(struct backend *inner, struct trace **out_trace)
{
    // The table differs from the forwarding one by two entries; each trace has its own.
    struct trace *trace = alloc_new(sizeof(*trace) + sizeof(struct backend_vt));

    if (trace == NULL) {
        return status_no_memory();
    }
    struct backend_vt *vt = (struct backend_vt *)(trace + 1);

    *vt = backend_forward_vt;
    vt->call = trace_call;
    vt->release = trace_release;
    trace->wrapper = (struct backend_wrapper){.backend = {.vt = vt}, .inner = inner};
    *out_trace = trace;
    return TAPML_OK;
}

void trace_destroy(struct trace *trace)
{
    if (trace != NULL) {
        alloc_free(trace->lines);
        alloc_free(trace);
    }
}

struct backend *trace_backend(struct trace *trace)
{
    return &trace->wrapper.backend;
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct trace **made = user;

    (void)settings;
    TAPML_TRY(trace_create(inner, made));
    *out_backend = trace_backend(*made);
    return TAPML_OK;
}

struct place_link trace_link(struct trace **out_trace)
{
    return (struct place_link){.kind = PLACE_TRACE, .create = make_link, .user = out_trace};
}

size_t trace_count(const struct trace *trace)
{
    return trace->count;
}

const struct trace_line *trace_at(const struct trace *trace, size_t index)
{
    return &trace->lines[index];
}

const struct trace_line *trace_find(const struct trace *trace, const tapml_op *op)
{
    return find_line(trace, op);
}
