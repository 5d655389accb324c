// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "sources.h"

// With the kernels of a language, which the build file names, this is `extern const struct k_kernel
// opencl_kernels[];`. Without them no op is there.
static const struct k_kernel no_kernels[] = {{.name = NULL}};

// Opens the library of the interface with gpu_library_open (support.h), which answers
// TAPML_UNAVAILABLE where it is not installed: a plugin is not linked with it.
static tapml_status
load(const struct gpu_host *host, tapml_call *call, struct driver_root **out_root)
{
    struct driver_root *root = gpu_alloc(host, sizeof(*root));

    if (root == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    root->host = host;
    *out_root = root;
    return TAPML_OK;
}

static void unload(struct driver_root *root)
{
    gpu_free(root->host, root, sizeof(*root));
}

const struct gpu_driver driver_table = {
    .id = "sample",
    .kernels = no_kernels,
    .load = load,
    .unload = unload,
    GPU_DRIVER_ENTRIES,
    .fill = memory_fill,
    .sources = DRIVER_SOURCES,
};
