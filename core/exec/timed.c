// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/timed.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/stages.h"

#include <stdio.h>
#include <string.h>

// It forwards the making of buffers, so that the checks of the façade are the inner one's.
struct timed {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct timed *`.
    struct backend_vt vt;
    struct timeline_track *track; // NULL: nothing is drawn.
    int is_source, works_in_call;
    struct timed_figures figures;
    uint64_t counted;    // Bytes when the curves were drawn last.
    uint64_t busy_since; // 0: all that it was given has been waited for.
    uint64_t called_at;  // The first call, which was not waited for; 0: none, or none any more.
    uint64_t signalled;  // The last point,
    int is_beyond;       // and whether it was given work behind it.
};

static const char CALL[] = "call", TRANSFER[] = "transfer", WAIT[] = "wait";

static struct timed *timed_of(struct backend *backend)
{
    return (struct timed *)backend;
}

// -- The account -------------------------------------------------------------------------------

// It is given something at `begin_ns`.
static void begin_work(struct timed *timed, uint64_t begin_ns)
{
    if (timed->busy_since == 0) {
        timed->busy_since = begin_ns;
    }
    timed->is_beyond = 1;
}

static void begin_call(struct timed *timed, uint64_t begin_ns)
{
    begin_work(timed, begin_ns);
    if (timed->figures.first_ns == 0 && timed->called_at == 0) {
        timed->called_at = begin_ns;
    }
}

// The host has waited for all of it, or for a part.
static void end_work(struct timed *timed, int is_all)
{
    const uint64_t now_ns = clock_now_ns();
    if (timed->busy_since == 0) {
        return;
    }
    timed->figures.busy_ns += now_ns - timed->busy_since;
    timed->busy_since = is_all ? 0 : now_ns;
    if (timed->called_at != 0) {
        timed->figures.first_ns = now_ns - timed->called_at;
        timed->called_at = 0;
    }
}

// What is asked of the source is all one stage.
static enum stages_kind stage_of(const struct timed *timed, enum stages_kind kind)
{
    return timed->is_source ? STAGES_SOURCE : kind;
}

// -- What is asked -----------------------------------------------------------------------------

// Puts down what began at `begin_ns`, whatever came of it.
static tapml_status put(const struct timed *timed,
                        uint64_t begin_ns,
                        const struct timeline_span *span,
                        tapml_status status)
{
    timeline_end(timed->track, begin_ns, span);
    return status;
}

// A worker is asked, and answers.
static tapml_status timed_supports(struct backend *backend,
                                   const struct compiled_op *schema,
                                   const tapml_value *args,
                                   tapml_support *answer)
{
    const struct timed *timed = timed_of(backend);
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_LAUNCH));
    const tapml_status status = backend_supports(timed->wrapper.inner, schema, args, answer);
    stages_return(before, 0);
    return status;
}

static tapml_status timed_write(struct backend *backend,
                                tapml_object *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    begin_work(timed, begin_ns);
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_UPLOAD));
    const tapml_status status = backend_write(timed->wrapper.inner, buffer, offset, source, size);
    stages_return(before, size);
    timed->figures.sent += size;
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "write", .bytes = size}, status);
}

static tapml_status timed_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    begin_work(timed, begin_ns);
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_FETCH));
    const tapml_status status = backend_read(timed->wrapper.inner, buffer, offset, target, size);
    stages_return(before, size);
    timed->figures.received += size;
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "read", .bytes = size}, status);
}

static tapml_status timed_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    begin_work(timed, begin_ns);
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_UPLOAD));
    const tapml_status status = backend_fill(timed->wrapper.inner, buffer, offset, size, pattern);
    stages_return(before, size);
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "fill", .bytes = size}, status);
}

static tapml_status timed_copy(struct backend *backend, const struct backend_copy *copy)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    begin_work(timed, begin_ns);
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_LAUNCH));
    const tapml_status status = backend_copy(timed->wrapper.inner, copy);
    stages_return(before, copy->size);
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "copy", .bytes = copy->size},
               status);
}

static tapml_status timed_map(struct backend *backend,
                              tapml_object *buffer,
                              uint64_t offset,
                              uint64_t size,
                              const void **out_memory)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    begin_work(timed, begin_ns);
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_FETCH));
    const tapml_status status = backend_map(timed->wrapper.inner, buffer, offset, size, out_memory);
    stages_return(before, size);
    end_work(timed, 1); // No work is pending where a buffer is shown.
    timed->figures.received += size;
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "map", .bytes = size}, status);
}

static tapml_status timed_call(struct backend *backend, const struct backend_call *call)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    begin_call(timed, begin_ns);
    const enum stages_kind before =
        stages_enter(stage_of(timed, timed->works_in_call ? STAGES_DEVICE : STAGES_LAUNCH));
    const tapml_status status = backend_call(timed->wrapper.inner, call);
    stages_return(before, 0);
    return put(
        timed, begin_ns,
        &(struct timeline_span){.kind = CALL, .name = call->op->name, .detail = call->instance},
        status);
}

static tapml_status timed_aside(struct backend *backend, struct backend_aside *io_aside)
{
    struct timed *timed = timed_of(backend);
    timed->figures.sent += io_aside->kind == BACKEND_ASIDE_WRITE ? io_aside->size : 0;
    return backend_aside(timed->wrapper.inner, io_aside);
}

static tapml_status timed_flush(struct backend *backend)
{
    const struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_LAUNCH));
    const tapml_status status = backend_flush(timed->wrapper.inner);
    stages_return(before, 0);
    return put(timed, begin_ns, &(struct timeline_span){.kind = "submit", .name = "flush"}, status);
}

// The curves of what was moved so far, where anything was.
static void draw_bytes(struct timed *timed)
{
    if (timed->figures.sent + timed->figures.received != timed->counted) {
        timed->counted = timed->figures.sent + timed->figures.received;
        timeline_count(timed->track, "bytes written", timed->figures.sent);
        timeline_count(timed->track, "bytes read", timed->figures.received);
    }
}

static tapml_status timed_wait(struct backend *backend)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_DEVICE));
    const tapml_status status = backend_wait(timed->wrapper.inner);
    stages_return(before, 0);
    end_work(timed, 1);
    timeline_end(timed->track, begin_ns, &(struct timeline_span){.kind = WAIT, .name = "wait"});
    draw_bytes(timed);
    return status;
}

static tapml_status timed_signal(struct backend *backend, struct backend_point *out_point)
{
    struct timed *timed = timed_of(backend);
    TAPML_TRY(backend_signal(timed->wrapper.inner, out_point));
    timed->signalled = out_point->value;
    timed->is_beyond = 0;
    return TAPML_OK;
}

static tapml_status timed_wait_for(struct backend *backend, struct backend_point point)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = clock_now_ns();
    const enum stages_kind before = stages_enter(stage_of(timed, STAGES_DEVICE));
    const tapml_status status = backend_wait_for(timed->wrapper.inner, point);
    stages_return(before, 0);
    end_work(timed, !timed->is_beyond && point.value >= timed->signalled);
    timeline_end(timed->track, begin_ns,
                 &(struct timeline_span){.kind = WAIT, .name = "wait for a point"});
    draw_bytes(timed);
    return status;
}

static void timed_release(struct backend *backend)
{
    alloc_free(timed_of(backend));
}

tapml_status timed_track(struct timeline *timeline,
                         const struct place_settings *settings,
                         const char *name,
                         struct timeline_track **out_track)
{
    char process[TIMELINE_DETAIL];
    (void)snprintf(process, sizeof(process), "%s%s%s%s", settings->name,
                   settings->backend ? " (" : "", settings->backend ? settings->backend : "",
                   settings->backend ? ")" : "");
    return timeline_track(timeline, process, name, out_track);
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    const struct timed_options *options = user;
    struct timed *timed = alloc_new(sizeof(*timed));
    if (!timed) {
        return status_no_memory();
    }
    const tapml_status status =
        options->timeline ? timed_track(options->timeline, settings, "host", &timed->track)
                          : TAPML_OK;
    if (status != TAPML_OK) {
        alloc_free(timed);
        return status;
    }
    timed->figures.begun_ns = options->begun_ns;
    timed->figures.open_ns = clock_now_ns() - options->begun_ns;
    timed->is_source = strcmp(settings->name, "source") == 0;
    timed->works_in_call = backend_info(inner)->is_host_memory;
    timed->vt = backend_forward_vt;
    timed->vt.release = timed_release;
    timed->vt.supports = timed_supports;
    timed->vt.write = timed_write;
    timed->vt.read = timed_read;
    timed->vt.fill = timed_fill;
    timed->vt.copy = timed_copy;
    timed->vt.map = timed_map;
    timed->vt.call = timed_call;
    timed->vt.aside = timed_aside;
    timed->vt.flush = timed_flush;
    timed->vt.wait = timed_wait;
    timed->vt.signal = timed_signal;
    timed->vt.wait_for = timed_wait_for;
    timed->wrapper = (struct backend_wrapper){.backend = {.vt = &timed->vt}, .inner = inner};
    *out_backend = &timed->wrapper.backend;
    return TAPML_OK;
}

struct place_link timed_link(const struct timed_options *options)
{
    return (struct place_link){
        .kind = PLACE_TIMED, .create = make_link, .user = (void *)(uintptr_t)options};
}

struct timed_figures timed_figures(const struct place *place)
{
    struct backend *link = place->links[PLACE_TIMED];
    return link ? timed_of(link)->figures : (struct timed_figures){.begun_ns = 0};
}
