// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/timed.h"

#include "base/alloc.h"

#include <stdio.h>

// It forwards the making of buffers, so that the checks of the façade are the inner one's.
struct timed {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct timed *`.
    struct backend_vt vt;
    struct timeline_track *track;
    uint64_t sent, received; // Bytes so far,
    uint64_t counted;        // and their sum when the curves were drawn last.
};

static const char CALL[] = "call", TRANSFER[] = "transfer", WAIT[] = "wait";

static struct timed *timed_of(struct backend *backend)
{
    return (struct timed *)backend;
}

// Puts down what began at `begin_ns`, whatever came of it.
static tapml_status put(const struct timed *timed,
                        uint64_t begin_ns,
                        const struct timeline_span *span,
                        tapml_status status)
{
    timeline_end(timed->track, begin_ns, span);
    return status;
}

static tapml_status timed_write(struct backend *backend,
                                tapml_object *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_write(timed->wrapper.inner, buffer, offset, source, size);
    timed->sent += size;
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "write", .bytes = size}, status);
}

static tapml_status timed_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_read(timed->wrapper.inner, buffer, offset, target, size);
    timed->received += size;
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "read", .bytes = size}, status);
}

static tapml_status timed_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    const struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_fill(timed->wrapper.inner, buffer, offset, size, pattern);
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "fill", .bytes = size}, status);
}

static tapml_status timed_copy(struct backend *backend, const struct backend_copy *copy)
{
    const struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_copy(timed->wrapper.inner, copy);
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
    const struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_map(timed->wrapper.inner, buffer, offset, size, out_memory);
    return put(timed, begin_ns,
               &(struct timeline_span){.kind = TRANSFER, .name = "map", .bytes = size}, status);
}

static tapml_status timed_call(struct backend *backend, const struct backend_call *call)
{
    const struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_call(timed->wrapper.inner, call);
    return put(
        timed, begin_ns,
        &(struct timeline_span){.kind = CALL, .name = call->op->name, .detail = call->instance},
        status);
}

static tapml_status timed_flush(struct backend *backend)
{
    const struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_flush(timed->wrapper.inner);
    return put(timed, begin_ns, &(struct timeline_span){.kind = "submit", .name = "flush"}, status);
}

// The curves of what was moved so far, where anything was.
static void draw_bytes(struct timed *timed)
{
    if (timed->sent + timed->received != timed->counted) {
        timed->counted = timed->sent + timed->received;
        timeline_count(timed->track, "bytes written", timed->sent);
        timeline_count(timed->track, "bytes read", timed->received);
    }
}

static tapml_status timed_wait(struct backend *backend)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_wait(timed->wrapper.inner);
    timeline_end(timed->track, begin_ns, &(struct timeline_span){.kind = WAIT, .name = "wait"});
    draw_bytes(timed);
    return status;
}

static tapml_status timed_wait_for(struct backend *backend, struct backend_point point)
{
    struct timed *timed = timed_of(backend);
    const uint64_t begin_ns = timeline_begin(timed->track);
    const tapml_status status = backend_wait_for(timed->wrapper.inner, point);
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
    struct timed *timed = alloc_new(sizeof(*timed));
    if (!timed) {
        return status_no_memory();
    }
    const tapml_status status = timed_track(user, settings, "host", &timed->track);
    if (status != TAPML_OK) {
        alloc_free(timed);
        return status;
    }
    timed->vt = backend_forward_vt;
    timed->vt.release = timed_release;
    timed->vt.write = timed_write;
    timed->vt.read = timed_read;
    timed->vt.fill = timed_fill;
    timed->vt.copy = timed_copy;
    timed->vt.map = timed_map;
    timed->vt.call = timed_call;
    timed->vt.flush = timed_flush;
    timed->vt.wait = timed_wait;
    timed->vt.wait_for = timed_wait_for;
    timed->wrapper = (struct backend_wrapper){.backend = {.vt = &timed->vt}, .inner = inner};
    *out_backend = &timed->wrapper.backend;
    return TAPML_OK;
}

struct place_link timed_link(struct timeline *timeline)
{
    return (struct place_link){.kind = PLACE_TIMED, .create = make_link, .user = timeline};
}
