// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

// A second queue of the same context, whose writes a device does while it computes, where it can.
static tapml_status open_queue(struct driver_device *device, tapml_call *call)
{
    cl_int code = CL_SUCCESS;

    if (device->aside == NULL) {
        device->aside =
            device->root->cl.clCreateCommandQueue(device->context, device->id, 0, &code);
    }
    return driver_check(device->root->host, call, code, "clCreateCommandQueue");
}

tapml_status aside_write(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         const void *source,
                         uint64_t size)
{
    const tapml_status status = open_queue(device, call);

    return status != TAPML_OK
               ? status
               : driver_check(device->root->host, call,
                              device->root->cl.clEnqueueWriteBuffer(
                                  device->aside, buffer->memory, CL_FALSE, (size_t)offset,
                                  (size_t)size, source, 0, NULL, NULL),
                              "clEnqueueWriteBuffer");
}

tapml_status aside_follow(struct driver_device *device, tapml_call *call, uint64_t ticket)
{
    cl_event event = queue_marker(device, ticket);
    const tapml_status status = open_queue(device, call);

    if (event == NULL || status != TAPML_OK) {
        return status;
    }
    return driver_check(
        device->root->host, call,
        device->root->cl.clEnqueueBarrierWithWaitList(device->aside, 1, &event, NULL),
        "clEnqueueBarrierWithWaitList");
}

static void forget(struct driver_device *device, uint64_t mark)
{
    cl_event *event = &device->marks[mark % DRIVER_MARKER_MAX];

    if (*event != NULL) {
        (void)device->root->cl.clReleaseEvent(*event); // Ours; whoever waits for it has it, too.
        *event = NULL;
    }
}

tapml_status aside_signal(struct driver_device *device, tapml_call *call, uint64_t mark)
{
    const struct driver_functions *cl = &device->root->cl;
    cl_event *event = &device->marks[mark % DRIVER_MARKER_MAX];
    const tapml_status status = open_queue(device, call);

    if (status != TAPML_OK) {
        return status;
    }
    if (*event != NULL) { // The host is far ahead: a failure shows in the state of the next one.
        (void)cl->clWaitForEvents(1, event);
        forget(device, mark);
    }
    cl_int code = cl->clEnqueueMarkerWithWaitList(device->aside, 0, NULL, event);

    if (code == CL_SUCCESS) {
        device->mark = mark;
        code = cl->clFlush(device->aside);
    }
    return driver_check(device->root->host, call, code, "clEnqueueMarkerWithWaitList");
}

tapml_status aside_join(struct driver_device *device, tapml_call *call, uint64_t mark)
{
    cl_event *event = &device->marks[mark % DRIVER_MARKER_MAX];

    if (mark + DRIVER_MARKER_MAX <= device->mark || *event == NULL) {
        return TAPML_OK;
    }
    return driver_check(
        device->root->host, call,
        device->root->cl.clEnqueueBarrierWithWaitList(device->queue, 1, event, NULL),
        "clEnqueueBarrierWithWaitList");
}

void aside_end(struct driver_device *device)
{
    if (device->aside != NULL) {
        (void)device->root->cl.clFinish(device->aside); // A failure was reported, or not asked for.
        (void)device->root->cl.clReleaseCommandQueue(device->aside);
        device->aside = NULL;
    }
    for (uint32_t i = 0; i < DRIVER_MARKER_MAX; i++) {
        forget(device, i);
    }
}
