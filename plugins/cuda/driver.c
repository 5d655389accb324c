// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "sources.h"

extern const struct k_kernel cuda_kernels[]; // Written by kembed.

static const char *const driver_names[] = {
#define DRIVER_SYMBOL(name) #name,
#include "driver_symbols.def"
    NULL,
};

static const char *const compiler_names[] = {
#define COMPILER_SYMBOL(name) #name,
#include "driver_symbols.def"
    NULL,
};

// What the driver says of a code, as a sentence.
static const char *error_text(const struct driver_root *root, CUresult code)
{
    const char *text = NULL;

    if (root->cu.cuGetErrorString(code, &text) != CUDA_SUCCESS || text == NULL) {
        return "the driver has no words for it";
    }
    return text;
}

static int is_lost(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_UNKNOWN:
        return 1;
    default:
        return code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_LAUNCH_FAILED;
    }
}

tapml_status
driver_check(const struct driver_root *root, tapml_call *call, CUresult code, const char *what)
{
    if (code == CUDA_SUCCESS) {
        return TAPML_OK;
    }
    if (code == CUDA_ERROR_OUT_OF_MEMORY) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, code, "%s: no memory", what);
    }
    if (is_lost(code)) {
        return gpu_fail(root->host, call, TAPML_DEVICE_LOST, code, "%s: the device is lost: %s",
                        what, error_text(root, code));
    }
    return gpu_fail(root->host, call, TAPML_INTERNAL, code, "%s failed with code %d: %s", what,
                    code, error_text(root, code));
}

tapml_status
device_check(struct driver_device *device, tapml_call *call, CUresult code, const char *what)
{
    if (is_lost(code)) {
        device->failure = code;
    }
    return driver_check(device->root, call, code, what);
}

// -- The libraries -----------------------------------------------------------------------------

static tapml_status open_driver(struct driver_root *root, tapml_call *call)
{
    int count = 0;
    tapml_status status =
        gpu_library_open(root->host, call, "libcuda.so.1", driver_names, &root->cu, &root->library);

    if (status != TAPML_OK) {
        return status;
    }
    CUresult code = root->cu.cuInit(0);

    if (code == CUDA_SUCCESS) {
        code = root->cu.cuDeviceGetCount(&count);
    }
    if (code == CUDA_SUCCESS && count <= 0) {
        code = CUDA_ERROR_NO_DEVICE;
    }
    if (code == CUDA_ERROR_STUB_LIBRARY) {
        return gpu_fail(root->host, call, TAPML_UNAVAILABLE, code,
                        "libcuda.so.1 is the stub of the toolkit, no driver is installed");
    }
    if (code != CUDA_SUCCESS) {
        return gpu_fail(root->host, call, TAPML_UNAVAILABLE, code,
                        "libcuda.so.1 finds no device: %s", error_text(root, code));
    }
    root->device_count = count < DRIVER_DEVICE_MAX ? (uint32_t)count : DRIVER_DEVICE_MAX;
    return TAPML_OK;
}

// Opens NVRTC: the library of the option `nvrtc`, or the newest that is installed.
static tapml_status open_compiler(struct driver_root *root, tapml_call *call)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    const char *option = root->host->core->option(root->host->host, "nvrtc");

    if (option != NULL) {
        return gpu_library_open(root->host, call, option, compiler_names, &root->nvrtc,
                                &root->compiler_library);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (gpu_library_open(root->host, NULL, names[i], compiler_names, &root->nvrtc,
                             &root->compiler_library) == TAPML_OK) {
            return TAPML_OK;
        }
    }
    return gpu_fail(root->host, call, TAPML_UNAVAILABLE, 0,
                    "NVRTC is not installed: there is no libnvrtc.so.13, .12 or .11.2 that can be "
                    "opened, and option 'nvrtc' names none");
}

static tapml_status ask_compiler(struct driver_root *root, tapml_call *call)
{
    int count = 0;
    nvrtcResult code = root->nvrtc.nvrtcVersion(&root->nvrtc_major, &root->nvrtc_minor);

    if (code == NVRTC_SUCCESS) {
        code = root->nvrtc.nvrtcGetNumSupportedArchs(&count);
    }
    if (code == NVRTC_SUCCESS && count > 0 && count <= DRIVER_ARCH_MAX) {
        code = root->nvrtc.nvrtcGetSupportedArchs(root->arch);
        root->arch_count = (uint32_t)count;
    }
    if (code != NVRTC_SUCCESS || root->arch_count == 0) {
        return gpu_fail(root->host, call, TAPML_UNAVAILABLE, code,
                        "NVRTC does not say what it compiles for: %s",
                        root->nvrtc.nvrtcGetErrorString(code));
    }
    return TAPML_OK;
}

// -- Life --------------------------------------------------------------------------------------

static void unload(struct driver_root *root)
{
    gpu_library_close(root->product_library);
    gpu_library_close(root->compiler_library);
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
    tapml_status status = open_driver(root, call);

    if (status == TAPML_OK) {
        status = open_compiler(root, call);
    }
    if (status == TAPML_OK) {
        status = ask_compiler(root, call);
    }
    if (status == TAPML_OK) {
        status = product_load(root, call);
    }
    if (status != TAPML_OK) {
        unload(root);
        return status;
    }
    *out_root = root;
    return TAPML_OK;
}

const struct gpu_driver driver_table = {
    .id = "cuda",
    .kernels = cuda_kernels,
    .load = load,
    .unload = unload,
    GPU_DRIVER_ENTRIES,
    .takes_product = product_is_taken,
    .product = product_queue,
    .notify = queue_notify,
    .sources = DRIVER_SOURCES,
    .passing = GPU_PASSES_ARGUMENTS,
};
