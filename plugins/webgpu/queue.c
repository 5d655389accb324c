// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

tapml_status
queue_launch(struct driver_device *device, tapml_call *call, const struct gpu_launch *launch)
{
    struct driver_root *root = device->root;
    const struct k_kernel *kernel = launch->pipeline->kernel;
    const tapml_status status =
        driver_begin(root, call, DRIVER_LAUNCH, 24 + 12u * kernel->n_binding + kernel->params_size);

    if (status != TAPML_OK) {
        return status;
    }
    wire_put_u32(&root->frames, launch->pipeline->id);
    for (int i = 0; i < 3; i++) {
        wire_put_u32(&root->frames, launch->groups[i]);
    }
    wire_put_u64(&root->frames, launch->number);
    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        wire_put_u32(&root->frames, launch->buffers[i]->id);
    }
    wire_put_bytes(&root->frames, launch->params, kernel->params_size);
    for (uint32_t i = 0; launch->offsets != NULL && i < kernel->n_binding; i++) {
        wire_put_u64(&root->frames, launch->offsets[i]); // At the end, of kernels that have some.
    }
    wire_end(&root->frames);
    return TAPML_OK;
}

tapml_status queue_signal(struct driver_device *device, tapml_call *call, uint64_t ticket)
{
    struct driver_root *root = device->root;
    const tapml_status status = driver_begin(root, call, DRIVER_SIGNAL, 12);

    if (status == TAPML_OK) {
        wire_put_u32(&root->frames, device->stream);
        wire_put_u64(&root->frames, ticket);
        wire_end(&root->frames);
        root->answers.signalled[device->stream] = ticket;
    }
    return status;
}

tapml_status queue_flush(struct driver_device *device, tapml_call *call)
{
    return driver_flush(device->root, call);
}

tapml_status queue_wait(struct driver_device *device,
                        tapml_call *call,
                        uint64_t ticket,
                        uint64_t timeout_ns,
                        uint64_t *out_reached)
{
    static const uint64_t step_ns = UINT64_C(1000000000);
    struct driver_root *root = device->root;
    const uint64_t *reached = &root->answers.reached[device->stream];
    const uint64_t begin = gpu_clock_ns();
    tapml_status status = driver_serve(root, call, 0);
    uint64_t passed_ns = gpu_clock_ns() - begin;

    while (status == TAPML_OK && *reached < ticket && passed_ns < timeout_ns) {
        const uint64_t left_ns = timeout_ns - passed_ns;

        status = driver_serve(root, call, left_ns < step_ns ? left_ns : step_ns);
        passed_ns = gpu_clock_ns() - begin;
    }
    if (status == TAPML_OK) {
        *out_reached = *reached;
    }
    return status;
}
