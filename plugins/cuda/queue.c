// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <string.h>
#include <time.h>

enum { ARGUMENTS_MAX = 64 };

// What a kernel gets. The driver reads it before a launch returns, and wants pointers to what is
// not constant.
struct passed {
    unsigned char params[K_PARAMS_MAX];
    CUdeviceptr addresses[ARGUMENTS_MAX];
    struct gpu_argument arguments[ARGUMENTS_MAX];
    void *pointers[ARGUMENTS_MAX + 1];
};

static void pass_params(const struct gpu_launch *launch, struct passed *passed)
{
    const struct k_kernel *kernel = launch->pipeline->kernel;

    memcpy(passed->params, launch->params, kernel->params_size);
    passed->pointers[0] = passed->params;
    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        passed->pointers[i + 1] = &launch->buffers[i]->memory;
    }
}

// Those of a kernel that is not of the dialect.
static void pass_arguments(const struct gpu_launch *launch, struct passed *passed)
{
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        struct gpu_argument *argument = &passed->arguments[i];

        *argument = launch->arguments[i];
        passed->addresses[i] =
            argument->buffer != NULL ? argument->buffer->memory + argument->offset : 0;
        passed->pointers[i] =
            argument->is_number ? (void *)&argument->number : (void *)&passed->addresses[i];
    }
}

tapml_status
queue_launch(struct driver_device *device, tapml_call *call, const struct gpu_launch *launch)
{
    const struct driver_pipeline *pipeline = launch->pipeline;
    struct passed passed;
    const tapml_status status = device_enter(device, call);

    if (status != TAPML_OK) {
        return status;
    }
    if (launch->argument_count > ARGUMENTS_MAX) {
        return gpu_fail(device->root->host, call, TAPML_INVALID, 0, "more than %d arguments",
                        ARGUMENTS_MAX);
    }
    if (launch->arguments != NULL) {
        pass_arguments(launch, &passed);
    } else {
        pass_params(launch, &passed);
    }
    return device_check(device, call,
                        device->root->cu.cuLaunchKernel(pipeline->function, launch->groups[0],
                                                        launch->groups[1], launch->groups[2],
                                                        pipeline->items, 1, 1, 0, device->stream,
                                                        passed.pointers, NULL),
                        pipeline->kernel->name);
}

// A stream hands its commands over by itself.
tapml_status queue_flush(struct driver_device *device, tapml_call *call)
{
    return TAPML_OK;
}

// -- Tickets -----------------------------------------------------------------------------------

// Takes the markers off the ring that are complete, when the reads before them have arrived.
static tapml_status collect(struct driver_device *device, tapml_call *call)
{
    while (device->count > 0) {
        const CUresult code = device->root->cu.cuEventQuery(device->marker[device->first].event);

        if (code == CUDA_ERROR_NOT_READY) {
            return TAPML_OK;
        }
        tapml_status status = device_check(device, call, code, "queued work");

        if (status == TAPML_OK) {
            status = memory_collect(device, call);
        }
        if (status != TAPML_OK) {
            return status;
        }
        device->reached = device->marker[device->first].ticket;
        device->first = (device->first + 1) % DRIVER_MARKER_MAX;
        device->count--;
    }
    return TAPML_OK;
}

// CUDA waits for ever or not at all, so a wait with an end asks again and again.
tapml_status queue_wait(struct driver_device *device,
                        tapml_call *call,
                        uint64_t ticket,
                        uint64_t timeout_ns,
                        uint64_t *out_reached)
{
    const uint64_t begin = gpu_clock_ns();
    tapml_status status = device_enter(device, call);

    if (status == TAPML_OK) {
        status = collect(device, call);
    }
    while (status == TAPML_OK && device->count > 0 && device->reached < ticket) {
        if (timeout_ns == UINT64_MAX) {
            // A failure shows when the event is asked.
            (void)device->root->cu.cuEventSynchronize(device->marker[device->first].event);
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
    tapml_status status = device_enter(device, call);

    if (status == TAPML_OK && device->count == DRIVER_MARKER_MAX) {
        status =
            queue_wait(device, call, device->marker[device->first].ticket, UINT64_MAX, &reached);
    }
    if (status != TAPML_OK) {
        return status;
    }
    const uint32_t last = (device->first + device->count) % DRIVER_MARKER_MAX;

    status = device_check(
        device, call, device->root->cu.cuEventRecord(device->marker[last].event, device->stream),
        "cuEventRecord");
    if (status == TAPML_OK) {
        device->marker[last].ticket = ticket;
        device->count++;
    }
    return status;
}

static CUevent find_marker(const struct driver_device *device, uint64_t ticket)
{
    for (uint32_t i = 0; i < device->count; i++) {
        const uint32_t at = (device->first + i) % DRIVER_MARKER_MAX;

        if (device->marker[at].ticket == ticket) {
            return device->marker[at].event;
        }
    }
    return NULL; // It is complete.
}

static void give(CUstream stream, CUresult code, void *notice)
{
    gpu_notice_give(notice, code == CUDA_SUCCESS ? TAPML_OK : TAPML_DEVICE_LOST);
}

// Not by cuLaunchHostFunc, which is newer: it calls nothing when the device is lost.
tapml_status queue_notify(struct driver_device *device,
                          tapml_call *call,
                          uint64_t ticket,
                          struct gpu_notice *notice)
{
    const struct driver_functions *cu = &device->root->cu;
    CUevent marker = find_marker(device, ticket);
    tapml_status status = device_enter(device, call);

    if (status == TAPML_OK && marker == NULL) {
        gpu_notice_give(notice, TAPML_OK);
        return TAPML_OK;
    }
    if (status == TAPML_OK) {
        status = device_check(device, call, cu->cuStreamWaitEvent(device->notices, marker, 0),
                              "cuStreamWaitEvent");
    }
    return status != TAPML_OK
               ? status
               : device_check(device, call,
                              cu->cuStreamAddCallback(device->notices, give, notice, 0),
                              "cuStreamAddCallback");
}
