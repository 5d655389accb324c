// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include "kparams.h"
#include "notices.h"
#include "plan.h"

#include <string.h>

static void queue_release(tapml_object *object)
{
    struct gpu_queue *queue = (struct gpu_queue *)object;

    queue->device->queue_count--;
    gpu_free(&queue->device->root->host, queue, sizeof(*queue));
}

static uint64_t launches(tapml_object *queue)
{
    return ((const struct gpu_queue *)queue)->launches;
}

static const tapml_counters counters = {TAPML_HDR(tapml_counters), launches};

static const void *queue_interface(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_COUNTERS) == 0 ? &counters : NULL;
}

static const tapml_object_vt queue_vt = {TAPML_HDR(tapml_object_vt), queue_release,
                                         queue_interface};

// Behind a failure of queued work: the stream begins anew where the driver can do that.
static tapml_status restart(struct gpu_device *device, tapml_call *call)
{
    const struct gpu_driver *driver = device->root->driver;

    if (device->failure == TAPML_OK) {
        return TAPML_OK;
    }
    if (device->failure == TAPML_DEVICE_LOST || driver->restart == NULL) {
        return gpu_fail(&device->root->host, call, TAPML_DEVICE_LOST, 0,
                        "the device cannot work again after a failure");
    }
    const tapml_status status = driver->restart(device->impl, call);

    if (status == TAPML_OK) {
        device->failure = TAPML_OK;
    }
    return status;
}

tapml_status gpu_queue_new(tapml_object *device, tapml_call *call, tapml_object **out_queue)
{
    struct gpu_device *owner = (struct gpu_device *)device;
    const tapml_status status = restart(owner, call);

    if (status != TAPML_OK) {
        return status;
    }
    struct gpu_queue *queue = gpu_alloc(&owner->root->host, sizeof(*queue));

    if (queue == NULL) {
        return gpu_no_memory(&owner->root->host, call);
    }
    queue->base.vt = &queue_vt;
    queue->device = owner;
    queue->is_aside = owner->queue_count++ > 0 && owner->root->driver->aside_write != NULL;
    *out_queue = &queue->base;
    return TAPML_OK;
}

// -- Aside -------------------------------------------------------------------------------------

// A mark behind all that the queue has written aside.
static tapml_status put_mark(struct gpu_queue *queue, tapml_call *call)
{
    struct gpu_device *device = queue->device;
    const tapml_status status =
        device->root->driver->aside_signal(device->impl, call, device->mark + 1);

    if (status == TAPML_OK) {
        device->mark++;
        queue->has_aside = 0;
    }
    return status;
}

tapml_status gpu_queue_leave_aside(struct gpu_queue *queue, tapml_call *call)
{
    struct gpu_device *device = queue->device;
    tapml_status status = TAPML_OK;

    if (!queue->is_aside) {
        return TAPML_OK;
    }
    if (queue->has_aside) {
        status = put_mark(queue, call);
    }
    if (status == TAPML_OK && device->mark > 0) {
        status = device->root->driver->aside_join(device->impl, call, device->mark);
    }
    queue->is_aside = status != TAPML_OK;
    return status;
}

tapml_status gpu_queue_write(tapml_object *queue,
                             tapml_call *call,
                             tapml_object *buffer,
                             uint64_t offset,
                             const void *source,
                             uint64_t size)
{
    struct gpu_queue *self = (struct gpu_queue *)queue;
    const struct gpu_device *device = self->device;
    const tapml_status status = gpu_device_check(device, call);

    if (status != TAPML_OK) {
        return status;
    }
    if (self->is_aside) {
        self->has_aside = 1;
        return device->root->driver->aside_write(
            device->impl, call, ((struct gpu_buffer *)buffer)->impl, offset, source, size);
    }
    return device->root->driver->write(device->impl, call, ((struct gpu_buffer *)buffer)->impl,
                                       offset, source, size);
}

tapml_status gpu_queue_read(tapml_object *queue,
                            tapml_call *call,
                            tapml_object *buffer,
                            uint64_t offset,
                            void *target,
                            uint64_t size)
{
    const struct gpu_device *device = ((struct gpu_queue *)queue)->device;
    tapml_status status = gpu_device_check(device, call);

    if (status == TAPML_OK) {
        status = gpu_queue_leave_aside((struct gpu_queue *)queue, call);
    }
    if (status != TAPML_OK) {
        return status;
    }
    return device->root->driver->read(device->impl, call, ((struct gpu_buffer *)buffer)->impl,
                                      offset, target, size);
}

tapml_status gpu_queue_copy(tapml_object *queue,
                            tapml_call *call,
                            tapml_object *source,
                            uint64_t source_offset,
                            tapml_object *target,
                            uint64_t target_offset,
                            uint64_t size)
{
    const struct gpu_device *device = ((struct gpu_queue *)queue)->device;
    tapml_status status = gpu_device_check(device, call);

    if (status == TAPML_OK) {
        status = gpu_queue_leave_aside((struct gpu_queue *)queue, call);
    }
    if (source == target) {
        return gpu_fail(&device->root->host, call, TAPML_UNIMPLEMENTED, 0,
                        "a copy within one buffer");
    }
    if (status != TAPML_OK) {
        return status;
    }
    return device->root->driver->copy(device->impl, call, ((struct gpu_buffer *)source)->impl,
                                      source_offset, ((struct gpu_buffer *)target)->impl,
                                      target_offset, size);
}

// A kernel where the driver has no command for it, as WebGPU. It counts as a launch, not as an op
// call.
static tapml_status launch_fill(struct gpu_queue *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                const struct k_fill_params *params)
{
    enum { ITEMS = 64 };
    const uint32_t items = gpu_plan_items(queue, ITEMS);
    const tapml_tensor words = {.hdr = TAPML_HDR(tapml_tensor), .buffer = buffer};

    return gpu_plan_launch_quietly(queue, call,
                                   &(struct gpu_plan){
                                       .kernel = "fill",
                                       .tune = {[K_FILL_TUNE_WG_X] = items},
                                       .tensors = {[K_FILL_Y] = &words},
                                       .params = params,
                                       .groups = ((uint64_t)params->count + items - 1) / items,
                                   });
}

tapml_status gpu_queue_fill(tapml_object *queue,
                            tapml_call *call,
                            tapml_object *buffer,
                            uint64_t offset,
                            uint64_t size,
                            uint32_t pattern)
{
    struct gpu_queue *self = (struct gpu_queue *)queue;
    const struct gpu_device *device = self->device;
    const struct gpu_driver *driver = device->root->driver;
    const struct k_fill_params params = {
        .at = (uint32_t)(offset / 4), .count = (uint32_t)(size / 4), .pattern = pattern};

    if (params.count == 0) {
        return TAPML_OK;
    }
    if (driver->fill == NULL) {
        return launch_fill(self, call, buffer, &params);
    }
    tapml_status status = gpu_device_check(device, call);

    if (status == TAPML_OK) {
        status = gpu_queue_leave_aside(self, call);
    }
    return status != TAPML_OK
               ? status
               : driver->fill(device->impl, call, ((struct gpu_buffer *)buffer)->impl, offset, size,
                              pattern);
}

tapml_status gpu_queue_flush(tapml_object *queue, tapml_call *call)
{
    const struct gpu_device *device = ((struct gpu_queue *)queue)->device;

    return device->root->driver->flush(device->impl, call);
}

// -- Timelines: values of the host's, tickets of the driver's ----------------------------------

// Waits for `ticket` and takes note of all that was reached.
static tapml_status
advance(struct gpu_timeline *timeline, tapml_call *call, uint64_t ticket, uint64_t timeout_ns)
{
    struct gpu_device *device = timeline->device;
    uint64_t reached = 0;
    tapml_status status = gpu_device_check(device, call);

    if (status == TAPML_OK) {
        status = device->root->driver->wait(device->impl, call, ticket, timeout_ns, &reached);
    }

    if (status != TAPML_OK) {
        device->failure = status;
        gpu_notices_end(&timeline->notices, UINT64_MAX, status);
        return status;
    }
    while (timeline->count > 0 && timeline->pending[timeline->first].ticket > 0 &&
           timeline->pending[timeline->first].ticket <= reached) {
        timeline->value = timeline->pending[timeline->first].value;
        timeline->first = (timeline->first + 1) % GPU_PENDING_MAX;
        timeline->count--;
    }
    gpu_notices_end(&timeline->notices, timeline->value, TAPML_OK);
    return TAPML_OK;
}

// The pending signal that raises the timeline to `value`, counted from the first; `count` if none
// does.
static uint32_t find_pending(const struct gpu_timeline *timeline, uint64_t value)
{
    uint32_t i = 0;

    while (i < timeline->count && timeline->value < value &&
           timeline->pending[(timeline->first + i) % GPU_PENDING_MAX].value < value) {
        i++;
    }
    return timeline->value < value ? i : timeline->count;
}

// Lets the stream wait for the mark of a pending signal, if it has one: then the next ticket is
// behind it, and behind the signals before it.
static tapml_status join_pending(struct gpu_timeline *timeline, tapml_call *call, uint32_t index)
{
    struct gpu_device *device = timeline->device;
    const uint64_t mark = timeline->pending[(timeline->first + index) % GPU_PENDING_MAX].mark;
    const tapml_status status =
        mark > 0 ? device->root->driver->aside_join(device->impl, call, mark) : TAPML_OK;

    for (uint32_t i = 0; status == TAPML_OK && i <= index; i++) {
        const uint32_t at = (timeline->first + i) % GPU_PENDING_MAX;

        if (timeline->pending[at].ticket == 0) {
            timeline->pending[at].ticket = device->ticket + 1;
        }
    }
    return status;
}

// The ticket behind which a pending signal is reached, which has been given out and flushed.
static tapml_status
find_ticket(struct gpu_timeline *timeline, tapml_call *call, uint32_t index, uint64_t *out_ticket)
{
    struct gpu_device *device = timeline->device;
    const struct gpu_driver *driver = device->root->driver;
    const uint64_t *ticket = &timeline->pending[(timeline->first + index) % GPU_PENDING_MAX].ticket;
    tapml_status status = *ticket == 0 ? join_pending(timeline, call, index) : TAPML_OK;

    if (status == TAPML_OK && *ticket > device->ticket) {
        status = driver->signal(device->impl, call, device->ticket + 1);
        if (status == TAPML_OK) {
            device->ticket++;
            status = driver->flush(device->impl, call);
        }
    }
    *out_ticket = *ticket;
    return status;
}

static tapml_status
advance_to(struct gpu_timeline *timeline, tapml_call *call, uint32_t index, uint64_t timeout_ns)
{
    uint64_t ticket = 0;
    const tapml_status status = find_ticket(timeline, call, index, &ticket);

    return status == TAPML_OK ? advance(timeline, call, ticket, timeout_ns) : status;
}

static void timeline_release(tapml_object *object)
{
    struct gpu_timeline *timeline = (struct gpu_timeline *)object;

    while (timeline->notices != NULL && timeline->count > 0) {
        if (advance_to(timeline, NULL, 0, UINT64_MAX) != TAPML_OK) {
            break; // The notices have it.
        }
    }
    gpu_free(&timeline->device->root->host, timeline, sizeof(*timeline));
}

static const tapml_object_vt timeline_vt = {TAPML_HDR(tapml_object_vt), timeline_release,
                                            gpu_no_interface};

tapml_status gpu_timeline_new(tapml_object *device,
                              tapml_call *call,
                              uint64_t initial,
                              tapml_object **out_timeline)
{
    struct gpu_device *owner = (struct gpu_device *)device;
    struct gpu_timeline *timeline = gpu_alloc(&owner->root->host, sizeof(*timeline));

    if (timeline == NULL) {
        return gpu_no_memory(&owner->root->host, call);
    }
    timeline->base.vt = &timeline_vt;
    timeline->device = owner;
    timeline->value = initial;
    *out_timeline = &timeline->base;
    return TAPML_OK;
}

tapml_status gpu_queue_signal(tapml_object *queue, tapml_call *call, tapml_point point)
{
    struct gpu_queue *self = (struct gpu_queue *)queue;
    struct gpu_device *device = self->device;
    struct gpu_timeline *timeline = (struct gpu_timeline *)point.timeline;

    if (timeline->count == GPU_PENDING_MAX) { // The host is far ahead: let the device catch up.
        tapml_status status = device->root->driver->flush(device->impl, call);

        if (status == TAPML_OK) {
            status = advance_to(timeline, call, 0, UINT64_MAX);
        }
        if (status != TAPML_OK) {
            return status;
        }
    }
    const uint32_t last = (timeline->first + timeline->count++) % GPU_PENDING_MAX;

    timeline->pending[last].value = point.value;
    timeline->pending[last].ticket = timeline->pending[last].mark = 0;
    if (self->is_aside) {
        const tapml_status status = put_mark(self, call);

        timeline->pending[last].mark = device->mark;
        return status;
    }
    timeline->pending[last].ticket = ++device->ticket;
    return device->root->driver->signal(device->impl, call, device->ticket);
}

tapml_status gpu_timeline_value(tapml_object *timeline, tapml_call *call, uint64_t *out_value)
{
    struct gpu_timeline *self = (struct gpu_timeline *)timeline;

    if (self->count > 0) {
        const tapml_status status = advance_to(self, call, 0, 0);

        if (status != TAPML_OK) {
            return status;
        }
    }
    *out_value = self->value;
    return TAPML_OK;
}

tapml_status
gpu_timeline_wait(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns)
{
    struct gpu_timeline *self = (struct gpu_timeline *)timeline;
    const uint32_t index = find_pending(self, value);

    if (index < self->count) {
        const tapml_status status = advance_to(self, call, index, timeout_ns);

        if (status != TAPML_OK) {
            return status;
        }
    }
    return self->value >= value ? TAPML_OK
                                : gpu_fail(&self->device->root->host, call, TAPML_DEADLINE, 0,
                                           "value %llu", (unsigned long long)value);
}

tapml_status gpu_timeline_notify(
    tapml_object *timeline, tapml_call *call, uint64_t value, tapml_notified function, void *user)
{
    struct gpu_timeline *self = (struct gpu_timeline *)timeline;
    struct gpu_device *device = self->device;
    const struct gpu_driver *driver = device->root->driver;
    struct gpu_notice *notice = NULL;
    uint64_t ticket = 0;
    tapml_status status = gpu_device_check(device, call);

    if (status != TAPML_OK) {
        return status;
    }
    if (driver->notify == NULL) {
        return gpu_fail(&device->root->host, call, TAPML_UNIMPLEMENTED, 0,
                        "it notifies of no point");
    }
    const uint32_t index = find_pending(self, value);

    if (index == self->count) {
        function(user, TAPML_OK);
        return TAPML_OK;
    }
    status = find_ticket(self, call, index, &ticket);
    if (status != TAPML_OK) {
        return status;
    }
    status =
        gpu_notices_add(&self->notices, &device->root->host, call, value, function, user, &notice);
    if (status == TAPML_OK) {
        status = driver->notify(device->impl, call, ticket, notice);
        if (status != TAPML_OK) {
            gpu_notices_drop(&self->notices);
        }
    }
    return status;
}

// What the stream signals comes before what is queued there later anyway.
static tapml_status wait_for(const struct gpu_queue *queue,
                             tapml_call *call,
                             struct gpu_timeline *timeline,
                             uint32_t index)
{
    const struct gpu_device *device = queue->device;
    const uint32_t at = (timeline->first + index) % GPU_PENDING_MAX;
    const uint64_t mark = timeline->pending[at].mark, ticket = timeline->pending[at].ticket;

    if (queue->is_aside && mark == 0) {
        return device->root->driver->aside_follow(device->impl, call, ticket);
    }
    return !queue->is_aside && mark > 0 ? join_pending(timeline, call, index) : TAPML_OK;
}

tapml_status gpu_queue_wait(tapml_object *queue, tapml_call *call, tapml_point point)
{
    const struct gpu_queue *self = (struct gpu_queue *)queue;
    const struct gpu_device *device = self->device;
    struct gpu_timeline *timeline = (struct gpu_timeline *)point.timeline;

    if (timeline->device != device) {
        return gpu_fail(&device->root->host, call, TAPML_UNIMPLEMENTED, 0,
                        "the point is one of another device");
    }
    const tapml_status status = gpu_device_check(device, call);
    const uint32_t index = find_pending(timeline, point.value);

    return status == TAPML_OK && index < timeline->count ? wait_for(self, call, timeline, index)
                                                         : status;
}
