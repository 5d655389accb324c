// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stdio.h>

// Workgroups on one axis: what CUDA promises for y and z.
enum { GRID = 65535, WARP = 32 };

// As nvidia-smi prints it.
static void print_id(const CUuuid *uuid, char id[64])
{
    int at = snprintf(id, 64, "GPU");

    for (int i = 0; i < 16; i++) {
        const int is_begin = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;

        at += snprintf(id + at, 64 - (size_t)at, "%s%02x", is_begin ? "-" : "", uuid->bytes[i]);
    }
}

// All versions on which results depend.
static void print_driver(struct driver_root *root, int version, char *text, size_t size)
{
    const int at = snprintf(text, size, "CUDA %d.%d, NVRTC %d.%d", version / 1000,
                            version % 1000 / 10, root->nvrtc_major, root->nvrtc_minor);

    product_seek(root);
    if (root->product_library != NULL && at > 0 && (size_t)at < size) {
        (void)snprintf(text + at, size - (size_t)at, ", cuBLASLt %zu",
                       root->lt.cublasLtGetVersion()); // Fits.
    }
}

tapml_status device_describe(struct driver_root *root,
                             tapml_call *call,
                             uint32_t index,
                             struct gpu_description *out_description)
{
    struct gpu_description description = {.memory_bytes = 0};
    CUdevice device = 0;
    CUuuid uuid = {{0}};
    size_t bytes = 0;
    int version = 0;

    if (index >= root->device_count) {
        return gpu_fail(root->host, call, TAPML_NOT_FOUND, 0, "no device %u", index);
    }
    CUresult code = root->cu.cuDeviceGet(&device, (int)index);

    if (code == CUDA_SUCCESS) {
        code = root->cu.cuDeviceGetUuid_v2(&uuid, device);
    }
    if (code != CUDA_SUCCESS) {
        return driver_check(root, call, code, "cuDeviceGetUuid");
    }
    // What cannot be asked stays empty.
    (void)root->cu.cuDeviceGetName(description.name, sizeof(description.name) - 1, device);
    (void)root->cu.cuDeviceTotalMem_v2(&bytes, device);
    (void)root->cu.cuDriverGetVersion(&version);
    print_id(&uuid, description.id);
    print_driver(root, version, description.driver, sizeof(description.driver));
    description.memory_bytes = description.buffer_bytes = bytes;
    *out_description = description;
    return TAPML_OK;
}

tapml_status device_enter(struct driver_device *device, tapml_call *call)
{
    if (device->failure != CUDA_SUCCESS) {
        return driver_check(device->root, call, device->failure, "earlier work");
    }
    return device_check(device, call, device->root->cu.cuCtxSetCurrent(device->context),
                        "cuCtxSetCurrent");
}

static void close_stream(const struct driver_device *device, CUstream stream)
{
    if (stream != NULL) {
        (void)device->root->cu.cuStreamSynchronize(stream);
        (void)device->root->cu.cuStreamDestroy_v2(stream);
    }
}

void device_close(struct driver_device *device)
{
    const struct driver_functions *cu = &device->root->cu;

    // Failures were reported by `wait`, or not asked for. A lost device gives everything back at
    // once.
    if (device->context != NULL && cu->cuCtxSetCurrent(device->context) == CUDA_SUCCESS) {
        close_stream(device, device->stream);
        close_stream(device, device->notices);
        for (uint32_t i = 0; i < DRIVER_MARKER_MAX && device->marker[i].event != NULL; i++) {
            (void)cu->cuEventDestroy_v2(device->marker[i].event);
        }
        for (uint32_t i = 0; i < DRIVER_SLOT_COUNT && device->slot[i].event != NULL; i++) {
            (void)cu->cuEventDestroy_v2(device->slot[i].event);
        }
        if (device->pinned != NULL) {
            (void)cu->cuMemFreeHost(device->pinned);
        }
        product_close(device);
        (void)cu->cuCtxSetCurrent(NULL);
    }
    if (device->context != NULL) {
        (void)cu->cuDevicePrimaryCtxRelease_v2(device->id);
    }
    gpu_free(device->root->host, device, sizeof(*device));
}

// -- Opening -----------------------------------------------------------------------------------

static int ask(const struct driver_device *device, CUdevice_attribute attribute)
{
    int value = 0;

    (void)device->root->cu.cuDeviceGetAttribute(&value, attribute, device->id); // Then it stays 0.
    return value;
}

// Machine code where NVRTC knows the device. For one that is newer, PTX of the newest that it
// knows.
static tapml_status choose_architecture(struct driver_device *device, tapml_call *call)
{
    const struct driver_root *root = device->root;
    const int own = ask(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                    ask(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    int best = 0;

    for (uint32_t i = 0; i < root->arch_count; i++) {
        if (root->arch[i] <= own && root->arch[i] > best) {
            best = root->arch[i];
        }
    }
    if (best == 0) {
        return gpu_fail(root->host, call, TAPML_UNAVAILABLE, 0,
                        "the device has compute capability %d.%d, for which NVRTC %d.%d does not "
                        "compile any more: an older one is needed",
                        own / 10, own % 10, root->nvrtc_major, root->nvrtc_minor);
    }
    device->is_ptx = best != own;
    (void)snprintf(device->architecture, sizeof(device->architecture), "--gpu-architecture=%s_%d",
                   device->is_ptx ? "compute" : "sm", best); // Fits.
    return TAPML_OK;
}

static struct gpu_limits read_limits(const struct driver_device *device)
{
    const int warp = ask(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);

    return (struct gpu_limits){
        .group_items = (uint32_t)ask(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .shared_bytes = (uint32_t)ask(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .grid = GRID,
        .subgroup_min = WARP,
        .subgroup_max = WARP,
        // The dialect counts on warps of 32.
        .features = GPU_FEATURE_F16 | (warp == WARP ? GPU_FEATURE_SUBGROUP : 0),
    };
}

static tapml_status make_events(struct driver_device *device, tapml_call *call)
{
    const struct driver_functions *cu = &device->root->cu;
    CUresult code = CUDA_SUCCESS;

    for (uint32_t i = 0; i < DRIVER_MARKER_MAX && code == CUDA_SUCCESS; i++) {
        code = cu->cuEventCreate(&device->marker[i].event, CU_EVENT_DISABLE_TIMING);
    }
    for (uint32_t i = 0; i < DRIVER_SLOT_COUNT && code == CUDA_SUCCESS; i++) {
        code = cu->cuEventCreate(&device->slot[i].event, CU_EVENT_DISABLE_TIMING);
    }
    return driver_check(device->root, call, code, "cuEventCreate");
}

static tapml_status make_stream(struct driver_device *device, tapml_call *call)
{
    const struct driver_functions *cu = &device->root->cu;
    void *pinned = NULL;
    CUresult code = cu->cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING);

    if (code == CUDA_SUCCESS) {
        code = cu->cuStreamCreate(&device->notices, CU_STREAM_NON_BLOCKING);
    }
    if (code != CUDA_SUCCESS) {
        return driver_check(device->root, call, code, "cuStreamCreate");
    }
    code = cu->cuMemHostAlloc(&pinned, (size_t)DRIVER_SLOT_COUNT * DRIVER_SLOT_BYTES, 0);
    device->pinned = pinned;
    return code == CUDA_SUCCESS ? make_events(device, call)
                                : driver_check(device->root, call, code, "cuMemHostAlloc");
}

static tapml_status enter_context(struct driver_device *device, tapml_call *call, uint32_t index)
{
    const struct driver_functions *cu = &device->root->cu;
    CUresult code = cu->cuDeviceGet(&device->id, (int)index);

    if (code == CUDA_SUCCESS) {
        code = cu->cuDevicePrimaryCtxRetain(&device->context, device->id);
    }
    if (code != CUDA_SUCCESS) {
        return driver_check(device->root, call, code, "cuDevicePrimaryCtxRetain");
    }
    const tapml_status status = device_enter(device, call);

    return status == TAPML_OK ? choose_architecture(device, call) : status;
}

tapml_status device_open(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device)
{
    static const char *const switches[] = {"off", "on"};
    struct driver_device *device = gpu_alloc(root->host, sizeof(*device));
    uint32_t is_cache_on = 1;

    if (device == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    device->root = root;
    tapml_status status = gpu_option(root->host, call, "cache", switches, 2, &is_cache_on);

    device->is_cache_on = is_cache_on != 0;
    if (status == TAPML_OK) {
        status = enter_context(device, call, index);
    }
    if (status == TAPML_OK) {
        status = make_stream(device, call);
    }
    if (status != TAPML_OK) {
        device_close(device);
        return status;
    }
    *out_limits = read_limits(device);
    *out_device = device;
    return TAPML_OK;
}
