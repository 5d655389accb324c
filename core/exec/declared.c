// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/declared.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "schema/infer.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/extent.h"
#include "tensor/shape.h"

#include <string.h>

struct declared {
    struct backend_wrapper wrapper; // First, so that a `struct backend *` is a `struct declared *`.
    struct backend_vt vt;
    struct declared_options options;
};

// A call on its way, with what was made for it.
struct passing {
    struct backend *inner;
    const struct backend_call *call;
    const struct arithmetic *form;
    struct arena *arena;
    tapml_value *args;
    struct made {
        tapml_object *buffer;
        struct made *next;
    } * made;
};

// The bytes of a tensor in its buffer, in grains.
struct bytes {
    uint64_t begin, size;
    unsigned char *data;
};

// Whether the schema takes f16 there: else it is a table, or the state of a scan, that no device
// computes in less than f32.
static int takes_half(const tapml_op *op, uint32_t index)
{
    const char *dtypes = op->params[index]->dtype;
    for (uint32_t i = 0; dtypes && i < op->n_params; i++) {
        if (strcmp(op->params[i]->name, dtypes) == 0) {
            dtypes = op->params[i]->dtype;
        }
    }
    for (; dtypes && *dtypes != '\0'; dtypes += strspn(dtypes, " ")) {
        const size_t length = strcspn(dtypes, " ");
        if (length == 3 && strncmp(dtypes, "f16", length) == 0) {
            return 1;
        }
        dtypes += length;
    }
    return 0;
}

static int is_rounded(const tapml_tensor *tensor)
{
    return tensor && !tensor->encoding &&
           (tensor->dtype == TAPML_F32 || activation_find(tensor->dtype) != ACTIVATION_F32);
}

static tapml_status
read_bytes(const struct passing *passing, const tapml_tensor *tensor, struct bytes *out_bytes)
{
    uint64_t end = 0;
    if (!extent_end(tensor, &end)) {
        return status_fail(TAPML_INVALID, "%s: a tensor has an impossible shape",
                           passing->call->op->name);
    }
    const uint64_t grain = TAPML_TRANSFER_GRAIN;
    struct bytes bytes = {.begin = tensor->offset / grain * grain};
    bytes.size = end > bytes.begin ? (end - bytes.begin + grain - 1) / grain * grain : 0;
    bytes.data = arena_new(passing->arena, bytes.size + grain);
    if (!bytes.data) {
        return status_no_memory();
    }
    if (bytes.size > 0) {
        TAPML_TRY(
            backend_read(passing->inner, tensor->buffer, bytes.begin, bytes.data, bytes.size));
        TAPML_TRY(backend_wait(passing->inner));
    }
    *out_bytes = bytes;
    return TAPML_OK;
}

// Rounds the values of a tensor where its bytes lie.
static tapml_status round_bytes(const struct passing *passing,
                                const tapml_tensor *tensor,
                                uint32_t format,
                                const struct bytes *bytes)
{
    const struct activation_type *type = activation_type(activation_find(tensor->dtype));
    const uint32_t rank = tensor->rank;
    const size_t width = rank > 0 ? (size_t)tensor->shape[rank - 1] : 1;
    int64_t stride[TAPML_MAX_RANK] = {0};
    int64_t count = 0;
    TAPML_TRY(shape_count(tensor->shape, rank, &count));
    unsigned char *first = bytes->data + (tensor->offset - bytes->begin);
    void *dense = arena_new(passing->arena, (size_t)count * type->bytes + 1);
    float *values = arena_array(passing->arena, (size_t)count + 1, sizeof(*values));
    if (!dense || !values) {
        return status_no_memory();
    }
    if (count == 0) {
        return TAPML_OK;
    }
    if (tensor->stride) {
        memcpy(stride, tensor->stride, rank * sizeof(*stride));
    } else {
        shape_dense_strides(tensor->shape, rank, stride);
    }
    convert_gather(first, tensor->shape, stride, rank, type->bytes, dense);
    type->to_f32(dense, (size_t)count, values);
    arithmetic_round(format, passing->form->block, values, (size_t)count / width, width);
    type->from_f32(values, (size_t)count, dense);
    convert_scatter(dense, tensor->shape, stride, rank, type->bytes, first);
    return TAPML_OK;
}

// A buffer that lives until the call is done.
static tapml_status make_buffer(struct passing *passing, uint64_t size, tapml_object **out_buffer)
{
    struct made *made = arena_new(passing->arena, sizeof(*made));
    if (!made) {
        return status_no_memory();
    }
    TAPML_TRY(
        backend_buffer_new(passing->inner, size > 0 ? size : TAPML_TRANSFER_GRAIN, &made->buffer));
    made->next = passing->made;
    passing->made = made;
    *out_buffer = made->buffer;
    return TAPML_OK;
}

// A copy of one panel of a tensor, rounded, with the same strides.
static tapml_status copy_panel(struct passing *passing, uint32_t format, tapml_tensor *tensor)
{
    struct bytes bytes;
    TAPML_TRY(read_bytes(passing, tensor, &bytes));
    TAPML_TRY(round_bytes(passing, tensor, format, &bytes));
    TAPML_TRY(make_buffer(passing, bytes.size, &tensor->buffer));
    tensor->offset -= bytes.begin;
    return bytes.size > 0 ? backend_write(passing->inner, tensor->buffer, 0, bytes.data, bytes.size)
                          : TAPML_OK;
}

static tapml_status copy_tensor(struct passing *passing,
                                uint32_t format,
                                const tapml_tensor *tensor,
                                const tapml_tensor **out_tensor)
{
    const tapml_tensor **at = out_tensor;
    *at = tensor;
    while (is_rounded(*at)) {
        tapml_tensor *copy = arena_new(passing->arena, sizeof(*copy));
        if (!copy) {
            return status_no_memory();
        }
        *copy = **at;
        TAPML_TRY(copy_panel(passing, format, copy));
        *at = copy;
        at = &copy->next;
    }
    return TAPML_OK;
}

static tapml_status copy_list(struct passing *passing, uint32_t index)
{
    const tapml_value *given = &passing->call->args[index];
    const tapml_tensor *const *from = given->u.p;
    const tapml_tensor **list = arena_array(passing->arena, given->count + 1, sizeof(*list));
    if (!list) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < given->count; i++) {
        TAPML_TRY(copy_tensor(passing, passing->form->inputs, from[i], &list[i]));
    }
    passing->args[index].u.p = list;
    return TAPML_OK;
}

static tapml_status round_input(struct passing *passing, uint32_t index)
{
    const tapml_op *op = passing->call->op;
    const tapml_value *given = &passing->call->args[index];
    const int is_weight = (op->params[index]->effects & TAPML_E_WEIGHT) != 0;
    const uint32_t format = is_weight ? passing->form->weights : passing->form->inputs;
    const tapml_tensor *copy = NULL;
    if (format == TAPML_FORMAT_F32 || !takes_half(op, index)) {
        return TAPML_OK;
    }
    if (given->kind == TAPML_P_TENSORS_IN) {
        return is_weight ? TAPML_OK : copy_list(passing, index);
    }
    if (given->kind != TAPML_P_TENSOR_IN || !given->u.p) {
        return TAPML_OK;
    }
    const tapml_tensor *tensor = given->u.p;
    if (is_weight && tensor->dtype != TAPML_F32) {
        return TAPML_OK;
    }
    TAPML_TRY(copy_tensor(passing, format, tensor, &copy));
    passing->args[index].u.p = copy;
    return TAPML_OK;
}

// Rounds an output in place; of a state the rows that the call has written.
static tapml_status round_output(const struct passing *passing, uint32_t index)
{
    const tapml_op *op = passing->call->op;
    const tapml_value *given = &passing->call->args[index];
    const int is_output = given->kind == TAPML_P_TENSOR_OUT || given->kind == TAPML_P_TENSOR_INOUT;
    int64_t shape[TAPML_MAX_RANK];
    struct bytes bytes;
    if (!is_output || !is_rounded(given->u.p) || !takes_half(op, index)) {
        return TAPML_OK;
    }
    tapml_tensor tensor = *(const tapml_tensor *)given->u.p;
    if ((op->params[index]->effects & TAPML_E_STATE_WRITE) != 0 && tensor.rank > 0) {
        const struct infer_region *region = &passing->call->inferred->regions[index];
        int64_t dense[TAPML_MAX_RANK];
        shape_dense_strides(tensor.shape, tensor.rank, dense);
        const int64_t row = tensor.stride ? tensor.stride[0] : dense[0];
        memcpy(shape, tensor.shape, tensor.rank * sizeof(*shape));
        shape[0] = region->end - region->begin;
        tensor.shape = shape;
        tensor.offset += (uint64_t)(region->begin * row) * dtype_bytes(tensor.dtype);
    }
    TAPML_TRY(read_bytes(passing, &tensor, &bytes));
    TAPML_TRY(round_bytes(passing, &tensor, passing->form->result, &bytes));
    return bytes.size > 0
               ? backend_write(passing->inner, tensor.buffer, bytes.begin, bytes.data, bytes.size)
               : TAPML_OK;
}

static tapml_status pass(struct passing *passing, int is_wide)
{
    const struct backend_call *call = passing->call;
    const uint32_t count = call->op->n_params;
    struct backend_call own = *call;
    passing->args = arena_array(passing->arena, count + 1, sizeof(*passing->args));
    if (!passing->args) {
        return status_no_memory();
    }
    memcpy(passing->args, call->args, count * sizeof(*passing->args));
    own.args = passing->args;
    for (uint32_t i = 0; i < count; i++) {
        TAPML_TRY(round_input(passing, i));
    }
    TAPML_TRY(backend_call(passing->inner, &own));
    for (uint32_t i = 0; !is_wide && passing->form->result != TAPML_FORMAT_F32 && i < count; i++) {
        TAPML_TRY(round_output(passing, i));
    }
    return TAPML_OK;
}

static tapml_status declared_call(struct backend *backend, const struct backend_call *call)
{
    const struct declared *declared = (const struct declared *)backend;
    struct passing passing = {.inner = declared->wrapper.inner,
                              .call = call,
                              .form = declared->options.form(declared->options.user, call->op)};
    if (!arithmetic_is_reduced(passing.form)) {
        return backend_call(passing.inner, call);
    }
    passing.arena = arena_create();
    if (!passing.arena) {
        return status_no_memory();
    }
    tapml_status status = pass(&passing, declared->options.is_wide);
    // What is queued uses memory of this call, also where something has failed.
    const tapml_status waited = backend_wait(passing.inner);
    status = status == TAPML_OK ? waited : status;
    for (const struct made *made = passing.made; made; made = made->next) {
        backend_buffer_free(passing.inner, made->buffer);
    }
    arena_destroy(passing.arena);
    return status;
}

static const struct arithmetic *declared_arithmetic(struct backend *backend, const tapml_op *op)
{
    const struct declared *declared = (const struct declared *)backend;
    return declared->options.form(declared->options.user, op);
}

static void declared_release(struct backend *backend)
{
    declared_destroy((struct declared *)backend);
}

tapml_status declared_create(const struct declared_options *options, struct declared **out_declared)
{
    struct declared *declared = alloc_new(sizeof(*declared));
    if (!declared) {
        return status_no_memory();
    }
    declared->vt = backend_forward_vt;
    declared->vt.call = declared_call;
    declared->vt.arithmetic = declared_arithmetic;
    declared->vt.release = declared_release;
    declared->options = *options;
    declared->wrapper =
        (struct backend_wrapper){.backend = {.vt = &declared->vt}, .inner = options->inner};
    *out_declared = declared;
    return TAPML_OK;
}

void declared_destroy(struct declared *declared)
{
    alloc_free(declared);
}

struct backend *declared_backend(struct declared *declared)
{
    return &declared->wrapper.backend;
}

const struct arithmetic *declared_by_backend(void *backend, const tapml_op *op)
{
    return backend_arithmetic(backend, op);
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct declared *declared = NULL;
    (void)settings;
    TAPML_TRY(declared_create(
        &(struct declared_options){.inner = inner, .form = declared_by_backend, .user = user},
        &declared));
    *out_backend = declared_backend(declared);
    return TAPML_OK;
}

struct place_link declared_link(struct backend *target)
{
    return (struct place_link){.kind = PLACE_DECLARED, .create = make_link, .user = target};
}
