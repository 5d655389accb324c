// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

// Compiles the text that gpu_kernel_text (support.h) writes of a kernel and the values `tune`, or
// takes SPIR-V as it is.
tapml_status pipeline_new(struct driver_device *device,
                          tapml_call *call,
                          const struct k_kernel *kernel,
                          const uint32_t *tune,
                          struct driver_pipeline **out_pipeline)
{
    return gpu_fail(device->root->host, call, TAPML_UNIMPLEMENTED, 0, "%s: no compiler",
                    kernel->name);
}

void pipeline_free(struct driver_device *device, struct driver_pipeline *pipeline)
{
    gpu_free(device->root->host, pipeline, sizeof(*pipeline));
}
