// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/observed.h"

#include "base/alloc.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <inttypes.h>

// -- What is observed --------------------------------------------------------------------------

static int is_output(const tapml_value *value)
{
    return value->kind == TAPML_P_TENSOR_OUT || value->kind == TAPML_P_TENSOR_INOUT;
}

static int is_tensor(const tapml_value *value)
{
    return value->kind == TAPML_P_TENSOR_IN || is_output(value);
}

// A tensor without buffers, which lies in panels no more.
static const tapml_tensor *copy_tensor(struct arena *arena, const tapml_tensor *tensor)
{
    tapml_tensor *copy = arena_new(arena, sizeof(*copy));
    int64_t *shape = arena_array(arena, tensor->rank + (size_t)1, sizeof(*shape));

    if (copy == NULL || shape == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < tensor->rank; i++) {
        shape[i] = tensor->shape[i];
    }
    for (const tapml_tensor *panel = tensor->next; panel != NULL; panel = panel->next) {
        shape[0] += panel->shape[0];
    }
    *copy = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                           .dtype = tensor->dtype,
                           .rank = tensor->rank,
                           .shape = tensor->rank > 0 ? shape : NULL,
                           .stride = tensor->next == NULL ? tensor->stride : NULL,
                           .offset = tensor->offset,
                           .encoding = tensor->encoding};
    return copy;
}

static tapml_status copy_value(struct arena *arena, tapml_value *io_value)
{
    if (is_tensor(io_value)) {
        io_value->u.p = copy_tensor(arena, io_value->u.p);
        return io_value->u.p != NULL ? TAPML_OK : status_no_memory();
    }
    if (io_value->kind != TAPML_P_TENSORS_IN) {
        return TAPML_OK;
    }
    const tapml_tensor *const *list = io_value->u.p;
    const tapml_tensor **copies = arena_array(arena, io_value->count + (size_t)1, sizeof(*copies));

    for (uint32_t i = 0; copies != NULL && i < io_value->count; i++) {
        copies[i] = copy_tensor(arena, list[i]);
        copies = copies[i] != NULL ? copies : NULL;
    }
    io_value->u.p = copies;
    return copies != NULL ? TAPML_OK : status_no_memory();
}

// -- Its functions -----------------------------------------------------------------------------

static struct observed *own(const tapml_observed *table)
{
    return table->impl;
}

// Keeps the first failure of the backend, and gives `status` back.
static tapml_status note(struct observed *observed, tapml_status status)
{
    if (status != TAPML_OK && observed->failure == TAPML_OK) {
        observed->failure = status;
        observed->message = arena_text(observed->arena, status_message());
    }
    return status;
}

static const char *name_of(const struct observed *observed, uint32_t param)
{
    return observed->call->op->params[param]->name;
}

static tapml_status find_tensor(const struct observed *observed,
                                uint32_t param,
                                uint32_t index,
                                const tapml_tensor **out_tensor)
{
    const struct backend_call *call = observed->call;

    if (param >= call->op->n_params) {
        return status_fail(TAPML_INVALID, "'%s' has %" PRIu32 " parameters, found index %" PRIu32,
                           call->op->name, call->op->n_params, param);
    }
    const tapml_value *value = &call->args[param];
    const int is_list = value->kind == TAPML_P_TENSORS_IN;

    if (!is_list && !is_tensor(value)) {
        return status_fail(TAPML_INVALID, "parameter '%s' of '%s' is no tensor of this call",
                           name_of(observed, param), call->op->name);
    }
    if (index >= (is_list ? value->count : 1)) {
        return status_fail(
            TAPML_INVALID, "parameter '%s' of '%s' has %" PRIu32 " tensors, found index %" PRIu32,
            name_of(observed, param), call->op->name, is_list ? value->count : 1, index);
    }
    *out_tensor = is_list ? ((const tapml_tensor *const *)value->u.p)[index] : value->u.p;
    return TAPML_OK;
}

static tapml_status panel_bytes(const tapml_tensor *tensor, uint64_t *out_bytes)
{
    return encoding_bytes(tensor->encoding, tensor->dtype, tensor->shape, tensor->rank, out_bytes);
}

static tapml_status tensor_bytes(const tapml_tensor *tensor, uint64_t *out_bytes)
{
    uint64_t sum = 0;

    for (; tensor != NULL; tensor = tensor->next) {
        uint64_t bytes = 0;

        TAPML_TRY(panel_bytes(tensor, &bytes));
        sum += bytes;
    }
    *out_bytes = sum;
    return TAPML_OK;
}

// The tensor, if `bytes` are all of it.
static tapml_status find_whole(const struct observed *observed,
                               uint32_t param,
                               uint32_t index,
                               uint64_t bytes,
                               const tapml_tensor **out_tensor)
{
    uint64_t expected = 0;

    TAPML_TRY(find_tensor(observed, param, index, out_tensor));
    TAPML_TRY(tensor_bytes(*out_tensor, &expected));
    return bytes == expected
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "parameter '%s' of '%s' has %" PRIu64 " bytes, found %" PRIu64,
                             name_of(observed, param), observed->call->op->name, expected, bytes);
}

static tapml_status observed_size(const tapml_observed *table,
                                  tapml_call *call,
                                  uint32_t param,
                                  uint32_t index,
                                  uint64_t *out_bytes)
{
    const tapml_tensor *tensor = NULL;

    (void)call;
    TAPML_TRY(find_tensor(own(table), param, index, &tensor));
    return tensor_bytes(tensor, out_bytes);
}

// Panels have rows of their own, one after another.
static tapml_status
fetch(struct fetcher *fetcher, const tapml_tensor *tensor, unsigned char *target)
{
    for (; tensor != NULL; tensor = tensor->next) {
        uint64_t bytes = 0;

        TAPML_TRY(panel_bytes(tensor, &bytes));
        TAPML_TRY(fetcher_tensor(fetcher, tensor, bytes, target));
        target += bytes;
    }
    return TAPML_OK;
}

static tapml_status observed_read(const tapml_observed *table,
                                  tapml_call *call,
                                  uint32_t param,
                                  uint32_t index,
                                  void *target,
                                  uint64_t bytes)
{
    struct observed *observed = own(table);
    const tapml_tensor *tensor = NULL;

    (void)call;
    TAPML_TRY(find_whole(observed, param, index, bytes, &tensor));
    if (observed->is_before && observed->call->args[param].kind == TAPML_P_TENSOR_OUT) {
        return status_fail(TAPML_INVALID, "output '%s' of '%s' has no values before the call",
                           name_of(observed, param), observed->call->op->name);
    }
    return note(observed, fetcher_end(observed->fetcher, fetch(observed->fetcher, tensor, target)));
}

// The grains that a tensor touches: what lies between its elements is read, and stays.
static tapml_status store(struct backend *backend,
                          const tapml_tensor *tensor,
                          const struct case_argument *view,
                          const void *source)
{
    const uint64_t grain = TAPML_TRANSFER_GRAIN;
    int64_t span = 0;

    TAPML_TRY(shape_span(view->shape, view->stride, view->rank, &span));
    const uint64_t begin = view->offset_bytes / grain * grain;
    const uint64_t end = view->offset_bytes + (uint64_t)span * dtype_bytes(view->dtype);
    const uint64_t size = (end - begin + grain - 1) / grain * grain;

    if (span == 0) {
        return TAPML_OK;
    }
    unsigned char *bytes = alloc_array(size, 1);

    if (bytes == NULL) {
        return status_no_memory();
    }
    tapml_status status = backend_read(backend, tensor->buffer, begin, bytes, size);

    status = status == TAPML_OK ? backend_wait(backend) : status;
    if (status == TAPML_OK) {
        convert_scatter(source, view->shape, view->stride, view->rank, dtype_bytes(view->dtype),
                        bytes + (view->offset_bytes - begin));
        status = backend_write(backend, tensor->buffer, begin, bytes, size);
    }
    const tapml_status waited = backend_wait(backend); // What was given is valid until then.

    alloc_free(bytes);
    return status == TAPML_OK ? waited : status;
}

static tapml_status observed_write(const tapml_observed *table,
                                   tapml_call *call,
                                   uint32_t param,
                                   const void *source,
                                   uint64_t bytes)
{
    struct observed *observed = own(table);
    const tapml_tensor *tensor = NULL;

    (void)call;
    TAPML_TRY(find_whole(observed, param, 0, bytes, &tensor));
    if (!is_output(&observed->call->args[param])) {
        return status_fail(TAPML_INVALID, "parameter '%s' of '%s' is no output",
                           name_of(observed, param), observed->call->op->name);
    }
    if (!observed->may_write) {
        return status_fail(TAPML_PRECONDITION,
                           "it writes '%s' of '%s', and its traits do not say that it replaces",
                           name_of(observed, param), observed->call->op->name);
    }
    const struct case_argument view = fetcher_view(tensor, bytes);

    TAPML_TRY(note(observed, store(observed->fetcher->backend, tensor, &view, source)));
    observed->written |= UINT32_C(1) << param;
    return TAPML_OK;
}

// -- The module --------------------------------------------------------------------------------

tapml_status observed_make(const struct backend_call *call,
                           const char *place,
                           const char *device,
                           struct fetcher *fetcher,
                           struct arena *arena,
                           struct observed *out_observed)
{
    const uint32_t count = call->op->n_params; // At most COMPILED_PARAMS_MAX: a bit for each.
    tapml_value *args = arena_array(arena, count + (size_t)1, sizeof(*args));

    if (args == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        args[i] = call->args[i];
        TAPML_TRY(copy_value(arena, &args[i]));
    }
    *out_observed = (struct observed){.table = {.hdr = TAPML_HDR(tapml_observed),
                                                .place = place,
                                                .device = device,
                                                .instance = call->instance,
                                                .op = call->op,
                                                .args = args,
                                                .n_args = count,
                                                .is_extra = call->is_extra != 0,
                                                .impl = out_observed,
                                                .size = observed_size,
                                                .read = observed_read,
                                                .write = observed_write},
                                      .fetcher = fetcher,
                                      .call = call,
                                      .arena = arena};
    return TAPML_OK;
}

void observed_turn(struct observed *observed, int is_before, int may_write)
{
    observed->is_before = is_before;
    observed->may_write = may_write;
    observed->written = 0;
}

tapml_status observed_check(const struct observed *observed, int is_made)
{
    const struct backend_call *call = observed->call;

    if (is_made && !observed->may_write) {
        return status_fail(TAPML_INVALID,
                           "it has made a call of '%s', and its traits do not say that it replaces",
                           call->op->name);
    }
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const int is_written = (observed->written >> i & 1) != 0;

        if (is_made && !is_written && call->args[i].kind == TAPML_P_TENSOR_OUT) {
            return status_fail(TAPML_INVALID, "it has made a call of '%s' and not written '%s'",
                               call->op->name, name_of(observed, i));
        }
        if (!is_made && is_written) {
            return status_fail(TAPML_INVALID,
                               "it has written '%s' of a call of '%s', and not made "
                               "the call",
                               name_of(observed, i), call->op->name);
        }
    }
    return TAPML_OK;
}
