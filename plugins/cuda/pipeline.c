// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <tapml/gpu/cache.h>

#include <string.h>

// The kernels say fma where they mean it, so that results are those of the other backends.
static const char *const no_contraction = "--fmad=false";

void pipeline_free(struct driver_device *device, struct driver_pipeline *pipeline)
{
    if (pipeline->module != NULL) {
        // Fails where the device is lost, whose modules are gone with it.
        (void)device->root->cu.cuCtxSetCurrent(device->context);
        (void)device->root->cu.cuModuleUnload(pipeline->module);
    }
    gpu_free(device->root->host, pipeline, sizeof(*pipeline));
}

// -- The compiler ------------------------------------------------------------------------------

static tapml_status
compiler_check(const struct driver_root *root, tapml_call *call, nvrtcResult code, const char *what)
{
    if (code == NVRTC_SUCCESS) {
        return TAPML_OK;
    }
    return gpu_fail(root->host, call,
                    code == NVRTC_ERROR_OUT_OF_MEMORY ? TAPML_NO_MEMORY : TAPML_INTERNAL, code,
                    "%s: %s", what, root->nvrtc.nvrtcGetErrorString(code));
}

// Says what the compiler did not like.
static tapml_status refuse(const struct driver_root *root,
                           tapml_call *call,
                           nvrtcProgram program,
                           nvrtcResult code,
                           const char *name)
{
    size_t size = 0;
    char *log = NULL;

    if (root->nvrtc.nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
        log = gpu_alloc(root->host, size);
    }
    if (log == NULL || root->nvrtc.nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS) {
        gpu_free(root->host, log, size);
        return compiler_check(root, call, code, name);
    }
    const tapml_status status =
        gpu_fail(root->host, call, TAPML_INTERNAL, code, "kernel '%s': %.400s", name, log);

    gpu_free(root->host, log, size);
    return status;
}

// What has been compiled, as the driver loads it.
static tapml_status take_code(const struct driver_device *device,
                              tapml_call *call,
                              nvrtcProgram program,
                              struct gpu_text *out_code)
{
    const struct driver_root *root = device->root;
    const struct compiler_functions *nvrtc = &root->nvrtc;
    size_t size = 0;
    nvrtcResult code = device->is_ptx ? nvrtc->nvrtcGetPTXSize(program, &size)
                                      : nvrtc->nvrtcGetCUBINSize(program, &size);

    if (code != NVRTC_SUCCESS || size == 0) {
        return gpu_fail(root->host, call, TAPML_INTERNAL, code, "NVRTC has made no code");
    }
    char *data = gpu_alloc(root->host, size);

    if (data == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    code = device->is_ptx ? nvrtc->nvrtcGetPTX(program, data) : nvrtc->nvrtcGetCUBIN(program, data);
    if (code != NVRTC_SUCCESS) {
        gpu_free(root->host, data, size);
        return compiler_check(root, call, code, "nvrtcGetCUBIN");
    }
    *out_code = (struct gpu_text){data, size};
    return TAPML_OK;
}

static tapml_status compile(const struct driver_device *device,
                            tapml_call *call,
                            const struct k_kernel *kernel,
                            const char *text,
                            struct gpu_text *out_code)
{
    const struct driver_root *root = device->root;
    const char *options[] = {device->architecture, no_contraction};
    nvrtcProgram program = NULL;
    nvrtcResult code = root->nvrtc.nvrtcCreateProgram(&program, text, kernel->name, 0, NULL, NULL);

    if (code != NVRTC_SUCCESS) {
        return compiler_check(root, call, code, "nvrtcCreateProgram");
    }
    code = root->nvrtc.nvrtcCompileProgram(program, 2, options);
    const tapml_status status = code == NVRTC_SUCCESS
                                    ? take_code(device, call, program, out_code)
                                    : refuse(root, call, program, code, kernel->name);

    (void)root->nvrtc.nvrtcDestroyProgram(&program); // Only a foreign handle can fail.
    return status;
}

// -- Pipelines ---------------------------------------------------------------------------------

static tapml_status load_module(struct driver_device *device,
                                tapml_call *call,
                                const char *code,
                                struct driver_pipeline *pipeline)
{
    const struct driver_functions *cu = &device->root->cu;
    tapml_status status = device_check(device, call, cu->cuModuleLoadData(&pipeline->module, code),
                                       "cuModuleLoadData");

    if (status != TAPML_OK) {
        return status;
    }
    status = device_check(
        device, call,
        cu->cuModuleGetFunction(&pipeline->function, pipeline->module, pipeline->kernel->name),
        "cuModuleGetFunction");
    if (status != TAPML_OK) {
        (void)cu->cuModuleUnload(pipeline->module);
        pipeline->module = NULL;
    }
    return status;
}

// All that the code depends on. The driver's version is not of it: it takes machine code and PTX of
// any compiler that is not newer, and refuses the others.
static struct gpu_cache_key make_key(const struct driver_device *device, const char *text)
{
    const int version[] = {device->root->nvrtc_major, device->root->nvrtc_minor};
    struct gpu_cache_key key = {0};

    gpu_cache_key_add(&key, version, sizeof(version));
    gpu_cache_key_add(&key, device->architecture, strlen(device->architecture) + 1);
    gpu_cache_key_add(&key, no_contraction, strlen(no_contraction) + 1);
    gpu_cache_key_add(&key, text, strlen(text));
    return key;
}

// Makes the module of `text` from what is cached, or compiles it.
static tapml_status build(struct driver_device *device,
                          tapml_call *call,
                          const char *text,
                          struct driver_pipeline *pipeline)
{
    const struct gpu_host *host = device->root->host;
    const struct gpu_cache_key key = make_key(device, text);
    struct gpu_text code = {NULL, 0};

    if (device->is_cache_on && gpu_cache_load(host, &key, &code)) {
        const tapml_status status = load_module(device, NULL, code.data, pipeline);

        gpu_free(host, code.data, code.size);
        if (status == TAPML_OK) {
            return TAPML_OK;
        }
    }
    tapml_status status = compile(device, call, pipeline->kernel, text, &code);

    if (status != TAPML_OK) {
        return status;
    }
    status = load_module(device, call, code.data, pipeline);
    if (status == TAPML_OK && device->is_cache_on) {
        gpu_cache_store(host, &key, code.data, code.size);
    }
    gpu_free(host, code.data, code.size);
    return status;
}

tapml_status pipeline_new(struct driver_device *device,
                          tapml_call *call,
                          const struct k_kernel *kernel,
                          const uint32_t *tune,
                          struct driver_pipeline **out_pipeline)
{
    const struct gpu_host *host = device->root->host;
    struct driver_pipeline *pipeline = gpu_alloc(host, sizeof(*pipeline));
    struct gpu_text text = {NULL, 0};

    if (pipeline == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    pipeline->kernel = kernel;
    pipeline->items = tune[0];
    tapml_status status = device_enter(device, call);

    if (status == TAPML_OK) {
        status = gpu_kernel_text(host, call, kernel, tune, GPU_TUNE_DEFINE, &text);
    }
    if (status == TAPML_OK) {
        status = build(device, call, text.data, pipeline);
        gpu_free(host, text.data, text.size);
    }
    if (status != TAPML_OK) {
        pipeline_free(device, pipeline);
        return status;
    }
    *out_pipeline = pipeline;
    return TAPML_OK;
}
