// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_aside.h"

#include "base/assert.h"

static int can_open(const struct device *device)
{
    return !device->info.is_host_memory && TAPML_HAS_FN(tapml_backend, device->table, queue_wait);
}

static tapml_status open_queue(struct device *device)
{
    struct device_aside *aside = &device->aside;
    if (aside->queue) {
        return TAPML_OK;
    }
    TAPML_TRY(device_state_begin(device));
    TAPML_TRY(device_state_finish(
        device, device->table->queue_new(device->device, &device->call, &aside->queue),
        "queue_new"));
    aside->opened_at = aside->signalled;
    TAPML_TRY(device_state_begin(device));
    const tapml_status status = device->table->timeline_new(device->device, &device->call,
                                                            aside->signalled, &aside->timeline);
    if (status != TAPML_OK) {
        aside->queue->vt->release(aside->queue);
        aside->queue = NULL;
    }
    return device_state_finish(device, status, "timeline_new");
}

void device_aside_close(struct device *device)
{
    struct device_aside *aside = &device->aside;
    if (aside->queue) {
        aside->timeline->vt->release(aside->timeline);
        aside->queue->vt->release(aside->queue);
        aside->timeline = aside->queue = NULL;
    }
    aside->has_pending = 0;
}

static tapml_status write(struct device *device, const struct backend_aside *request)
{
    device->aside.has_pending = 1;
    TAPML_TRY(device_state_begin(device));
    const tapml_status status =
        device->table->queue_write(device->aside.queue, &device->call, request->buffer,
                                   request->offset, request->source, request->size);
    return device_state_finish(device, status, "queue_write");
}

static tapml_status flush(struct device *device, tapml_object *queue)
{
    if (!TAPML_HAS_FN(tapml_backend, device->table, queue_flush)) {
        return TAPML_OK;
    }
    TAPML_TRY(device_state_begin(device));
    return device_state_finish(device, device->table->queue_flush(queue, &device->call),
                               "queue_flush");
}

// The host waits where queues cannot.
static tapml_status follow(struct device *device, struct backend_point point)
{
    ASSERT(point.owner == &device->backend && point.value <= device->signalled);
    if (point.value <= device->reached) {
        return TAPML_OK;
    }
    if (point.value > device->flushed) {
        device->flushed = device->signalled;
        TAPML_TRY(flush(device, device->queue));
    }
    TAPML_TRY(device_state_begin(device));
    const tapml_status status = device->table->queue_wait(
        device->aside.queue, &device->call, (tapml_point){device->timeline, point.value});
    return status == TAPML_UNIMPLEMENTED ? backend_wait_for(&device->backend, point)
                                         : device_state_finish(device, status, "queue_wait");
}

static tapml_status signal(struct device *device, struct backend_point *out_point)
{
    struct device_aside *aside = &device->aside;
    const tapml_point point = {aside->timeline, aside->signalled + 1};
    TAPML_TRY(device_state_begin(device));
    const tapml_status status = device->table->queue_signal(aside->queue, &device->call, point);
    TAPML_TRY(device_state_finish(device, status, "queue_signal"));
    *out_point = (struct backend_point){&device->backend, ++aside->signalled};
    return flush(device, aside->queue);
}

static tapml_status join(struct device *device, struct backend_point point)
{
    struct device_aside *aside = &device->aside;
    ASSERT(point.owner == &device->backend && point.value <= aside->signalled);
    if (point.value <= aside->opened_at) {
        return TAPML_OK;
    }
    device_state_note_work(device);
    TAPML_TRY(device_state_begin(device));
    tapml_status status = device->table->queue_wait(device->queue, &device->call,
                                                    (tapml_point){aside->timeline, point.value});
    if (status == TAPML_UNIMPLEMENTED) {
        TAPML_TRY(device_state_begin(device));
        status =
            device->table->timeline_wait(aside->timeline, &device->call, point.value, UINT64_MAX);
    }
    return device_state_finish(device, status, "queue_wait");
}

tapml_status device_aside(struct backend *backend, struct backend_aside *io_aside)
{
    struct device *device = device_own(backend);
    if (!can_open(device)) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: its queues do not wait for each other",
                           device->info.component);
    }
    TAPML_TRY(open_queue(device));
    switch (io_aside->kind) {
    case BACKEND_ASIDE_WRITE:
        return write(device, io_aside);
    case BACKEND_ASIDE_FOLLOW:
        return follow(device, io_aside->point);
    case BACKEND_ASIDE_SIGNAL:
        return signal(device, &io_aside->point);
    case BACKEND_ASIDE_JOIN:
        return join(device, io_aside->point);
    }
    return TAPML_OK;
}

tapml_status device_aside_gather(struct device *device)
{
    struct backend_point point;
    if (!device->aside.has_pending) {
        return TAPML_OK;
    }
    device->aside.has_pending = 0;
    TAPML_TRY(signal(device, &point));
    return join(device, point);
}
