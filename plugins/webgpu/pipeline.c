// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stdio.h>
#include <string.h>

// Sends a kernel's text and waits for what the browser's compiler says.
static tapml_status build(struct driver_root *root,
                          tapml_call *call,
                          const char *text,
                          const struct driver_pipeline *pipeline)
{
    const struct k_kernel *kernel = pipeline->kernel;
    uint32_t written = 0;
    char what[96];
    const tapml_status status =
        driver_begin(root, call, DRIVER_PIPELINE_NEW, 32 + strlen(kernel->name) + strlen(text));

    if (status != TAPML_OK) {
        return status;
    }
    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        written |= kernel->binding[i].access != K_ACCESS_IN ? 1u << i : 0u;
    }
    wire_put_u32(&root->frames, pipeline->id);
    wire_put_u32(&root->frames, kernel->params_size);
    wire_put_u32(&root->frames, kernel->n_binding);
    wire_put_u32(&root->frames, written);
    wire_put_text(&root->frames, kernel->name);
    wire_put_text(&root->frames, text);
    wire_end(&root->frames);
    (void)snprintf(what, sizeof(what), "kernel '%s'", kernel->name);
    return driver_make(root, call, TAPML_INTERNAL, what);
}

tapml_status pipeline_new(struct driver_device *device,
                          tapml_call *call,
                          const struct k_kernel *kernel,
                          const uint32_t *tune,
                          struct driver_pipeline **out_pipeline)
{
    struct driver_root *root = device->root;
    struct driver_pipeline *pipeline = gpu_alloc(root->host, sizeof(*pipeline));
    struct gpu_text text = {NULL, 0};

    if (pipeline == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    pipeline->kernel = kernel;
    pipeline->id = ++root->last_id;
    tapml_status status = gpu_kernel_text(root->host, call, kernel, tune, GPU_TUNE_CONST, &text);

    if (status == TAPML_OK) {
        status = build(root, call, text.data, pipeline);
        gpu_free(root->host, text.data, text.size);
    }
    if (status != TAPML_OK) {
        gpu_free(root->host, pipeline, sizeof(*pipeline));
        return status;
    }
    *out_pipeline = pipeline;
    return TAPML_OK;
}

void pipeline_free(struct driver_device *device, struct driver_pipeline *pipeline)
{
    struct driver_root *root = device->root;

    // A failure is not reported: a page that has gone holds nothing.
    if (driver_begin(root, NULL, DRIVER_PIPELINE_FREE, 4) == TAPML_OK) {
        wire_put_u32(&root->frames, pipeline->id);
        wire_end(&root->frames);
    }
    gpu_free(root->host, pipeline, sizeof(*pipeline));
}
