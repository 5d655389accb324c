// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of zoo.h that has the queues and timelines; it goes on where that file includes it.
#pragma once

#ifndef ZOO_NO_QUEUE
static tapml_status queue_new(tapml_object *device, tapml_call *call, tapml_object **out_queue)
{
    return object_new(own(device), call, 0, out_queue);
}
#endif

static tapml_status queue_write(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    memcpy(own(buffer)->data + offset, source, size);
    return TAPML_OK;
}

static tapml_status queue_read(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               void *target,
                               uint64_t size)
{
    memcpy(target, own(buffer)->data + offset, size);
    return TAPML_OK;
}

static tapml_status queue_copy(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *source,
                               uint64_t source_offset,
                               tapml_object *target,
                               uint64_t target_offset,
                               uint64_t size)
{
    memcpy(own(target)->data + target_offset, own(source)->data + source_offset, size);
    return TAPML_OK;
}

static tapml_status queue_fill(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               uint64_t size,
                               uint32_t pattern)
{
    for (uint64_t done = 0; done < size; done += sizeof(pattern)) {
        memcpy(own(buffer)->data + offset + done, &pattern, sizeof(pattern));
    }
    return TAPML_OK;
}

// An error that is still to come goes with the timeline, and comes out of its wait.
static tapml_status queue_signal(tapml_object *queue, tapml_call *call, tapml_point point)
{
    own(point.timeline)->reached = point.value;
    own(point.timeline)->wrong = own(queue)->wrong;
    return TAPML_OK;
}

static tapml_status
timeline_new(tapml_object *device, tapml_call *call, uint64_t initial, tapml_object **out_timeline)
{
    const tapml_status status = object_new(own(device), call, 0, out_timeline);
    if (status == TAPML_OK) {
        own(*out_timeline)->reached = initial;
    }
    return status;
}

static tapml_status timeline_value(tapml_object *timeline, tapml_call *call, uint64_t *out_value)
{
    *out_value = own(timeline)->reached;
    return TAPML_OK;
}

static void notify_of_error(struct object *timeline)
{
    if (timeline->notified != NULL) {
        timeline->notified(timeline->user, TAPML_INTERNAL);
        timeline->notified = NULL;
    }
}

static tapml_status
timeline_wait(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns)
{
    struct object *self = own(timeline);
    ZOO_WAIT_DEED(self);
    if (self->wrong != 0) {
        notify_of_error(self);
        self->core->blame(call, self->wrong);
        return fail(self, call, TAPML_INTERNAL, "trouble in the queue");
    }
    return self->reached < value ? fail(self, call, TAPML_DEADLINE, "no such signal") : TAPML_OK;
}

static tapml_status timeline_notify(
    tapml_object *timeline, tapml_call *call, uint64_t value, tapml_notified function, void *user)
{
    struct object *self = own(timeline);
    if (self->reached < value || self->notified != NULL) {
        return fail(self, call, TAPML_UNIMPLEMENTED, "one error at a time");
    }
    if (self->wrong != 0) {
        self->notified = function;
        self->user = user;
    } else {
        function(user, TAPML_OK);
    }
    return TAPML_OK;
}
