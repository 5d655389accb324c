// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "sources.h"

#include <CL/cl_ext.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct k_kernel opencl_kernels[]; // Written by kembed.

static const char *const symbols[] = {
#define SYMBOL(name) #name,
#include "driver_symbols.def"
#undef SYMBOL
    NULL,
};

tapml_status
driver_check(const struct gpu_host *host, tapml_call *call, cl_int code, const char *what)
{
    switch (code) {
    case CL_SUCCESS:
        return TAPML_OK;
    case CL_OUT_OF_HOST_MEMORY:
    case CL_OUT_OF_RESOURCES:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE:
        return gpu_fail(host, call, TAPML_NO_MEMORY, code, "%s: no memory", what);
    case CL_DEVICE_NOT_AVAILABLE:
        return gpu_fail(host, call, TAPML_DEVICE_LOST, code, "%s: the device is gone", what);
    default:
        return gpu_fail(host, call, TAPML_INTERNAL, code, "%s failed with code %d", what, code);
    }
}

// -- Platforms ---------------------------------------------------------------------------------

// A text about a platform; empty where it has none.
static void platform_text(const struct driver_root *root,
                          cl_platform_id platform,
                          cl_platform_info what,
                          char text[128])
{
    memset(text, 0, 128);
    (void)root->cl.clGetPlatformInfo(platform, what, 127, text, NULL); // Then it stays empty.
}

static int is_taken(const struct driver_root *root, const char *id)
{
    for (uint32_t i = 0; i < root->found_count; i++) {
        if (strcmp(root->found[i].id, id) == 0) {
            return 1;
        }
    }
    return 0;
}

// OpenCL 1.2 knows no lasting id of a device, so that it is the name under which the loader knows
// the platform's driver, and the device's number among those of that name: "pocl-0".
static void name_device(const struct driver_root *root, struct driver_found *found)
{
    char suffix[128];
    uint32_t number = 0;

    platform_text(root, found->platform, CL_PLATFORM_ICD_SUFFIX_KHR, suffix);
    for (size_t i = 0; suffix[i] != '\0'; i++) {
        const int is_capital = suffix[i] >= 'A' && suffix[i] <= 'Z';

        suffix[i] = (char)(is_capital ? suffix[i] - 'A' + 'a' : suffix[i]);
    }
    do {
        (void)snprintf(found->id, sizeof(found->id), "%.48s-%u", suffix, number++); // Fits.
    } while (is_taken(root, found->id));
}

// A platform may have no device: the loader lists it all the same.
static void find_devices(struct driver_root *root, cl_platform_id platform)
{
    cl_device_id devices[DRIVER_DEVICE_MAX];
    cl_uint count = 0;

    if (root->cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DRIVER_DEVICE_MAX, devices, &count) !=
        CL_SUCCESS) {
        return;
    }
    for (cl_uint i = 0; i < count && i < DRIVER_DEVICE_MAX; i++) {
        if (root->found_count < DRIVER_DEVICE_MAX) {
            struct driver_found *found = &root->found[root->found_count];

            found->platform = platform;
            found->device = devices[i];
            name_device(root, found);
            root->found_count++;
        }
    }
}

// Whether the option `platform`, a number or a part of a name, means platform `index`.
static int is_wanted(const struct driver_root *root,
                     const char *option,
                     cl_uint index,
                     cl_platform_id platform)
{
    char name[128];
    char *end = NULL;

    if (option == NULL) {
        return 1;
    }
    const unsigned long number = strtoul(option, &end, 10);

    if (isdigit((unsigned char)option[0]) && *end == '\0') {
        return number == index;
    }
    platform_text(root, platform, CL_PLATFORM_NAME, name);
    return strstr(name, option) != NULL;
}

// Takes the devices of the platforms that are not wanted off the list, which keeps the ids of the
// others as they are without the option.
static void keep_platform(struct driver_root *root, cl_platform_id platform)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < root->found_count; i++) {
        if (root->found[i].platform == platform) {
            root->found[kept++] = root->found[i];
        }
    }
    root->found_count = kept;
}

static tapml_status find_platforms(struct driver_root *root, tapml_call *call)
{
    const char *option = root->host->core->option(root->host->host, "platform");
    cl_platform_id platforms[DRIVER_PLATFORM_MAX];
    cl_uint count = 0;
    const cl_int code = root->cl.clGetPlatformIDs(DRIVER_PLATFORM_MAX, platforms, &count);

    if (code != CL_SUCCESS || count == 0) {
        return gpu_fail(root->host, call, TAPML_UNAVAILABLE, code,
                        "libOpenCL.so.1 knows no platform: no OpenCL driver is installed");
    }
    count = count < DRIVER_PLATFORM_MAX ? count : DRIVER_PLATFORM_MAX;
    for (cl_uint i = 0; i < count; i++) {
        find_devices(root, platforms[i]);
    }
    for (cl_uint i = 0; i < count; i++) {
        if (is_wanted(root, option, i, platforms[i])) {
            if (option != NULL) {
                keep_platform(root, platforms[i]);
            }
            return TAPML_OK;
        }
    }
    return gpu_fail(root->host, call, TAPML_NOT_FOUND, 0,
                    "option 'platform' is '%s', which is none of the %u OpenCL platforms", option,
                    count);
}

// -- Life --------------------------------------------------------------------------------------

static void unload(struct driver_root *root)
{
    gpu_library_close(root->library);
    gpu_free(root->host, root, sizeof(*root));
}

static tapml_status
load(const struct gpu_host *host, tapml_call *call, struct driver_root **out_root)
{
    struct driver_root *root = gpu_alloc(host, sizeof(*root));

    if (root == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    root->host = host;
    tapml_status status =
        gpu_library_open(host, call, "libOpenCL.so.1", symbols, &root->cl, &root->library);

    if (status == TAPML_OK) {
        status = find_platforms(root, call);
    }
    if (status != TAPML_OK) {
        unload(root);
        return status;
    }
    *out_root = root;
    return TAPML_OK;
}

const struct gpu_driver driver_table = {
    .id = "opencl",
    .kernels = opencl_kernels,
    .load = load,
    .unload = unload,
    GPU_DRIVER_ENTRIES,
    .restart = queue_restart,
    .notify = queue_notify,
    .sources = DRIVER_SOURCES,
    .passing = GPU_PASSES_ARGUMENTS,
    .buffer_import = memory_import,
    .aside_write = aside_write,
    .aside_follow = aside_follow,
    .aside_signal = aside_signal,
    .aside_join = aside_join,
};
