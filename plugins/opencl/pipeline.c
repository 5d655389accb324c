// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

void pipeline_free(struct driver_device *device, struct driver_pipeline *pipeline)
{
    const struct driver_functions *cl = &device->root->cl;

    if (pipeline->code != NULL) {
        (void)cl->clReleaseKernel(pipeline->code);
    }
    if (pipeline->program != NULL) {
        (void)cl->clReleaseProgram(pipeline->program);
    }
    gpu_free(device->root->host, pipeline, sizeof(*pipeline));
}

// Compiles `text` into `pipeline`. What fails half-way is freed by the caller.
static tapml_status build(struct driver_device *device,
                          tapml_call *call,
                          const char *text,
                          struct driver_pipeline *pipeline)
{
    const struct driver_functions *cl = &device->root->cl;
    const struct gpu_host *host = device->root->host;
    cl_int code = CL_SUCCESS;

    pipeline->program = cl->clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS) {
        return driver_check(host, call, code, "clCreateProgramWithSource");
    }
    code = cl->clBuildProgram(pipeline->program, 1, &device->id, device->build_options, NULL, NULL);
    if (code != CL_SUCCESS) {
        char log[400] = "";

        (void)cl->clGetProgramBuildInfo(pipeline->program, device->id, CL_PROGRAM_BUILD_LOG,
                                        sizeof(log) - 1, log, NULL);
        return gpu_fail(host, call, TAPML_INTERNAL, code, "kernel '%s': %s", pipeline->kernel->name,
                        log);
    }
    pipeline->code = cl->clCreateKernel(pipeline->program, pipeline->kernel->name, &code);
    return driver_check(host, call, code, "clCreateKernel");
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
    tapml_status status = gpu_kernel_text(host, call, kernel, tune, GPU_TUNE_DEFINE, &text);

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
