// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

void pipeline_free(struct driver_device *device, struct driver_pipeline *pipeline)
{
    [pipeline->state release];
    gpu_free(device->root->host, pipeline, sizeof(*pipeline));
}

// Division, square root and the functions as precise as Metal has them.
static id<MTLLibrary> compile(struct driver_device *device, const char *text, NSError **out_error)
{
    MTLCompileOptions *options = [MTLCompileOptions new];

    [options setFastMathEnabled:NO];
    [options setLanguageVersion:MTLLanguageVersion2_3];
    id<MTLLibrary> library =
        [device->device newLibraryWithSource:[NSString stringWithUTF8String:text]
                                     options:options
                                       error:out_error];
    [options release];
    return library;
}

// Compiles `text` into `pipeline`. What fails half-way is freed by the caller.
static tapml_status build(struct driver_device *device,
                          tapml_call *call,
                          const char *text,
                          struct driver_pipeline *pipeline)
{
    const char *name = pipeline->kernel->name;
    NSError *error = nil;
    id<MTLLibrary> library = compile(device, text, &error);

    if (library == nil) {
        return driver_fail(device->root, call, TAPML_INTERNAL, error, name);
    }
    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:name]];

    if (function != nil) {
        pipeline->state = [device->device newComputePipelineStateWithFunction:function
                                                                        error:&error];
    }
    [function release];
    [library release];
    if (pipeline->state == nil) {
        return driver_fail(device->root, call, TAPML_INTERNAL, error, name);
    }
    if ([pipeline->state maxTotalThreadsPerThreadgroup] < pipeline->items) {
        return gpu_fail(device->root->host, call, TAPML_INTERNAL, 0,
                        "kernel '%s' runs with at most %llu work items in a group, not %u", name,
                        (unsigned long long)[pipeline->state maxTotalThreadsPerThreadgroup],
                        pipeline->items);
    }
    return TAPML_OK;
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
        @autoreleasepool {
            status = build(device, call, text.data, pipeline);
        }
        gpu_free(host, text.data, text.size);
    }
    if (status != TAPML_OK) {
        pipeline_free(device, pipeline);
        return status;
    }
    *out_pipeline = pipeline;
    return TAPML_OK;
}
