// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stdio.h>

// Workgroups on one axis. OpenCL allows more; this is what Vulkan and WebGPU promise, so that every
// interface folds a long grid in the same place.
enum { GRID = 65535 };

// What drivers of devices in the memory of the host want of memory that they do not copy: a page.
enum { IMPORT_GRAIN = 4096 };

static uint32_t find_import_grain(const struct driver_functions *cl, cl_device_id device)
{
    cl_bool is_unified = CL_FALSE;

    return cl->clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(is_unified),
                               &is_unified, NULL) == CL_SUCCESS &&
                   is_unified
               ? IMPORT_GRAIN
               : 0;
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
    char version[64] = "", platform[48] = "";

    // What cannot be asked stays empty.
    (void)root->cl.clGetDeviceInfo(found->device, CL_DEVICE_NAME, sizeof(description.name) - 1,
                                   description.name, NULL);
    (void)root->cl.clGetDeviceInfo(found->device, CL_DRIVER_VERSION, sizeof(version) - 1, version,
                                   NULL);
    (void)root->cl.clGetPlatformInfo(found->platform, CL_PLATFORM_NAME, sizeof(platform) - 1,
                                     platform, NULL);
    (void)root->cl.clGetDeviceInfo(found->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong),
                                   &description.memory_bytes, NULL);
    (void)root->cl.clGetDeviceInfo(found->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong),
                                   &description.buffer_bytes, NULL);
    description.import_grain = find_import_grain(&root->cl, found->device);
    (void)snprintf(description.id, sizeof(description.id), "%s", found->id); // Of one size.
    (void)snprintf(description.driver, sizeof(description.driver), "%s %s", platform, version);
    *out_description = description;
    return TAPML_OK;
}

void device_close(struct driver_device *device)
{
    const struct driver_functions *cl = &device->root->cl;

    aside_end(device);
    if (device->queue != NULL) {
        (void)cl->clFinish(device->queue); // A failure was reported by `wait`, or not asked for.
        (void)cl->clReleaseCommandQueue(device->queue);
    }
    for (uint32_t i = 0; i < device->count; i++) {
        (void)cl->clReleaseEvent(device->marker[(device->first + i) % DRIVER_MARKER_MAX].event);
    }
    if (device->context != NULL) {
        (void)cl->clReleaseContext(device->context);
    }
    gpu_free(device->root->host, device, sizeof(*device));
}

// Division and square root are rounded correctly where the device offers it: one thing less by
// which a result differs from the reference.
static tapml_status choose_options(struct driver_device *device, tapml_call *call)
{
    const struct gpu_host *host = device->root->host;
    const char *flags = host->core->option(host->host, "build-flags");
    cl_device_fp_config config = 0;
    const size_t room = sizeof(device->build_options);

    (void)device->root->cl.clGetDeviceInfo(device->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(config),
                                           &config, NULL); // Then it stays 0.
    const int is_exact = (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    const int length = snprintf(device->build_options, room, "-cl-std=CL1.2%s %s",
                                is_exact ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
                                flags != NULL ? flags : "");

    return length >= 0 && (size_t)length < room
               ? TAPML_OK
               : gpu_fail(host, call, TAPML_INVALID, 0, "option 'build-flags' is too long");
}

static struct gpu_limits read_limits(const struct driver_device *device)
{
    const struct driver_functions *cl = &device->root->cl;
    size_t items = 0;
    cl_ulong shared = 0;
    cl_device_type type = 0;

    // What cannot be asked stays 0: such a device refuses its first pipeline.
    (void)cl->clGetDeviceInfo(device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(items), &items,
                              NULL);
    (void)cl->clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(shared), &shared, NULL);
    (void)cl->clGetDeviceInfo(device->id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
    return (struct gpu_limits){
        .group_items = items < UINT32_MAX ? (uint32_t)items : UINT32_MAX,
        .shared_bytes = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX,
        .grid = GRID,
        // No subgroups: OpenCL reports their size only for a compiled kernel, which is too late to
        // choose one.
        .features = GPU_FEATURE_F16 | ((type & CL_DEVICE_TYPE_CPU) != 0 ? GPU_FEATURE_SERIAL : 0),
    };
}

tapml_status device_open(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device)
{
    struct driver_device *device = gpu_alloc(root->host, sizeof(*device));
    cl_int code = CL_SUCCESS;

    if (device == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    device->root = root;
    device->id = root->found[index].device;
    tapml_status status = choose_options(device, call);

    if (status == TAPML_OK) {
        device->context = root->cl.clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
        status = driver_check(root->host, call, code, "clCreateContext");
    }
    if (status == TAPML_OK) {
        device->queue = root->cl.clCreateCommandQueue(device->context, device->id, 0, &code);
        status = driver_check(root->host, call, code, "clCreateCommandQueue");
    }
    if (status != TAPML_OK) {
        device_close(device);
        return status;
    }
    *out_limits = read_limits(device);
    *out_device = device;
    return TAPML_OK;
}
