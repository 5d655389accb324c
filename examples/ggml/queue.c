// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include "object.h"

tapml_status queue_new(tapml_object *device, tapml_call *call, tapml_object **out_queue)
{
    return object_new(object_of(device), call, sizeof(struct object), out_queue);
}

tapml_status queue_signal(tapml_object *queue, tapml_call *call, tapml_point point)
{
    object_of(point.timeline)->reached = point.value;
    return TAPML_OK;
}

tapml_status queue_timeline_new(tapml_object *device,
                                tapml_call *call,
                                uint64_t initial,
                                tapml_object **out_timeline)
{
    const tapml_status status =
        object_new(object_of(device), call, sizeof(struct object), out_timeline);

    if (status == TAPML_OK) {
        object_of(*out_timeline)->reached = initial;
    }
    return status;
}

tapml_status queue_timeline_value(tapml_object *timeline, tapml_call *call, uint64_t *out_value)
{
    *out_value = object_of(timeline)->reached;
    return TAPML_OK;
}

tapml_status
queue_timeline_wait(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns)
{
    const struct object *own = object_of(timeline);

    if (own->reached < value) {
        return object_fail(own, call, TAPML_DEADLINE, "no work is queued that would signal");
    }
    return TAPML_OK;
}
