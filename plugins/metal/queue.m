// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// Where the dialect binds a kernel's parameters.
enum { PARAMS_INDEX = 30 };

static tapml_status check_device(const struct driver_device *device, tapml_call *call)
{
    return device->has_failed
               ? gpu_fail(device->root->host, call, TAPML_INTERNAL, 0, "%s", device->failure)
               : TAPML_OK;
}

// -- Batches -----------------------------------------------------------------------------------

static struct batch *last_batch(struct driver_device *device)
{
    return &device->batches[(device->first + device->count - 1) % DRIVER_BATCH_COUNT];
}

static void end_encoding(struct driver_device *device)
{
    [device->compute endEncoding];
    [device->compute release];
    device->compute = nil;
    [device->blit endEncoding];
    [device->blit release];
    device->blit = nil;
}

static void submit(struct driver_device *device)
{
    if (device->is_open) {
        end_encoding(device);
        [last_batch(device)->commands commit];
        device->is_open = 0;
    }
}

// Gives the oldest batch back, which is done.
static void drop_first(struct driver_device *device)
{
    struct batch *batch = &device->batches[device->first];

    for (uint32_t i = 0; i < batch->read_count; i++) {
        [batch->reads[i].staging release];
    }
    [batch->commands release];
    memset(batch, 0, sizeof(*batch));
    device->first = (device->first + 1) % DRIVER_BATCH_COUNT;
    device->count--;
}

static void retire_first(struct driver_device *device)
{
    struct batch *batch = &device->batches[device->first];

    for (uint32_t i = 0; i < batch->read_count; i++) {
        const struct batch_read *read = &batch->reads[i];

        memcpy(read->target, [read->staging contents], read->size);
    }
    device->reached = batch->ticket;
    drop_first(device);
}

// What was queued behind a command that fails is lost with it.
static tapml_status
keep_failure(struct driver_device *device, tapml_call *call, id<MTLCommandBuffer> commands)
{
    @autoreleasepool {
        const char *text = [[[commands error] localizedDescription] UTF8String];

        (void)snprintf(device->failure, sizeof(device->failure), "queued work has failed: %s",
                       text != NULL ? text : "Metal does not say why"); // Cut if it is too long.
    }
    device->has_failed = 1;
    return check_device(device, call);
}

// Takes the batches off the ring that are done.
static tapml_status collect(struct driver_device *device, tapml_call *call)
{
    while (device->count > (device->is_open ? 1u : 0u)) {
        id<MTLCommandBuffer> commands = device->batches[device->first].commands;
        const MTLCommandBufferStatus state = [commands status];

        if (state == MTLCommandBufferStatusError) {
            return keep_failure(device, call, commands);
        }
        if (state != MTLCommandBufferStatusCompleted) {
            return TAPML_OK;
        }
        retire_first(device);
    }
    return TAPML_OK;
}

// The batch that takes commands: the open one, while there is room in it, or the next.
static tapml_status begin(struct driver_device *device, tapml_call *call, struct batch **out_batch)
{
    tapml_status status = check_device(device, call);

    if (status == TAPML_OK && device->is_open &&
        (last_batch(device)->launch_count == DRIVER_LAUNCH_MAX ||
         last_batch(device)->read_count == DRIVER_READ_MAX)) {
        submit(device);
    }
    if (status == TAPML_OK && !device->is_open && device->count == DRIVER_BATCH_COUNT) {
        [device->batches[device->first].commands waitUntilCompleted];
        status = collect(device, call);
    }
    if (status != TAPML_OK) {
        return status;
    }
    if (!device->is_open) {
        id<MTLCommandBuffer> commands = nil;

        @autoreleasepool {
            commands = [[device->queue commandBuffer] retain];
        }
        if (commands == nil) {
            return gpu_fail(device->root->host, call, TAPML_NO_MEMORY, 0, "no command buffer");
        }
        device->count++;
        device->is_open = 1;
        *last_batch(device) = (struct batch){.commands = commands, .ticket = device->ticket};
    }
    *out_batch = last_batch(device);
    return TAPML_OK;
}

tapml_status queue_blit(struct driver_device *device,
                        tapml_call *call,
                        id<MTLBlitCommandEncoder> *out_encoder)
{
    struct batch *batch = NULL;
    const tapml_status status = begin(device, call, &batch);

    if (status != TAPML_OK) {
        return status;
    }
    if (device->blit == nil) {
        end_encoding(device);
        @autoreleasepool {
            device->blit = [[batch->commands blitCommandEncoder] retain];
        }
    }
    *out_encoder = device->blit;
    return TAPML_OK;
}

void queue_note_read(struct driver_device *device, id<MTLBuffer> staging, void *target, size_t size)
{
    struct batch *batch = last_batch(device);

    batch->reads[batch->read_count++] =
        (struct batch_read){.staging = staging, .target = target, .size = size};
}

void queue_release(struct driver_device *device)
{
    submit(device);
    while (device->count > 0) {
        [device->batches[device->first].commands waitUntilCompleted];
        drop_first(device);
    }
}

// -- Launches ----------------------------------------------------------------------------------

// The encoder for launches.
static tapml_status encode(struct driver_device *device,
                           tapml_call *call,
                           id<MTLComputeCommandEncoder> *out_encoder)
{
    struct batch *batch = NULL;
    const tapml_status status = begin(device, call, &batch);

    if (status != TAPML_OK) {
        return status;
    }
    if (device->compute == nil) {
        end_encoding(device);
        @autoreleasepool {
            device->compute = [[batch->commands computeCommandEncoder] retain];
        }
    }
    *out_encoder = device->compute;
    return TAPML_OK;
}

tapml_status
queue_launch(struct driver_device *device, tapml_call *call, const struct gpu_launch *launch)
{
    const struct driver_pipeline *pipeline = launch->pipeline;
    const struct k_kernel *kernel = pipeline->kernel;
    id<MTLComputeCommandEncoder> encoder = nil;
    const tapml_status status = encode(device, call, &encoder);

    if (status != TAPML_OK) {
        return status;
    }
    [encoder setComputePipelineState:pipeline->state];
    [encoder setBytes:launch->params length:kernel->params_size atIndex:PARAMS_INDEX];
    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        [encoder setBuffer:launch->buffers[i]->memory offset:0 atIndex:kernel->binding[i].index];
    }
    [encoder dispatchThreadgroups:MTLSizeMake(launch->groups[0], launch->groups[1],
                                              launch->groups[2])
            threadsPerThreadgroup:MTLSizeMake(pipeline->items, 1, 1)];
    last_batch(device)->launch_count++;
    return TAPML_OK;
}

tapml_status queue_flush(struct driver_device *device, tapml_call *call)
{
    const tapml_status status = check_device(device, call);

    if (status == TAPML_OK) {
        submit(device);
    }
    return status;
}

// -- Tickets -----------------------------------------------------------------------------------

tapml_status queue_signal(struct driver_device *device, tapml_call *call, uint64_t ticket)
{
    const tapml_status status = check_device(device, call);

    if (status == TAPML_OK) {
        device->ticket = ticket;
        if (device->count > 0) {
            last_batch(device)->ticket = ticket; // Open or under way: it ends with the batch.
        } else {
            device->reached = ticket;
        }
    }
    return status;
}

// Metal waits for ever or not at all, so a wait with an end asks again and again.
tapml_status queue_wait(struct driver_device *device,
                        tapml_call *call,
                        uint64_t ticket,
                        uint64_t timeout_ns,
                        uint64_t *out_reached)
{
    const uint64_t start = gpu_clock_ns();
    tapml_status status = check_device(device, call);

    if (status == TAPML_OK) {
        status = collect(device, call);
    }
    while (status == TAPML_OK && device->count > 0 && device->reached < ticket) {
        if (timeout_ns == UINT64_MAX) {
            [device->batches[device->first].commands waitUntilCompleted];
        } else if (gpu_clock_ns() - start >= timeout_ns) {
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

// A command buffer that fails takes nothing with it: the queue and the buffers work on.
tapml_status queue_restart(struct driver_device *device, tapml_call *call)
{
    queue_release(device);
    device->reached = device->ticket;
    device->has_failed = 0;
    return TAPML_OK;
}
