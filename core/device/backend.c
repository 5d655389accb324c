// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/backend.h"

#include "base/assert.h"
#include "device/panels.h"
#include "tensor/extent.h"

#include <stdio.h>

// -- What is checked ---------------------------------------------------------------------------

static tapml_status
forward_buffer_new(struct backend *backend, uint64_t size, tapml_object **out_buffer);

// A wrapper that forwards buffers leaves the checks to the one that makes them.
static int is_checked(const struct backend *backend)
{
    return backend->vt->buffer_new != forward_buffer_new;
}

// What is asked for, as messages name it.
struct request {
    const char *what; // "a write"
    uint64_t offset, size;
};

#define DEVICE_FORMAT   "%s:%s: "
#define DEVICE_OF(info) (info)->component, (info)->device

static tapml_status
refuse(const struct backend *backend, const struct request *request, const char *why)
{
    return status_fail(TAPML_INVALID, DEVICE_FORMAT "%s of %llu bytes at %llu%s",
                       DEVICE_OF(backend_info(backend)), request->what,
                       (unsigned long long)request->size, (unsigned long long)request->offset, why);
}

static tapml_status refuse_buffer(const struct backend *backend,
                                  const struct request *request,
                                  const struct handle *handle,
                                  const char *why)
{
    char text[128];
    (void)snprintf(text, sizeof(text), " of buffer %u, %s %llu bytes", handle->number, why,
                   (unsigned long long)handle->bytes);
    return refuse(backend, request, text);
}

// A handle that is alive and this backend's own.
static tapml_status find_handle(const struct backend *backend,
                                const tapml_object *buffer,
                                const struct request *request,
                                const struct handle **out_handle)
{
    const struct handle *handle = handles_find(&backend->handles, buffer);
    if (!handle) {
        return refuse(backend, request, " of a buffer that it has not made");
    }
    if (!handle->is_alive) {
        return refuse_buffer(backend, request, handle, "which was freed; it had");
    }
    *out_handle = handle;
    return TAPML_OK;
}

static tapml_status check_range(const struct backend *backend,
                                const tapml_object *buffer,
                                const struct request *request,
                                const struct handle **out_handle)
{
    const struct handle *handle = NULL;
    TAPML_TRY(find_handle(backend, buffer, request, &handle));
    if (request->offset > handle->bytes || request->size > handle->bytes - request->offset) {
        return refuse_buffer(backend, request, handle, "which has");
    }
    *out_handle = handle;
    return TAPML_OK;
}

static tapml_status check_unmapped(const struct backend *backend, const struct request *request)
{
    if (!backend->mapped) {
        return TAPML_OK;
    }
    const struct handle *handle = handles_find(&backend->handles, backend->mapped);
    ASSERT(handle);
    return status_fail(
        TAPML_PRECONDITION, DEVICE_FORMAT "%s of %llu bytes at %llu while buffer %u is mapped",
        DEVICE_OF(backend_info(backend)), request->what, (unsigned long long)request->size,
        (unsigned long long)request->offset, handle->number);
}

// Before a transfer by the queue.
static tapml_status check_transfer(struct backend *backend,
                                   const tapml_object *buffer,
                                   const struct request *request,
                                   uint32_t access)
{
    const struct handle *handle = NULL;
    if (!is_checked(backend)) {
        return TAPML_OK;
    }
    if (request->offset % TAPML_TRANSFER_GRAIN != 0 || request->size % TAPML_TRANSFER_GRAIN != 0) {
        char why[64];
        (void)snprintf(why, sizeof(why), ": expected multiples of %u", TAPML_TRANSFER_GRAIN);
        return refuse(backend, request, why);
    }
    TAPML_TRY(check_range(backend, buffer, request, &handle));
    if ((handle->access & access) == 0) {
        return refuse_buffer(backend, request, handle, "which is only read and has");
    }
    TAPML_TRY(check_unmapped(backend, request));
    backend->is_pending = 1;
    return TAPML_OK;
}

// Why a panel of a tensor cannot be given to the backend.
static tapml_status
explain_panel(const struct backend *backend, const tapml_param *param, const tapml_tensor *panel)
{
    const struct handle *handle = NULL;
    uint64_t end = 0;
    if (!extent_end(panel, &end)) {
        return status_fail(TAPML_INVALID, "parameter '%s': a tensor has an impossible shape",
                           param->name);
    }
    const struct request request = {"a tensor", panel->offset,
                                    end > panel->offset ? end - panel->offset : 0};
    tapml_status status = check_range(backend, panel->buffer, &request, &handle);
    ASSERT(status != TAPML_OK || handle != NULL);
    if (status == TAPML_OK && (handle->access & TAPML_ACCESS_WRITE) == 0 &&
        panels_are_written(param)) {
        status = refuse_buffer(backend, &request, handle, "which is only read and has");
    } else if (status == TAPML_OK) {
        status = refuse_buffer(backend, &request, handle, "not on a multiple of its element, has");
    }
    return status_explain(status, "parameter '%s'", param->name);
}

static tapml_status
check_tensor(const struct backend *backend, const tapml_param *param, const tapml_tensor *tensor)
{
    const tapml_tensor *wrong = panels_find_wrong(&backend->handles, param, tensor);
    return wrong ? explain_panel(backend, param, wrong) : TAPML_OK;
}

static tapml_status check_call(struct backend *backend, const struct backend_call *call)
{
    const tapml_op *op = call->op;
    const struct request request = {"a call", 0, 0};
    if (!is_checked(backend)) {
        return TAPML_OK;
    }
    TAPML_TRY(check_unmapped(backend, &request));
    for (uint32_t p = 0; p < op->n_params; p++) {
        const tapml_value *value = &call->args[p];
        if (value->kind == TAPML_P_TENSORS_IN) {
            const tapml_tensor *const *list = value->u.p;
            for (uint32_t i = 0; i < value->count; i++) {
                TAPML_TRY(check_tensor(backend, op->params[p], list[i]));
            }
        } else if (value->kind >= TAPML_P_TENSOR_IN && value->kind <= TAPML_P_TENSOR_INOUT) {
            TAPML_TRY(check_tensor(backend, op->params[p], value->u.p));
        }
    }
    backend->is_pending = 1;
    return TAPML_OK;
}

// -- The façade --------------------------------------------------------------------------------

void backend_forget(struct backend *backend)
{
    handles_release(&backend->handles);
}

void backend_release(struct backend *backend)
{
    if (backend) {
        struct handles handles = backend->handles;
        backend->handles = (struct handles){0}; // The backend's own memory goes first.
        backend->vt->release(backend);
        handles_release(&handles);
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
    if (!is_checked(backend)) {
        return backend->vt->buffer_new(backend, size, out_buffer);
    }
    TAPML_TRY(handles_reserve(&backend->handles));
    TAPML_TRY(backend->vt->buffer_new(backend, size, out_buffer));
    handles_add(&backend->handles, *out_buffer, size, TAPML_ACCESS_READ | TAPML_ACCESS_WRITE);
    return TAPML_OK;
}

tapml_status backend_buffer_wrap(struct backend *backend,
                                 void *memory,
                                 uint64_t size,
                                 uint32_t access,
                                 tapml_object **out_buffer)
{
    if (!is_checked(backend)) {
        return backend->vt->buffer_wrap(backend, memory, size, access, out_buffer);
    }
    TAPML_TRY(handles_reserve(&backend->handles));
    TAPML_TRY(backend->vt->buffer_wrap(backend, memory, size, access, out_buffer));
    handles_add(&backend->handles, *out_buffer, size, access);
    return TAPML_OK;
}

void backend_buffer_free(struct backend *backend, tapml_object *buffer)
{
    if (!buffer) {
        return;
    }
    if (is_checked(backend)) {
        struct handle *handle = handles_find(&backend->handles, buffer);
        ASSERT(handle && handle->is_alive); // Of this backend, and freed once.
        ASSERT(backend->mapped != buffer);
        handles_free(&backend->handles, handle);
    }
    backend->vt->buffer_free(backend, buffer);
}

tapml_status backend_write(struct backend *backend,
                           tapml_object *buffer,
                           uint64_t offset,
                           const void *source,
                           uint64_t size)
{
    const struct request request = {"a write", offset, size};
    TAPML_TRY(check_transfer(backend, buffer, &request, TAPML_ACCESS_WRITE));
    return backend->vt->write(backend, buffer, offset, source, size);
}

tapml_status backend_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    const struct request request = {"a read", offset, size};
    TAPML_TRY(check_transfer(backend, buffer, &request, TAPML_ACCESS_READ));
    return backend->vt->read(backend, buffer, offset, target, size);
}

tapml_status backend_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    const struct request request = {"a fill", offset, size};
    TAPML_TRY(check_transfer(backend, buffer, &request, TAPML_ACCESS_WRITE));
    return backend->vt->fill(backend, buffer, offset, size, pattern);
}

tapml_status backend_copy(struct backend *backend, const struct backend_copy *copy)
{
    const struct request from = {"a copy's read", copy->source_offset, copy->size};
    const struct request to = {"a copy's write", copy->target_offset, copy->size};
    if (copy->source == copy->target) {
        return refuse(backend, &to, ": its source is the same buffer");
    }
    if (!backend->vt->copy) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: it copies between no buffers",
                           backend_info(backend)->component);
    }
    TAPML_TRY(check_transfer(backend, copy->source, &from, TAPML_ACCESS_READ));
    TAPML_TRY(check_transfer(backend, copy->target, &to, TAPML_ACCESS_WRITE));
    return backend->vt->copy(backend, copy);
}

static tapml_status
check_map(const struct backend *backend, const tapml_object *buffer, const struct request *request)
{
    const struct handle *handle = NULL;
    TAPML_TRY(check_range(backend, buffer, request, &handle));
    TAPML_TRY(check_unmapped(backend, request));
    return !backend->is_pending
               ? TAPML_OK
               : status_fail(TAPML_PRECONDITION,
                             DEVICE_FORMAT "a map of %llu bytes at %llu of buffer %u while work is "
                                           "pending",
                             DEVICE_OF(backend_info(backend)), (unsigned long long)request->size,
                             (unsigned long long)request->offset, handle->number);
}

tapml_status backend_map(struct backend *backend,
                         tapml_object *buffer,
                         uint64_t offset,
                         uint64_t size,
                         const void **out_memory)
{
    const struct request request = {"a map", offset, size};
    *out_memory = NULL;
    if (!backend->vt->map) {
        return TAPML_OK;
    }
    if (!is_checked(backend)) {
        return backend->vt->map(backend, buffer, offset, size, out_memory);
    }
    TAPML_TRY(check_map(backend, buffer, &request));
    TAPML_TRY(backend->vt->map(backend, buffer, offset, size, out_memory));
    backend->mapped = *out_memory ? buffer : NULL;
    return TAPML_OK;
}

void backend_unmap(struct backend *backend, tapml_object *buffer)
{
    if (is_checked(backend)) {
        ASSERT(backend->mapped == buffer);
        backend->mapped = NULL;
    }
    backend->vt->unmap(backend, buffer);
}

tapml_status backend_call(struct backend *backend, const struct backend_call *call)
{
    ASSERT(call->inferred && call->inferred->schema->op == call->op);
    TAPML_TRY(check_call(backend, call));
    return backend->vt->call(backend, call);
}

tapml_status
backend_supports_group(struct backend *backend, const tapml_group *group, tapml_support *answer)
{
    *answer = (tapml_support){.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_NO};
    return backend->vt->supports_group ? backend->vt->supports_group(backend, group, answer)
                                       : TAPML_OK;
}

tapml_status backend_call_group(struct backend *backend,
                                const tapml_group *group,
                                const struct backend_call *call)
{
    ASSERT(backend->vt->call_group && group->op == call->op);
    TAPML_TRY(check_call(backend, call));
    return backend->vt->call_group(backend, group, call);
}

tapml_status backend_aside(struct backend *backend, struct backend_aside *io_aside)
{
    const struct request request = {"a write aside", io_aside->offset, io_aside->size};
    if (!backend->vt->aside) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: it has nothing beside its queue",
                           backend_info(backend)->component);
    }
    if (io_aside->kind == BACKEND_ASIDE_WRITE) {
        TAPML_TRY(check_transfer(backend, io_aside->buffer, &request, TAPML_ACCESS_WRITE));
    }
    return backend->vt->aside(backend, io_aside);
}

tapml_status backend_flush(struct backend *backend)
{
    return backend->vt->flush(backend);
}

// What failed is over, too.
tapml_status backend_wait(struct backend *backend)
{
    backend->is_pending = 0;
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

tapml_status backend_notify(struct backend *backend,
                            struct backend_point point,
                            tapml_notified function,
                            void *user)
{
    return backend->vt->notify ? backend->vt->notify(backend, point, function, user)
                               : status_fail(TAPML_UNIMPLEMENTED, "%s: it notifies of no point",
                                             backend_info(backend)->component);
}

tapml_status backend_stamp(struct backend *backend, uint64_t *out_ns)
{
    if (!backend->vt->stamp) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: it queues no stamp of time",
                           backend_info(backend)->component);
    }
    backend->is_pending = 1;
    return backend->vt->stamp(backend, out_ns);
}

uint64_t backend_launches(struct backend *backend)
{
    return backend->vt->launches(backend);
}

const char *backend_identity(struct backend *backend, const tapml_op *op)
{
    return backend->vt->identity(backend, op);
}

const struct arithmetic *backend_arithmetic(struct backend *backend, const tapml_op *op)
{
    return backend->vt->arithmetic ? backend->vt->arithmetic(backend, op) : &arithmetic_f32;
}

uint64_t backend_generation(const struct backend *backend)
{
    return backend->vt->generation(backend);
}

uint64_t backend_kills(const struct backend *backend)
{
    return backend->vt->kills != NULL ? backend->vt->kills(backend) : 0;
}

void backend_forgive(struct backend *backend)
{
    if (backend->vt->forgive != NULL) {
        backend->vt->forgive(backend);
    }
}

void backend_excuse(struct backend *backend)
{
    if (backend->vt->excuse != NULL) {
        backend->vt->excuse(backend);
    }
}

tapml_status backend_share(struct backend *backend, const struct backend_share *share)
{
    return backend->vt->share ? backend->vt->share(backend, share) : TAPML_OK;
}

void backend_unshare(struct backend *backend, const void *memory)
{
    if (backend->vt->unshare) {
        backend->vt->unshare(backend, memory);
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

static tapml_status forward_copy(struct backend *backend, const struct backend_copy *copy)
{
    return backend_copy(inner(backend), copy);
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

static tapml_status forward_notify(struct backend *backend,
                                   struct backend_point point,
                                   tapml_notified function,
                                   void *user)
{
    return backend_notify(inner(backend), point, function, user);
}

static tapml_status forward_stamp(struct backend *backend, uint64_t *out_ns)
{
    return backend_stamp(inner(backend), out_ns);
}

static uint64_t forward_launches(struct backend *backend)
{
    return backend_launches(inner(backend));
}

static const char *forward_identity(struct backend *backend, const tapml_op *op)
{
    return backend_identity(inner(backend), op);
}

static const struct arithmetic *forward_arithmetic(struct backend *backend, const tapml_op *op)
{
    return backend_arithmetic(inner(backend), op);
}

static tapml_status forward_knobs(struct backend *backend,
                                  const struct compiled_op *schema,
                                  const tapml_value *args,
                                  struct arena *arena,
                                  struct knob_space *io_space)
{
    struct backend *wrapped = inner(backend);
    return wrapped->vt->knobs ? wrapped->vt->knobs(wrapped, schema, args, arena, io_space)
                              : TAPML_OK;
}

static uint64_t forward_generation(const struct backend *backend)
{
    return backend_generation(inner(backend));
}

static uint64_t forward_kills(const struct backend *backend)
{
    return backend_kills(inner(backend));
}

static void forward_forgive(struct backend *backend)
{
    backend_forgive(inner(backend));
}

static void forward_excuse(struct backend *backend)
{
    backend_excuse(inner(backend));
}

static tapml_status forward_share(struct backend *backend, const struct backend_share *share)
{
    return backend_share(inner(backend), share);
}

static void forward_unshare(struct backend *backend, const void *memory)
{
    backend_unshare(inner(backend), memory);
}

static tapml_status forward_aside(struct backend *backend, struct backend_aside *io_aside)
{
    return backend_aside(inner(backend), io_aside);
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
    .copy = forward_copy,
    .map = forward_map,
    .unmap = forward_unmap,
    .call = forward_call,
    .flush = forward_flush,
    .wait = forward_wait,
    .signal = forward_signal,
    .wait_for = forward_wait_for,
    .queue_wait = forward_queue_wait,
    .notify = forward_notify,
    .stamp = forward_stamp,
    .launches = forward_launches,
    .identity = forward_identity,
    .arithmetic = forward_arithmetic,
    .generation = forward_generation,
    .kills = forward_kills,
    .forgive = forward_forgive,
    .excuse = forward_excuse,
    .share = forward_share,
    .unshare = forward_unshare,
    .aside = forward_aside,
    .knobs = forward_knobs,
};
