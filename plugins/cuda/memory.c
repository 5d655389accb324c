// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <string.h>

tapml_status memory_new(struct driver_device *device,
                        tapml_call *call,
                        uint64_t size,
                        struct driver_buffer **out_buffer)
{
    const struct gpu_host *host = device->root->host;
    struct driver_buffer *buffer = gpu_alloc(host, sizeof(*buffer));

    if (buffer == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    tapml_status status = device_enter(device, call);

    if (status == TAPML_OK) {
        status = device_check(device, call,
                              device->root->cu.cuMemAlloc_v2(&buffer->memory, (size_t)size),
                              "cuMemAlloc");
    }
    if (status != TAPML_OK) {
        gpu_free(host, buffer, sizeof(*buffer));
        return status;
    }
    *out_buffer = buffer;
    return TAPML_OK;
}

void memory_free(struct driver_device *device, struct driver_buffer *buffer)
{
    const struct driver_functions *cu = &device->root->cu;

    // Fails where the device is lost, whose memory is gone with it.
    (void)cu->cuCtxSetCurrent(device->context);
    (void)cu->cuMemFree_v2(buffer->memory);
    gpu_free(device->root->host, buffer, sizeof(*buffer));
}

// -- Slots -------------------------------------------------------------------------------------

static char *slot_memory(const struct driver_device *device, uint32_t slot)
{
    return device->pinned + (size_t)slot * DRIVER_SLOT_BYTES;
}

// Gives the oldest slot back, whose work is done.
static void retire(struct driver_device *device)
{
    struct driver_slot *slot = &device->slot[device->slot_first];

    if (slot->target != NULL) {
        memcpy(slot->target, slot_memory(device, device->slot_first), slot->size);
        slot->target = NULL;
    }
    device->slot_first = (device->slot_first + 1) % DRIVER_SLOT_COUNT;
    device->slot_count--;
}

tapml_status memory_collect(struct driver_device *device, tapml_call *call)
{
    while (device->slot_count > 0) {
        const CUresult code = device->root->cu.cuEventQuery(device->slot[device->slot_first].event);

        if (code == CUDA_ERROR_NOT_READY) {
            return TAPML_OK;
        }
        if (code != CUDA_SUCCESS) {
            return device_check(device, call, code, "queued work");
        }
        retire(device);
    }
    return TAPML_OK;
}

// A slot that is free, the next of the ring: waits for the oldest where all are in use.
static tapml_status take_slot(struct driver_device *device, tapml_call *call, uint32_t *out_slot)
{
    if (device->slot_count == DRIVER_SLOT_COUNT) {
        const tapml_status status = device_check(
            device, call,
            device->root->cu.cuEventSynchronize(device->slot[device->slot_first].event),
            "queued work");

        if (status != TAPML_OK) {
            return status;
        }
        retire(device);
    }
    *out_slot = (device->slot_first + device->slot_count) % DRIVER_SLOT_COUNT;
    return TAPML_OK;
}

// The slot is in use until the command that was just queued is done.
static tapml_status use_slot(struct driver_device *device, tapml_call *call, uint32_t slot)
{
    const tapml_status status = device_check(
        device, call, device->root->cu.cuEventRecord(device->slot[slot].event, device->stream),
        "cuEventRecord");

    if (status == TAPML_OK) {
        device->slot_count++;
    }
    return status;
}

// -- Transfers ---------------------------------------------------------------------------------

static size_t piece_size(uint64_t left)
{
    return left < DRIVER_SLOT_BYTES ? (size_t)left : DRIVER_SLOT_BYTES;
}

tapml_status memory_write(struct driver_device *device,
                          tapml_call *call,
                          struct driver_buffer *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size)
{
    tapml_status status = device_enter(device, call);
    uint32_t slot = 0;

    for (uint64_t done = 0; done < size && status == TAPML_OK; done += DRIVER_SLOT_BYTES) {
        const size_t piece = piece_size(size - done);

        status = take_slot(device, call, &slot);
        if (status == TAPML_OK) {
            memcpy(slot_memory(device, slot), (const char *)source + done, piece);
            status = device_check(device, call,
                                  device->root->cu.cuMemcpyHtoDAsync_v2(
                                      buffer->memory + offset + done, slot_memory(device, slot),
                                      piece, device->stream),
                                  "cuMemcpyHtoDAsync");
        }
        if (status == TAPML_OK) {
            status = use_slot(device, call, slot);
        }
    }
    return status;
}

tapml_status memory_read(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size)
{
    tapml_status status = device_enter(device, call);
    uint32_t slot = 0;

    for (uint64_t done = 0; done < size && status == TAPML_OK; done += DRIVER_SLOT_BYTES) {
        const size_t piece = piece_size(size - done);

        status = take_slot(device, call, &slot);
        if (status == TAPML_OK) {
            status = device_check(device, call,
                                  device->root->cu.cuMemcpyDtoHAsync_v2(
                                      slot_memory(device, slot), buffer->memory + offset + done,
                                      piece, device->stream),
                                  "cuMemcpyDtoHAsync");
        }
        if (status == TAPML_OK) {
            device->slot[slot].target = (char *)target + done;
            device->slot[slot].size = piece;
            status = use_slot(device, call, slot);
        }
    }
    return status;
}

tapml_status memory_copy(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *source,
                         uint64_t source_offset,
                         struct driver_buffer *target,
                         uint64_t target_offset,
                         uint64_t size)
{
    const tapml_status status = device_enter(device, call);

    if (status != TAPML_OK) {
        return status;
    }
    return device_check(device, call,
                        device->root->cu.cuMemcpyDtoDAsync_v2(target->memory + target_offset,
                                                              source->memory + source_offset,
                                                              (size_t)size, device->stream),
                        "cuMemcpyDtoDAsync");
}
