// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/forecast_device.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>

struct forecast_device {
    struct backend backend;
    const struct device_file *file;
    struct backend_info info;
};

static const struct forecast_device *own(const struct backend *backend)
{
    return (const struct forecast_device *)backend;
}

static int is_tensor(uint32_t kind)
{
    return kind == TAPML_P_TENSOR_IN || kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;
}

uint32_t forecast_device_bindings(const tapml_op *op, const tapml_value *args)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < op->n_params; p++) {
        count += is_tensor(args[p].kind) || (args[p].kind == TAPML_P_TENSORS_IN && args[p].count);
    }
    return count;
}

static uint64_t elements(const tapml_tensor *tensor)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < tensor->rank; i++) {
        const uint64_t extent = tensor->shape[i] > 0 ? (uint64_t)tensor->shape[i] : 0;

        if (__builtin_mul_overflow(count, extent, &count)) {
            return UINT64_MAX;
        }
    }
    return count;
}

uint64_t forecast_device_outputs(const tapml_op *op, const tapml_value *args)
{
    uint64_t most = 0;

    for (uint32_t p = 0; p < op->n_params; p++) {
        if (args[p].kind == TAPML_P_TENSOR_OUT) {
            const uint64_t count = elements(args[p].u.p);

            most = count > most ? count : most;
        }
    }
    return most;
}

// -- What is refused ---------------------------------------------------------------------------

static int has_half(const tapml_op *op, const tapml_value *args)
{
    for (uint32_t p = 0; p < op->n_params; p++) {
        const tapml_tensor *tensor = is_tensor(args[p].kind) ? args[p].u.p : NULL;

        if (tensor != NULL && tensor->dtype == TAPML_F16 && tensor->encoding == NULL &&
            (op->params[p]->effects & TAPML_E_WEIGHT) == 0) {
            return 1;
        }
    }
    return 0;
}

static void refuse_grid(const struct device_file *file, uint64_t outputs, tapml_support *answer)
{
    const double room = (double)file->group_items * (double)file->grid * (double)file->grid;

    if (room > 0 && (double)outputs > room) {
        answer->grade = TAPML_SUPPORT_NO;
        (void)snprintf(answer->reason, sizeof(answer->reason),
                       "%" PRIu64 " values, a grid of two axes has %.4g work items", outputs, room);
    }
}

static tapml_status device_supports(struct backend *backend,
                                    const struct compiled_op *schema,
                                    const tapml_value *args,
                                    tapml_support *answer)
{
    const struct device_file *file = own(backend)->file;
    const uint32_t bindings = forecast_device_bindings(schema->op, args);

    *answer = (tapml_support){.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_YES};
    if (file->f16 == DEVICE_FILE_NONE && has_half(schema->op, args)) {
        answer->grade = TAPML_SUPPORT_NO;
        (void)snprintf(answer->reason, sizeof(answer->reason),
                       "activations are f16, which the device does not keep");
    } else if (file->bindings > 0 && bindings > file->bindings) {
        answer->grade = TAPML_SUPPORT_NO;
        (void)snprintf(answer->reason, sizeof(answer->reason),
                       "binds %" PRIu32 " buffers, a kernel has %" PRId64, bindings,
                       file->bindings);
    } else {
        refuse_grid(file, forecast_device_outputs(schema->op, args), answer);
    }
    return TAPML_OK;
}

// -- The table ---------------------------------------------------------------------------------

static void device_release(struct backend *backend)
{
    alloc_free(backend);
}

static const struct backend_info *device_info(const struct backend *backend)
{
    return &own(backend)->info;
}

static int device_has_op(struct backend *backend, const tapml_op *op)
{
    (void)backend;
    (void)op;
    return 1;
}

static tapml_status refuse(const struct backend *backend)
{
    return status_fail(TAPML_UNIMPLEMENTED, "'%s' is a file and runs nothing",
                       own(backend)->file->name);
}

static tapml_status
device_buffer_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    (void)size;
    (void)out_buffer;
    return refuse(backend);
}

static void device_buffer_free(struct backend *backend, tapml_object *buffer)
{
    (void)backend; // There is none.
    (void)buffer;
}

static tapml_status device_write(struct backend *backend,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 const void *source,
                                 uint64_t size)
{
    (void)buffer;
    (void)offset;
    (void)source;
    (void)size;
    return refuse(backend);
}

static tapml_status device_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    (void)buffer;
    (void)offset;
    (void)target;
    (void)size;
    return refuse(backend);
}

static tapml_status device_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    (void)buffer;
    (void)offset;
    (void)size;
    (void)pattern;
    return refuse(backend);
}

static tapml_status device_call(struct backend *backend, const struct backend_call *call)
{
    (void)call;
    return refuse(backend);
}

// Nothing is ever queued.
static tapml_status device_wait(struct backend *backend)
{
    (void)backend;
    return TAPML_OK;
}

static tapml_status device_signal(struct backend *backend, struct backend_point *out_point)
{
    *out_point = (struct backend_point){.owner = backend};
    return TAPML_OK;
}

static tapml_status device_wait_for(struct backend *backend, struct backend_point point)
{
    (void)backend;
    (void)point;
    return TAPML_OK;
}

static uint64_t device_launches(struct backend *backend)
{
    (void)backend;
    return 0;
}

static const char *device_identity(struct backend *backend, const tapml_op *op)
{
    (void)op;
    return own(backend)->file->name;
}

static uint64_t device_generation(const struct backend *backend)
{
    (void)backend;
    return 0;
}

static const struct backend_vt device_vt = {
    .release = device_release,
    .info = device_info,
    .has_op = device_has_op,
    .supports = device_supports,
    .buffer_new = device_buffer_new,
    .buffer_free = device_buffer_free,
    .write = device_write,
    .read = device_read,
    .fill = device_fill,
    .call = device_call,
    .flush = device_wait,
    .wait = device_wait,
    .signal = device_signal,
    .wait_for = device_wait_for,
    .launches = device_launches,
    .identity = device_identity,
    .generation = device_generation,
};

tapml_status forecast_device_create(const struct device_file *file,
                                    enum activation activation,
                                    struct backend **out_backend)
{
    struct forecast_device *device = alloc_new(sizeof(*device));

    if (device == NULL) {
        return status_no_memory();
    }
    device->backend.vt = &device_vt;
    device->file = file;
    device->info = (struct backend_info){.component = "forecast",
                                         .plugin = "",
                                         .plugin_version = "",
                                         .build_id = "",
                                         .device = "file",
                                         .device_name = file->name,
                                         .driver = file->driver != NULL ? file->driver : "",
                                         .buffer_bytes_max = device_file_bytes_max(file),
                                         .memory_bytes = (uint64_t)file->memory_bytes,
                                         .activation = activation};
    *out_backend = &device->backend;
    return TAPML_OK;
}
