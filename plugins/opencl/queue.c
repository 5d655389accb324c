// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <time.h>

enum { PARTS_MAX = 64 };

// Buffers from an offset on, which are released once their kernel is queued.
struct parts {
    cl_mem items[PARTS_MAX];
    uint32_t count;
};

static cl_mem
begin_at(const struct driver_functions *cl, const struct gpu_argument *argument, cl_int *out_code)
{
    size_t size = 0;

    *out_code =
        cl->clGetMemObjectInfo(argument->buffer->memory, CL_MEM_SIZE, sizeof(size), &size, NULL);
    if (*out_code != CL_SUCCESS) {
        return NULL;
    }
    const cl_buffer_region region = {(size_t)argument->offset, size - (size_t)argument->offset};

    return cl->clCreateSubBuffer(argument->buffer->memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                 out_code);
}

static cl_int set_address(const struct driver_functions *cl,
                          cl_kernel code,
                          uint32_t index,
                          const struct gpu_argument *argument,
                          struct parts *parts)
{
    cl_int result = CL_SUCCESS;

    if (argument->buffer == NULL) {
        return cl->clSetKernelArg(code, index, sizeof(cl_mem), NULL);
    }
    if (argument->offset == 0) {
        return cl->clSetKernelArg(code, index, sizeof(cl_mem), &argument->buffer->memory);
    }
    if (parts->count == PARTS_MAX) {
        return CL_OUT_OF_RESOURCES;
    }
    cl_mem *part = &parts->items[parts->count];

    *part = begin_at(cl, argument, &result);
    if (result == CL_SUCCESS) {
        parts->count++;
        result = cl->clSetKernelArg(code, index, sizeof(cl_mem), part);
    }
    return result;
}

// The arguments of a kernel that is not of the dialect.
static cl_int set_arguments(const struct driver_functions *cl,
                            const struct gpu_launch *launch,
                            struct parts *parts)
{
    cl_kernel code = launch->pipeline->code;
    cl_int result = CL_SUCCESS;

    for (uint32_t i = 0; i < launch->argument_count && result == CL_SUCCESS; i++) {
        const struct gpu_argument *argument = &launch->arguments[i];

        result = argument->is_number
                     ? cl->clSetKernelArg(code, i, argument->bytes, &argument->number)
                     : set_address(cl, code, i, argument, parts);
    }
    return result;
}

static cl_int set_params(const struct driver_functions *cl, const struct gpu_launch *launch)
{
    const struct k_kernel *kernel = launch->pipeline->kernel;
    cl_kernel code = launch->pipeline->code;
    cl_int result = cl->clSetKernelArg(code, 0, kernel->params_size, launch->params);

    for (uint32_t i = 0; i < kernel->n_binding && result == CL_SUCCESS; i++) {
        result = cl->clSetKernelArg(code, i + 1, sizeof(cl_mem), &launch->buffers[i]->memory);
    }
    return result;
}

tapml_status
queue_launch(struct driver_device *device, tapml_call *call, const struct gpu_launch *launch)
{
    const struct driver_functions *cl = &device->root->cl;
    const struct driver_pipeline *pipeline = launch->pipeline;
    const size_t local[3] = {pipeline->items, 1, 1};
    const size_t global[3] = {pipeline->items * launch->groups[0], launch->groups[1],
                              launch->groups[2]};
    struct parts parts = {.count = 0};
    cl_int code =
        launch->arguments != NULL ? set_arguments(cl, launch, &parts) : set_params(cl, launch);

    if (code == CL_SUCCESS) {
        code = cl->clEnqueueNDRangeKernel(device->queue, pipeline->code, 3, NULL, global, local, 0,
                                          NULL, NULL);
    }
    while (parts.count > 0) {
        (void)cl->clReleaseMemObject(parts.items[--parts.count]); // Stays while work uses it.
    }
    return driver_check(device->root->host, call, code, pipeline->kernel->name);
}

tapml_status queue_flush(struct driver_device *device, tapml_call *call)
{
    return driver_check(device->root->host, call, device->root->cl.clFlush(device->queue),
                        "clFlush");
}

// -- Tickets -----------------------------------------------------------------------------------

// Takes the markers off the ring that are complete. The oldest that failed is a failure until a
// restart.
static tapml_status collect(struct driver_device *device, tapml_call *call)
{
    const struct driver_functions *cl = &device->root->cl;

    while (device->count > 0) {
        cl_event event = device->marker[device->first].event;
        cl_int state = CL_QUEUED;
        const cl_int code = cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                               sizeof(state), &state, NULL);

        if (code != CL_SUCCESS || state < 0) {
            return gpu_fail(device->root->host, call, TAPML_INTERNAL,
                            code != CL_SUCCESS ? code : state, "queued work has failed");
        }
        if (state != CL_COMPLETE) {
            return TAPML_OK;
        }
        device->reached = device->marker[device->first].ticket;
        device->first = (device->first + 1) % DRIVER_MARKER_MAX;
        device->count--;
        (void)cl->clReleaseEvent(event); // Ours, and complete.
    }
    return TAPML_OK;
}

// OpenCL waits for ever or not at all, so a wait with an end asks again and again.
tapml_status queue_wait(struct driver_device *device,
                        tapml_call *call,
                        uint64_t ticket,
                        uint64_t timeout_ns,
                        uint64_t *out_reached)
{
    const uint64_t begin = gpu_clock_ns();
    tapml_status status = collect(device, call);

    while (status == TAPML_OK && device->count > 0 && device->reached < ticket) {
        if (timeout_ns == UINT64_MAX) {
            // A failure shows in the state of the event.
            (void)device->root->cl.clWaitForEvents(1, &device->marker[device->first].event);
        } else if (gpu_clock_ns() - begin >= timeout_ns) {
            break;
        } else {
            (void)nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL); // Waking early is fine.
        }
        status = collect(device, call);
    }
    if (status == TAPML_OK) {
        *out_reached = device->reached;
    }
    return status;
}

tapml_status queue_signal(struct driver_device *device, tapml_call *call, uint64_t ticket)
{
    uint64_t reached = 0;
    cl_event event = NULL;

    if (device->count == DRIVER_MARKER_MAX) {
        const tapml_status status =
            queue_wait(device, call, device->marker[device->first].ticket, UINT64_MAX, &reached);

        if (status != TAPML_OK) {
            return status;
        }
    }
    const cl_int code =
        device->root->cl.clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &event);

    if (code == CL_SUCCESS) {
        const uint32_t last = (device->first + device->count++) % DRIVER_MARKER_MAX;

        device->marker[last].ticket = ticket;
        device->marker[last].event = event;
    }
    return driver_check(device->root->host, call, code, "clEnqueueMarkerWithWaitList");
}

cl_event queue_marker(const struct driver_device *device, uint64_t ticket)
{
    for (uint32_t i = 0; i < device->count; i++) {
        const uint32_t at = (device->first + i) % DRIVER_MARKER_MAX;

        if (device->marker[at].ticket == ticket) {
            return device->marker[at].event;
        }
    }
    return NULL; // It is complete.
}

static void CL_CALLBACK give(cl_event event, cl_int state, void *notice)
{
    gpu_notice_give(notice, state == CL_COMPLETE ? TAPML_OK : TAPML_INTERNAL);
}

tapml_status queue_notify(struct driver_device *device,
                          tapml_call *call,
                          uint64_t ticket,
                          struct gpu_notice *notice)
{
    cl_event marker = queue_marker(device, ticket);

    if (marker == NULL) {
        gpu_notice_give(notice, TAPML_OK);
        return TAPML_OK;
    }
    return driver_check(device->root->host, call,
                        device->root->cl.clSetEventCallback(marker, CL_COMPLETE, give, notice),
                        "clSetEventCallback");
}

// Whether commands work: a few bytes go to the device and back.
static tapml_status try_queue(struct driver_device *device, tapml_call *call)
{
    const struct driver_functions *cl = &device->root->cl;
    const cl_uint sent = 0x7fc0dead;
    cl_uint received = 0;
    cl_int code = CL_SUCCESS;
    cl_mem memory =
        cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE, sizeof(sent), NULL, &code);

    if (code == CL_SUCCESS) {
        code = cl->clEnqueueWriteBuffer(device->queue, memory, CL_TRUE, 0, sizeof(sent), &sent, 0,
                                        NULL, NULL);
        if (code == CL_SUCCESS) {
            code = cl->clEnqueueReadBuffer(device->queue, memory, CL_TRUE, 0, sizeof(received),
                                           &received, 0, NULL, NULL);
        }
        (void)cl->clReleaseMemObject(memory); // Ours, and nothing uses it.
    }
    return code == CL_SUCCESS && received == sent
               ? TAPML_OK
               : gpu_fail(device->root->host, call, TAPML_DEVICE_LOST, code,
                          "the device does not work any more after a failure");
}

tapml_status queue_restart(struct driver_device *device, tapml_call *call)
{
    const struct driver_functions *cl = &device->root->cl;
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = cl->clCreateCommandQueue(device->context, device->id, 0, &code);

    if (code != CL_SUCCESS) {
        return gpu_fail(device->root->host, call, TAPML_DEVICE_LOST, code,
                        "the device gives no other queue after a failure");
    }
    aside_end(device);
    (void)cl->clFinish(device->queue); // Failures were reported.
    (void)cl->clReleaseCommandQueue(device->queue);
    for (; device->count > 0; device->count--) {
        device->reached = device->marker[device->first].ticket;
        (void)cl->clReleaseEvent(device->marker[device->first].event);
        device->first = (device->first + 1) % DRIVER_MARKER_MAX;
    }
    device->queue = queue;
    return try_queue(device, call);
}
