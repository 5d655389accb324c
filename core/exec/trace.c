// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/trace.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <stdatomic.h>
#include <string.h>

enum { MARKS_MAX = 256 };

// The end of some work: of a call, or of transfers before it.
struct trace_mark {
    struct backend_point point;
    size_t line; // Of the op; NO_LINE for transfers.
    uint64_t begin_ns;
    _Atomic uint64_t end_ns; // Written by the notification; 0 before it.
};

static const size_t NO_LINE = SIZE_MAX;

struct trace {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct trace *`.
    struct timeline_track *track;   // Or NULL.
    struct trace_line *lines;
    size_t count;
    size_t capacity;
    int is_waiting;      // The backend notifies of nothing.
    uint64_t last_point; // The value of the last mark's.
    uint64_t end_ns;     // Of the last mark that was taken off the ring.
    size_t mark_first, mark_count;
    struct trace_mark marks[MARKS_MAX]; // A ring, in the order of the work.
};

// Adds the time of a call to its line.
static void add_time(struct trace *trace, size_t line, uint64_t begin_ns, uint64_t end_ns)
{
    trace->lines[line].time_ns += end_ns - begin_ns;
    timeline_put(trace->track, begin_ns, end_ns,
                 &(struct timeline_span){.kind = "work", .name = trace->lines[line].op->name});
}

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

// -- Marks -------------------------------------------------------------------------------------

static void note_end(void *user, tapml_status status)
{
    struct trace_mark *mark = user;

    (void)status; // Comes out of the wait.
    atomic_store(&mark->end_ns, clock_now_ns());
}

// Takes the marks off the ring whose moments have come. Work is in order, so an op has begun when
// it was queued and the work before it was done.
static void collect(struct trace *trace)
{
    while (trace->mark_count > 0) {
        const struct trace_mark *mark = &trace->marks[trace->mark_first];
        const uint64_t end_ns = atomic_load(&mark->end_ns);
        const uint64_t begin_ns = mark->begin_ns > trace->end_ns ? mark->begin_ns : trace->end_ns;

        if (end_ns == 0) {
            return;
        }
        if (end_ns > begin_ns) { // Notifications of two threads can come in another order.
            trace->end_ns = end_ns;
            if (mark->line != NO_LINE) {
                add_time(trace, mark->line, begin_ns, end_ns);
            }
        }
        trace->mark_first = (trace->mark_first + 1) % MARKS_MAX;
        trace->mark_count--;
    }
}

// A wait for all marks has returned, or for the first one.
static tapml_status expect_end(struct trace *trace, size_t left)
{
    collect(trace);
    return trace->mark_count <= left
               ? TAPML_OK
               : status_fail(TAPML_INTERNAL, "%s: it has not notified of work that it has done",
                             backend_info(trace->wrapper.inner)->component);
}

static tapml_status make_room(struct trace *trace)
{
    if (trace->mark_count < MARKS_MAX) {
        return TAPML_OK;
    }
    TAPML_TRY(backend_wait_for(trace->wrapper.inner, trace->marks[trace->mark_first].point));
    return expect_end(trace, MARKS_MAX - 1);
}

// Marks the end of what has been queued since the last mark, if anything has. TAPML_UNIMPLEMENTED
// where the backend does not notify.
static tapml_status put_mark(struct trace *trace, uint64_t begin_ns, size_t line)
{
    struct backend *inner = trace->wrapper.inner;
    struct backend_point point;

    TAPML_TRY(backend_signal(inner, &point));
    if (point.value == trace->last_point) {
        return TAPML_OK;
    }
    TAPML_TRY(make_room(trace));
    struct trace_mark *mark = &trace->marks[(trace->mark_first + trace->mark_count) % MARKS_MAX];

    mark->point = point;
    mark->line = line;
    mark->begin_ns = begin_ns;
    atomic_store(&mark->end_ns, 0);
    TAPML_TRY(backend_flush(inner));
    TAPML_TRY(backend_notify(inner, point, note_end, mark));
    trace->mark_count++;
    trace->last_point = point.value;
    return TAPML_OK;
}

// -- The backend -------------------------------------------------------------------------------

// Sets the work before a call apart from it.
static tapml_status begin_call(struct trace *trace)
{
    if (!trace->is_waiting) {
        const tapml_status status = put_mark(trace, 0, NO_LINE);

        if (status != TAPML_UNIMPLEMENTED) {
            return status;
        }
        trace->is_waiting = 1;
    }
    return backend_wait(trace->wrapper.inner);
}

static tapml_status end_call(struct trace *trace, struct trace_line *line, uint64_t begin_ns)
{
    if (!trace->is_waiting) {
        return put_mark(trace, begin_ns, (size_t)(line - trace->lines));
    }
    TAPML_TRY(backend_wait(trace->wrapper.inner));
    add_time(trace, (size_t)(line - trace->lines), begin_ns, clock_now_ns());
    return TAPML_OK;
}

static tapml_status trace_call(struct backend *backend, const struct backend_call *call)
{
    struct trace *trace = (struct trace *)backend;
    struct backend *inner = trace->wrapper.inner;
    struct trace_line *line = NULL;

    TAPML_TRY(make_line(trace, call->op, &line));
    TAPML_TRY(begin_call(trace));
    const uint64_t launches = backend_launches(inner); // A worker's come with the wait.
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(end_call(trace, line, begin_ns));
    line->launches += backend_launches(inner) - launches;
    line->calls++;
    return TAPML_OK;
}

static tapml_status trace_wait(struct backend *backend)
{
    struct trace *trace = (struct trace *)backend;

    TAPML_TRY(backend_wait(trace->wrapper.inner));
    return expect_end(trace, 0);
}

static tapml_status trace_wait_for(struct backend *backend, struct backend_point point)
{
    struct trace *trace = (struct trace *)backend;

    TAPML_TRY(backend_wait_for(trace->wrapper.inner, point));
    collect(trace);
    return TAPML_OK;
}

static void trace_release(struct backend *backend)
{
    trace_destroy((struct trace *)backend);
}

tapml_status trace_create(struct backend *inner, struct trace **out_trace)
{
    // The table differs from the forwarding one by a few entries; each trace has its own.
    struct trace *trace = alloc_new(sizeof(*trace) + sizeof(struct backend_vt));

    if (trace == NULL) {
        return status_no_memory();
    }
    struct backend_vt *vt = (struct backend_vt *)(trace + 1);

    *vt = backend_forward_vt;
    vt->call = trace_call;
    vt->wait = trace_wait;
    vt->wait_for = trace_wait_for;
    vt->release = trace_release;
    trace->wrapper = (struct backend_wrapper){.backend = {.vt = vt}, .inner = inner};
    trace->last_point = UINT64_MAX;
    *out_trace = trace;
    return TAPML_OK;
}

void trace_destroy(struct trace *trace)
{
    if (trace != NULL) {
        if (trace->mark_count > 0) {
            (void)backend_wait(trace->wrapper.inner); // Notifications write to the marks.
        }
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

void trace_draw(struct trace *trace, struct timeline_track *track)
{
    trace->track = track;
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
