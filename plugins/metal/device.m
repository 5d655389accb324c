// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stdio.h>

// Workgroups on one axis. Metal allows more; this is what Vulkan and WebGPU promise, so that every
// interface folds a long grid in the same place.
enum { GRID = 65535, SIMD_WIDTH = 32 };

static uint32_t clamp(NSUInteger value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

tapml_status device_describe(struct driver_root *root,
                             tapml_call *call,
                             uint32_t index,
                             struct gpu_description *out_description)
{
    struct gpu_description description = {.memory_bytes = 0};

    if (index >= root->found_count) {
        return gpu_fail(root->host, call, TAPML_NOT_FOUND, 0, "no device %u", index);
    }
    const struct driver_found *found = &root->found[index];

    @autoreleasepool {
        // The texts are cut where they are too long.
        (void)snprintf(description.id, sizeof(description.id), "%s", found->id);
        (void)snprintf(description.name, sizeof(description.name), "%s",
                       [[found->device name] UTF8String]);
        (void)snprintf(
            description.driver, sizeof(description.driver), "Metal, macOS %s",
            [[[NSProcessInfo processInfo] operatingSystemVersionString] UTF8String]);
        description.memory_bytes = [found->device recommendedMaxWorkingSetSize];
        description.buffer_bytes = [found->device maxBufferLength];
    }
    *out_description = description;
    return TAPML_OK;
}

void device_close(struct driver_device *device)
{
    queue_release(device);
    [device->queue release];
    gpu_free(device->root->host, device, sizeof(*device));
}

// Apple's own GPUs from the M1 on have SIMD groups of 32 that reduce; on others the width is known
// only of a compiled kernel, which is too late to choose one.
static struct gpu_limits read_limits(id<MTLDevice> device)
{
    const int has_simd = [device supportsFamily:MTLGPUFamilyApple7];

    return (struct gpu_limits){
        .group_items = clamp([device maxThreadsPerThreadgroup].width),
        .shared_bytes = clamp([device maxThreadgroupMemoryLength]),
        .grid = GRID,
        .subgroup_min = has_simd ? SIMD_WIDTH : 0,
        .subgroup_max = has_simd ? SIMD_WIDTH : 0,
        .features = GPU_FEATURE_F16 | (has_simd ? GPU_FEATURE_SUBGROUP : 0),
    };
}

tapml_status device_open(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device)
{
    struct driver_device *device = gpu_alloc(root->host, sizeof(*device));

    if (device == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    device->root = root;
    device->device = root->found[index].device; // The root's.
    device->queue = [device->device newCommandQueue];
    if (device->queue == nil) {
        device_close(device);
        return gpu_fail(root->host, call, TAPML_UNAVAILABLE, 0, "Metal gives no command queue");
    }
    *out_limits = read_limits(device->device);
    *out_device = device;
    return TAPML_OK;
}
