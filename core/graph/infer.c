// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/infer.h"

#include "graph/view.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <string.h>

static int is_tensor(uint32_t kind)
{
    return kind != TAPML_P_I64 && kind != TAPML_P_F64;
}

static tapml_status explain(tapml_status status, const tapml_op *op, const tapml_param *param)
{
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "%s: parameter '%s'", op->name, param->name);
}

// The same with the name of what stands there: of a weight it is the tensor's.
static tapml_status explain_argument(tapml_status status,
                                     const tapml_op *op,
                                     const tapml_param *param,
                                     const struct infer_argument *argument)
{
    return status == TAPML_OK || argument->name == NULL
               ? explain(status, op, param)
               : status_explain(status, "%s: parameter '%s' ('%s')", op->name, param->name,
                                argument->name);
}

// The parameter that `text` names, or NULL: "x" as dtype or shape is that of the parameter x.
static const tapml_param *named_param(const tapml_op *op, const char *text, uint32_t *out_index)
{
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (is_tensor(op->params[p]->kind) && strcmp(op->params[p]->name, text) == 0) {
            *out_index = p;
            return op->params[p];
        }
    }
    return NULL;
}

int infer_takes(const tapml_param *param, const char *type)
{
    const size_t length = strlen(type);

    for (const char *text = param->dtype; *text != '\0'; text += strspn(text, " ")) {
        const size_t span = strcspn(text, " ");

        if (span == length && memcmp(text, type, length) == 0) {
            return 1;
        }
        text += span;
    }
    return 0;
}

static tapml_status wrong_dtype(const char *allowed, uint32_t dtype)
{
    return status_fail(TAPML_INVALID, "dtype is %s, expected %s", dtype_name(dtype), allowed);
}

static tapml_status infer_dtype(const tapml_op *op,
                                const tapml_param *param,
                                struct infer_argument *arguments,
                                struct infer_argument *argument)
{
    uint32_t other = 0;
    const tapml_param *named = named_param(op, param->dtype, &other);
    const int is_output = param->kind == TAPML_P_TENSOR_OUT;

    if (named != NULL && !arguments[other].is_present) {
        return status_fail(TAPML_INVALID, "its dtype is that of '%s', which is left out",
                           named->name);
    }
    if (named == NULL && is_output) {
        char first[16] = "";

        strncat(first, param->dtype,
                strcspn(param->dtype, " ") < 15 ? strcspn(param->dtype, " ") : 15);
        argument->dtype = dtype_find(first);
        return TAPML_OK;
    }
    if (named == NULL) {
        return infer_takes(param, dtype_name(argument->dtype))
                   ? TAPML_OK
                   : wrong_dtype(param->dtype, argument->dtype);
    }
    if (is_output) {
        argument->dtype = arguments[other].dtype;
        return TAPML_OK;
    }
    return argument->dtype == arguments[other].dtype
               ? TAPML_OK
               : wrong_dtype(dtype_name(arguments[other].dtype), argument->dtype);
}

static tapml_status same_shape(const struct infer_argument *found,
                               const struct infer_argument *expected,
                               const char *name)
{
    if (found->rank != expected->rank) {
        return status_fail(TAPML_INVALID, "rank is %u, that of '%s' is %u", found->rank, name,
                           expected->rank);
    }
    for (uint32_t i = 0; i < found->rank; i++) {
        if (!affine_equal(&found->shape[i], &expected->shape[i])) {
            char found_text[80];
            char expected_text[80];

            affine_text(&found->shape[i], found_text, sizeof(found_text));
            affine_text(&expected->shape[i], expected_text, sizeof(expected_text));
            return status_fail(TAPML_INVALID, "axis %u is %s, that of '%s' is %s", i, found_text,
                               name, expected_text);
        }
    }
    return TAPML_OK;
}

static tapml_status infer_shape(const tapml_op *op,
                                const tapml_param *param,
                                struct infer_argument *arguments,
                                struct infer_argument *argument,
                                struct expression_scope *scope)
{
    uint32_t other = 0;
    const tapml_param *named = named_param(op, param->shape, &other);
    const int is_output = param->kind == TAPML_P_TENSOR_OUT;

    if (named != NULL && !arguments[other].is_present) {
        return status_fail(TAPML_INVALID, "its shape is that of '%s', which is left out",
                           named->name);
    }
    if (named != NULL && is_output) {
        argument->rank = arguments[other].rank;
        memcpy(argument->shape, arguments[other].shape, sizeof(argument->shape));
        return TAPML_OK;
    }
    if (named != NULL) {
        return same_shape(argument, &arguments[other], named->name);
    }
    if (is_output) {
        return expression_shape(scope, param->shape, argument->shape, &argument->rank);
    }
    return expression_match(scope, param->shape, argument->shape, argument->rank);
}

static tapml_status infer_argument(const tapml_op *op,
                                   uint32_t index,
                                   struct infer_argument *arguments,
                                   struct expression_scope *scope)
{
    const tapml_param *param = op->params[index];
    struct infer_argument *argument = &arguments[index];

    if (!argument->is_present) {
        return (param->effects & TAPML_E_OPTIONAL) != 0
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "is left out, and is not optional");
    }
    if (!is_tensor(param->kind)) {
        return TAPML_OK;
    }
    TAPML_TRY(infer_dtype(op, param, arguments, argument));
    return infer_shape(op, param, arguments, argument, scope);
}

tapml_status
infer_op(const tapml_op *op, struct infer_argument *arguments, struct expression_scope *scope)
{
    expression_scope_init(scope);
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (op->params[p]->kind == TAPML_P_I64 && arguments[p].is_present) {
            TAPML_TRY(explain(expression_define(scope, op->params[p]->name, &arguments[p].i), op,
                              op->params[p]));
        }
    }
    for (int outputs = 0; outputs <= 1; outputs++) {
        for (uint32_t p = 0; p < op->n_params; p++) {
            if ((op->params[p]->kind == TAPML_P_TENSOR_OUT) == outputs) {
                TAPML_TRY(explain_argument(infer_argument(op, p, arguments, scope), op,
                                           op->params[p], &arguments[p]));
            }
        }
    }
    return TAPML_OK;
}

// What is block-quantised is dense and whole (tensor/encoding.h).
static tapml_status check_encoded(const tapml_tensor *tensor)
{
    uint64_t bytes = 0;

    if (tensor->dtype != TAPML_U8 || tensor->encoding->block_values == 0) {
        return status_fail(TAPML_INVALID, "has encoding '%s' and dtype 0x%x, expected u8",
                           tensor->encoding->id, tensor->dtype);
    }
    if (!shape_is_dense(tensor->shape, tensor->stride, tensor->rank) ||
        tensor->offset % ENCODING_ALIGN != 0) {
        return status_fail(TAPML_INVALID,
                           "has encoding '%s' and is not dense from a multiple of %d bytes on",
                           tensor->encoding->id, ENCODING_ALIGN);
    }
    return encoding_bytes(tensor->encoding, tensor->dtype, tensor->shape, tensor->rank, &bytes);
}

// What holds for every tensor, whatever the schema says.
static tapml_status check_form(const tapml_tensor *tensor)
{
    if (tensor == NULL || !TAPML_HAS(tapml_tensor, tensor, next)) {
        return status_fail(TAPML_INVALID, "is no tensor");
    }
    if (tensor->rank > TAPML_MAX_RANK) {
        return status_fail(TAPML_INVALID, "rank is %u, at most %u are allowed", tensor->rank,
                           TAPML_MAX_RANK);
    }
    if (tensor->rank > 0 && tensor->shape == NULL) {
        return status_fail(TAPML_INVALID, "has no shape");
    }
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] < 0 || (tensor->stride != NULL && tensor->stride[i] < 0)) {
            return status_fail(TAPML_INVALID, "axis %u has a negative extent or stride", i);
        }
    }

    if (tensor->encoding != NULL) {
        return check_encoded(tensor);
    }

    const size_t bytes = dtype_bytes(tensor->dtype);
    int64_t elements = 0;

    if (bytes == 0) {
        return status_fail(TAPML_INVALID, "dtype 0x%x is unknown", tensor->dtype);
    }
    if (tensor->offset % bytes != 0) {
        return status_fail(TAPML_INVALID, "offset %llu is no multiple of its %zu-byte elements",
                           (unsigned long long)tensor->offset, bytes);
    }
    TAPML_TRY(shape_span(tensor->shape, tensor->stride, tensor->rank, &elements));
    if ((uint64_t)elements > (UINT64_MAX / 2 - tensor->offset % (UINT64_MAX / 2)) / bytes) {
        return status_fail(TAPML_INVALID, "its size does not fit in 63 bits");
    }
    return TAPML_OK;
}

static int layout_fits(const char *layout, const tapml_tensor *tensor)
{
    struct affine shape[TAPML_MAX_RANK];
    struct affine stride[TAPML_MAX_RANK];

    if (shape_is_dense(tensor->shape, tensor->stride, tensor->rank)) {
        return 1;
    }
    for (uint32_t i = 0; i < tensor->rank; i++) {
        shape[i] = affine_constant(tensor->shape[i]);
        stride[i] = affine_constant(tensor->stride[i]);
    }
    return view_fits(layout, shape, stride, tensor->rank);
}

// The tensor that stands for another's name in a schema, or NULL where it is left out.
static const tapml_tensor *tensor_of(const tapml_param *param, const tapml_value *arg)
{
    if (arg->kind == TAPML_V_NONE || (param->kind == TAPML_P_TENSORS_IN && arg->count == 0)) {
        return NULL;
    }
    return param->kind == TAPML_P_TENSORS_IN ? *(const tapml_tensor *const *)arg->u.p
                                             : (const tapml_tensor *)arg->u.p;
}

static tapml_status call_dtype(const tapml_op *op,
                               const tapml_param *param,
                               const tapml_value *args,
                               const tapml_tensor *tensor)
{
    uint32_t other = 0;

    if (tensor->encoding != NULL) {
        return infer_takes(param, "encoded")
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "has encoding '%s', expected %s",
                                 tensor->encoding->id, param->dtype);
    }
    if (infer_takes(param, dtype_name(tensor->dtype))) {
        return TAPML_OK;
    }

    const tapml_param *named = named_param(op, param->dtype, &other);
    const tapml_tensor *like = named != NULL ? tensor_of(named, &args[other]) : NULL;

    if (like != NULL && like->dtype == tensor->dtype) {
        return TAPML_OK;
    }
    return wrong_dtype(like != NULL ? dtype_name(like->dtype) : param->dtype, tensor->dtype);
}

// The shape of a tensor with all its panels, which are rows of the first axis.
static tapml_status whole_shape(const tapml_tensor *tensor, struct infer_argument *out_whole)
{
    int64_t rows = tensor->rank > 0 ? tensor->shape[0] : 0;

    for (const tapml_tensor *panel = tensor->next; panel != NULL; panel = panel->next) {
        TAPML_TRY(check_form(panel));
        if (panel->dtype != tensor->dtype || panel->encoding != tensor->encoding ||
            panel->rank != tensor->rank || panel->rank == 0 ||
            memcmp(panel->shape + 1, tensor->shape + 1,
                   (panel->rank - 1) * sizeof(*panel->shape)) != 0 ||
            __builtin_add_overflow(rows, panel->shape[0], &rows)) {
            return status_fail(TAPML_INVALID, "a panel differs from the first in more than rows");
        }
    }
    out_whole->rank = tensor->rank;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        out_whole->shape[i] = affine_constant(i == 0 ? rows : tensor->shape[i]);
    }
    return TAPML_OK;
}

static tapml_status call_shape(const tapml_op *op,
                               const tapml_param *param,
                               const tapml_value *args,
                               const tapml_tensor *tensor,
                               struct expression_scope *scope)
{
    uint32_t other = 0;
    const tapml_param *named = named_param(op, param->shape, &other);
    struct infer_argument whole;

    TAPML_TRY(whole_shape(tensor, &whole));
    if (named == NULL) {
        return expression_match(scope, param->shape, whole.shape, whole.rank);
    }

    const tapml_tensor *like = tensor_of(named, &args[other]);
    struct infer_argument expected;

    if (like == NULL) {
        return status_fail(TAPML_INVALID, "its shape is that of '%s', which is left out",
                           named->name);
    }
    TAPML_TRY(check_form(like));
    TAPML_TRY(whole_shape(like, &expected));
    return same_shape(&whole, &expected, named->name);
}

static tapml_status call_tensor(const tapml_op *op,
                                const tapml_param *param,
                                const tapml_value *args,
                                const tapml_tensor *tensor,
                                struct expression_scope *scope)
{
    TAPML_TRY(check_form(tensor));
    TAPML_TRY(call_dtype(op, param, args, tensor));
    TAPML_TRY(call_shape(op, param, args, tensor, scope));
    if (!layout_fits(param->layout, tensor)) {
        return status_fail(TAPML_INVALID, "its strides are not of layout '%s'", param->layout);
    }
    return TAPML_OK;
}

static tapml_status call_argument(const tapml_op *op,
                                  const tapml_param *param,
                                  const tapml_value *args,
                                  const tapml_value *arg,
                                  struct expression_scope *scope)
{
    if (arg->kind == TAPML_V_NONE) {
        return (param->effects & TAPML_E_OPTIONAL) != 0
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "is left out, and is not optional");
    }
    if (arg->kind != param->kind) {
        return status_fail(TAPML_INVALID, "is of kind %u, expected %u", arg->kind, param->kind);
    }
    if (!is_tensor(param->kind)) {
        return TAPML_OK;
    }
    if (param->kind != TAPML_P_TENSORS_IN) {
        return call_tensor(op, param, args, arg->u.p, scope);
    }

    const tapml_tensor *const *tensors = arg->u.p;

    if (arg->count == 0 || tensors == NULL) {
        return status_fail(TAPML_INVALID, "has no tensors");
    }
    for (uint32_t i = 0; i < arg->count; i++) {
        TAPML_TRY(call_tensor(op, param, args, tensors[i], scope));
    }
    return TAPML_OK;
}

tapml_status infer_call(const tapml_op *op, const tapml_value *args, struct expression_scope *scope)
{
    expression_scope_init(scope);
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (op->params[p]->kind == TAPML_P_I64 && args[p].kind == TAPML_P_I64) {
            const struct affine value = affine_constant(args[p].u.i);

            TAPML_TRY(
                explain(expression_define(scope, op->params[p]->name, &value), op, op->params[p]));
        }
    }
    for (uint32_t p = 0; p < op->n_params; p++) {
        TAPML_TRY(
            explain(call_argument(op, op->params[p], args, &args[p], scope), op, op->params[p]));
    }
    for (uint32_t p = 0; p < op->n_params; p++) {
        int64_t begin = 0;
        int64_t end = 0;

        if (op->params[p]->region != NULL && args[p].kind != TAPML_V_NONE) {
            TAPML_TRY(infer_region(op, p, args, scope, &begin, &end));
        }
    }
    return TAPML_OK;
}

static tapml_status region_range(const tapml_param *param,
                                 const tapml_tensor *tensor,
                                 const struct expression_scope *scope,
                                 int64_t *out_begin,
                                 int64_t *out_end)
{
    const struct affine_point origin = {{0}}; // The scope of a call holds plain numbers.
    const int64_t rows = tensor->rank > 0 ? tensor->shape[0] : 1;
    int64_t begin = 0;
    int64_t end = rows;

    if (param->region != NULL) {
        TAPML_TRY(expression_range(scope, param->region, &origin, &begin, &end));
    }
    if (begin < 0 || end < begin || end > rows) {
        return status_fail(TAPML_INVALID, "its region %s is %lld .. %lld, it has %lld rows",
                           param->region, (long long)begin, (long long)end, (long long)rows);
    }
    *out_begin = begin;
    *out_end = end;
    return TAPML_OK;
}

tapml_status infer_region(const tapml_op *op,
                          uint32_t param,
                          const tapml_value *args,
                          const struct expression_scope *scope,
                          int64_t *out_begin,
                          int64_t *out_end)
{
    const tapml_tensor *tensor = tensor_of(op->params[param], &args[param]);

    if (tensor == NULL) {
        return explain(status_fail(TAPML_INVALID, "is left out"), op, op->params[param]);
    }
    return explain(region_range(op->params[param], tensor, scope, out_begin, out_end), op,
                   op->params[param]);
}
