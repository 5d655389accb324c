// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/backend.h"

#include "base/assert.h"

void backend_release(struct backend *backend)
{
    if (backend) {
        backend->vt->release(backend);
    }
}

const struct backend_info *backend_info(const struct backend *backend)
{
    return backend->vt->info(backend);
}

int backend_has_op(struct backend *backend, const tapml_op *op)
{
    return backend->vt->has_op(backend, op);
}

tapml_status backend_supports(struct backend *backend,
                              const struct compiled_op *schema,
                              const tapml_value *args,
                              tapml_support *answer)
{
    return backend->vt->supports(backend, schema, args, answer);
}

tapml_status backend_buffer_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    return backend->vt->buffer_new(backend, size, out_buffer);
}

tapml_status backend_buffer_wrap(struct backend *backend,
                                 void *memory,
                                 uint64_t size,
                                 uint32_t access,
                                 tapml_object **out_buffer)
{
    return backend->vt->buffer_wrap(backend, memory, size, access, out_buffer);
}

void backend_buffer_free(struct backend *backend, tapml_object *buffer)
{
    if (buffer) {
        backend->vt->buffer_free(backend, buffer);
    }
}

tapml_status backend_write(struct backend *backend,
                           tapml_object *buffer,
                           uint64_t offset,
                           const void *source,
                           uint64_t size)
{
    return backend->vt->write(backend, buffer, offset, source, size);
}

tapml_status backend_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    return backend->vt->read(backend, buffer, offset, target, size);
}

tapml_status backend_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    return backend->vt->fill(backend, buffer, offset, size, pattern);
}

tapml_status backend_map(struct backend *backend,
                         tapml_object *buffer,
                         uint64_t offset,
                         uint64_t size,
                         const void **out_memory)
{
    *out_memory = NULL;
    return backend->vt->map ? backend->vt->map(backend, buffer, offset, size, out_memory)
                            : TAPML_OK;
}

void backend_unmap(struct backend *backend, tapml_object *buffer)
{
    backend->vt->unmap(backend, buffer);
}

tapml_status backend_call(struct backend *backend, const struct backend_call *call)
{
    ASSERT(call->inferred && call->inferred->schema->op == call->op);
    return backend->vt->call(backend, call);
}

tapml_status backend_flush(struct backend *backend)
{
    return backend->vt->flush(backend);
}

tapml_status backend_wait(struct backend *backend)
{
    return backend->vt->wait(backend);
}

tapml_status backend_signal(struct backend *backend, struct backend_point *out_point)
{
    return backend->vt->signal(backend, out_point);
}

tapml_status backend_wait_for(struct backend *backend, struct backend_point point)
{
    return backend->vt->wait_for(backend, point);
}

tapml_status backend_queue_wait(struct backend *backend, struct backend_point point)
{
    return backend->vt->queue_wait
               ? backend->vt->queue_wait(backend, point)
               : status_fail(TAPML_UNIMPLEMENTED, "%s: it waits for no point of another device",
                             backend_info(backend)->component);
}

uint64_t backend_launches(struct backend *backend)
{
    return backend->vt->launches(backend);
}

uint64_t backend_generation(const struct backend *backend)
{
    return backend->vt->generation(backend);
}

tapml_status backend_lend(struct backend *backend, const struct backend_loan *loan)
{
    return backend->vt->lend ? backend->vt->lend(backend, loan) : TAPML_OK;
}

void backend_take_back(struct backend *backend, const void *memory)
{
    if (backend->vt->take_back) {
        backend->vt->take_back(backend, memory);
    }
}

// -- Forwarding, for wrappers ------------------------------------------------------------------

static struct backend *inner(const struct backend *backend)
{
    return ((const struct backend_wrapper *)backend)->inner;
}

static void forward_release(struct backend *backend)
{
    // A wrapper borrows what it wraps, and is no memory of this table's.
}

static const struct backend_info *forward_info(const struct backend *backend)
{
    return backend_info(inner(backend));
}

static int forward_has_op(struct backend *backend, const tapml_op *op)
{
    return backend_has_op(inner(backend), op);
}

static tapml_status forward_supports(struct backend *backend,
                                     const struct compiled_op *schema,
                                     const tapml_value *args,
                                     tapml_support *answer)
{
    return backend_supports(inner(backend), schema, args, answer);
}

static tapml_status
forward_buffer_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    return backend_buffer_new(inner(backend), size, out_buffer);
}

static tapml_status forward_buffer_wrap(struct backend *backend,
                                        void *memory,
                                        uint64_t size,
                                        uint32_t access,
                                        tapml_object **out_buffer)
{
    return backend_buffer_wrap(inner(backend), memory, size, access, out_buffer);
}

static void forward_buffer_free(struct backend *backend, tapml_object *buffer)
{
    backend_buffer_free(inner(backend), buffer);
}

static tapml_status forward_write(struct backend *backend,
                                  tapml_object *buffer,
                                  uint64_t offset,
                                  const void *source,
                                  uint64_t size)
{
    return backend_write(inner(backend), buffer, offset, source, size);
}

static tapml_status forward_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    return backend_read(inner(backend), buffer, offset, target, size);
}

static tapml_status forward_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    return backend_fill(inner(backend), buffer, offset, size, pattern);
}

static tapml_status forward_map(struct backend *backend,
                                tapml_object *buffer,
                                uint64_t offset,
                                uint64_t size,
                                const void **out_memory)
{
    return backend_map(inner(backend), buffer, offset, size, out_memory);
}

static void forward_unmap(struct backend *backend, tapml_object *buffer)
{
    backend_unmap(inner(backend), buffer);
}

static tapml_status forward_call(struct backend *backend, const struct backend_call *call)
{
    return backend_call(inner(backend), call);
}

static tapml_status forward_flush(struct backend *backend)
{
    return backend_flush(inner(backend));
}

static tapml_status forward_wait(struct backend *backend)
{
    return backend_wait(inner(backend));
}

static tapml_status forward_signal(struct backend *backend, struct backend_point *out_point)
{
    return backend_signal(inner(backend), out_point);
}

static tapml_status forward_wait_for(struct backend *backend, struct backend_point point)
{
    return backend_wait_for(inner(backend), point);
}

static tapml_status forward_queue_wait(struct backend *backend, struct backend_point point)
{
    return backend_queue_wait(inner(backend), point);
}

static uint64_t forward_launches(struct backend *backend)
{
    return backend_launches(inner(backend));
}

static uint64_t forward_generation(const struct backend *backend)
{
    return backend_generation(inner(backend));
}

static tapml_status forward_lend(struct backend *backend, const struct backend_loan *loan)
{
    return backend_lend(inner(backend), loan);
}

static void forward_take_back(struct backend *backend, const void *memory)
{
    backend_take_back(inner(backend), memory);
}

const struct backend_vt backend_forward_vt = {
    .release = forward_release,
    .info = forward_info,
    .has_op = forward_has_op,
    .supports = forward_supports,
    .buffer_new = forward_buffer_new,
    .buffer_wrap = forward_buffer_wrap,
    .buffer_free = forward_buffer_free,
    .write = forward_write,
    .read = forward_read,
    .fill = forward_fill,
    .map = forward_map,
    .unmap = forward_unmap,
    .call = forward_call,
    .flush = forward_flush,
    .wait = forward_wait,
    .signal = forward_signal,
    .wait_for = forward_wait_for,
    .queue_wait = forward_queue_wait,
    .launches = forward_launches,
    .generation = forward_generation,
    .lend = forward_lend,
    .take_back = forward_take_back,
};
