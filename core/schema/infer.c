// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/infer.h"

#include "base/assert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"
#include "tensor/tiles.h"

#include <string.h>

static const char *name_of(const struct compiled_op *schema, uint32_t param)
{
    return schema->op->params[param]->name;
}

static tapml_status explain(tapml_status status, const struct compiled_op *schema, uint32_t param)
{
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "%s: parameter '%s'", schema->op->name,
                                               name_of(schema, param));
}

// The same with the name of what stands there: of a weight it is the tensor's.
static tapml_status explain_argument(tapml_status status,
                                     const struct compiled_op *schema,
                                     uint32_t param,
                                     const struct infer_argument *argument)
{
    return status == TAPML_OK || argument->name == NULL
               ? explain(status, schema, param)
               : status_explain(status, "%s: parameter '%s' ('%s')", schema->op->name,
                                name_of(schema, param), argument->name);
}

static tapml_status wrong_dtype(const char *allowed, uint32_t dtype)
{
    return status_fail(TAPML_INVALID, "dtype is %s, expected %s", dtype_name(dtype), allowed);
}

static tapml_status is_left_out(const char *what, const char *name)
{
    return status_fail(TAPML_INVALID, "its %s is that of '%s', which is left out", what, name);
}

// -- Graphs ------------------------------------------------------------------------------------

static tapml_status
infer_dtype(const struct compiled_op *schema, uint32_t index, struct infer_argument *arguments)
{
    const struct compiled_param *param = &schema->params[index];
    struct infer_argument *argument = &arguments[index];
    const int is_output = param->kind == TAPML_P_TENSOR_OUT;
    const uint32_t like = param->dtype_like;

    if (like == COMPILED_NONE) {
        if (is_output) {
            argument->dtype = param->dtype_count > 0 ? param->dtypes[0] : 0;
            return TAPML_OK;
        }
        return compiled_takes(schema, index, argument->dtype)
                   ? TAPML_OK
                   : wrong_dtype(schema->op->params[index]->dtype, argument->dtype);
    }
    if (!arguments[like].is_present) {
        return is_left_out("dtype", name_of(schema, like));
    }
    if (is_output) {
        argument->dtype = arguments[like].dtype;
        return TAPML_OK;
    }
    return argument->dtype == arguments[like].dtype
               ? TAPML_OK
               : wrong_dtype(dtype_name(arguments[like].dtype), argument->dtype);
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

static tapml_status infer_shape(const struct compiled_op *schema,
                                uint32_t index,
                                struct infer_argument *arguments,
                                struct expression_scope *scope)
{
    const struct compiled_param *param = &schema->params[index];
    struct infer_argument *argument = &arguments[index];
    const int is_output = param->kind == TAPML_P_TENSOR_OUT;
    const uint32_t like = param->shape_like;

    if (like == COMPILED_NONE) {
        return is_output ? expression_shape(scope, param->shape, argument->shape, &argument->rank)
                         : expression_match(scope, param->shape, argument->shape, argument->rank);
    }
    if (!arguments[like].is_present) {
        return is_left_out("shape", name_of(schema, like));
    }
    if (!is_output) {
        return same_shape(argument, &arguments[like], name_of(schema, like));
    }
    argument->rank = arguments[like].rank;
    memcpy(argument->shape, arguments[like].shape, sizeof(argument->shape));
    return TAPML_OK;
}

static tapml_status infer_argument(const struct compiled_op *schema,
                                   uint32_t index,
                                   struct infer_argument *arguments,
                                   struct expression_scope *scope)
{
    const struct compiled_param *param = &schema->params[index];

    if (!arguments[index].is_present) {
        return (param->effects & TAPML_E_OPTIONAL) != 0
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "is left out, and is not optional");
    }
    if (!param->is_tensor) {
        return TAPML_OK;
    }
    TAPML_TRY(infer_dtype(schema, index, arguments));
    return infer_shape(schema, index, arguments, scope);
}

// As infer_op; the scope has what the symbols are.
static tapml_status infer_in(const struct compiled_op *schema,
                             struct infer_argument *arguments,
                             struct expression_scope *scope)
{
    const uint32_t count = schema->op->n_params;

    expression_scope_init(scope, &schema->names);
    for (uint32_t p = 0; p < count; p++) {
        if (schema->params[p].kind == TAPML_P_I64 && arguments[p].is_present) {
            expression_define(scope, schema->params[p].symbol, &arguments[p].i);
        }
    }
    for (int outputs = 0; outputs <= 1; outputs++) {
        for (uint32_t p = 0; p < count; p++) {
            if ((schema->params[p].kind == TAPML_P_TENSOR_OUT) == outputs) {
                TAPML_TRY(explain_argument(infer_argument(schema, p, arguments, scope), schema, p,
                                           &arguments[p]));
            }
        }
    }
    return TAPML_OK;
}

tapml_status infer_op(const struct compiled_op *schema, struct infer_argument *arguments)
{
    struct expression_scope scope;

    return infer_in(schema, arguments, &scope);
}

tapml_status infer_region(const struct compiled_op *schema,
                          struct infer_argument *arguments,
                          uint32_t param,
                          struct affine *out_begin,
                          struct affine *out_end)
{
    struct expression_scope scope;

    ASSERT(schema->params[param].region != NULL);
    TAPML_TRY(infer_in(schema, arguments, &scope));
    return expression_range_affine(&scope, schema->params[param].region, out_begin, out_end);
}

// -- Calls -------------------------------------------------------------------------------------

// Spans that have buffers of their own are bytes, as many as the tiles take.
static tapml_status check_spans(const tapml_tensor *tensor)
{
    if (!tiles_are_in(tensor->encoding)) {
        return status_fail(TAPML_INVALID, "has spans of their own, and encoding '%s' has no tiles",
                           tensor->encoding->id);
    }
    for (uint32_t i = 0; i < tensor->encoding->n_spans; i++) {
        const tapml_tensor *span = tensor->spans[i];
        const uint64_t bytes = tiles_span_bytes(tensor->encoding, tensor->shape, tensor->rank, i);

        if (span->dtype != TAPML_U8 || span->rank != 1 || span->stride || span->encoding ||
            span->next || span->spans || (uint64_t)span->shape[0] != bytes) {
            return status_fail(TAPML_INVALID, "expected %llu bytes as its span '%s'",
                               (unsigned long long)bytes, tensor->encoding->spans[i]->name);
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
        tensor->offset % encoding_align(tensor->encoding) != 0) {
        return status_fail(
            TAPML_INVALID, "has encoding '%s' and is not dense from a multiple of %llu bytes on",
            tensor->encoding->id, (unsigned long long)encoding_align(tensor->encoding));
    }
    TAPML_TRY(encoding_bytes(tensor->encoding, tensor->dtype, tensor->shape, tensor->rank, &bytes));
    return tensor->spans ? check_spans(tensor) : TAPML_OK;
}

// What holds for every tensor, whatever the schema says.
static tapml_status check_form(const tapml_tensor *tensor)
{
    if (tensor == NULL || !TAPML_HAS(tapml_tensor, tensor, spans)) {
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

static int strides_fit(enum layout layout, const tapml_tensor *tensor)
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
    return layout_fits(layout, shape, stride, tensor->rank);
}

// The tensor that stands for another's name in a schema, or NULL where it is left out.
static const tapml_tensor *
tensor_of(const struct compiled_op *schema, uint32_t param, const tapml_value *args)
{
    const tapml_value *arg = &args[param];
    const int is_list = schema->params[param].kind == TAPML_P_TENSORS_IN;

    if (arg->kind == TAPML_V_NONE || (is_list && arg->count == 0)) {
        return NULL;
    }
    return is_list ? *(const tapml_tensor *const *)arg->u.p : (const tapml_tensor *)arg->u.p;
}

static tapml_status call_dtype(const struct compiled_op *schema,
                               uint32_t index,
                               const tapml_value *args,
                               const tapml_tensor *tensor)
{
    const struct compiled_param *param = &schema->params[index];
    const char *text = schema->op->params[index]->dtype;

    if (tensor->encoding != NULL && param->dtype_like == COMPILED_NONE) {
        return param->takes_encoded ? TAPML_OK
                                    : status_fail(TAPML_INVALID, "has encoding '%s', expected %s",
                                                  tensor->encoding->id, text);
    }
    if (param->dtype_like == COMPILED_NONE) {
        return compiled_takes(schema, index, tensor->dtype) ? TAPML_OK
                                                            : wrong_dtype(text, tensor->dtype);
    }

    const tapml_tensor *like = tensor_of(schema, param->dtype_like, args);

    if (like == NULL) {
        return wrong_dtype(text, tensor->dtype);
    }
    if (like->encoding == tensor->encoding) {
        return like->dtype == tensor->dtype ? TAPML_OK
                                            : wrong_dtype(dtype_name(like->dtype), tensor->dtype);
    }
    return status_fail(TAPML_INVALID, "is %s, expected %s",
                       encoding_name(tensor->encoding, tensor->dtype),
                       encoding_name(like->encoding, like->dtype));
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

static tapml_status call_shape(uint32_t index,
                               const tapml_value *args,
                               const tapml_tensor *tensor,
                               struct inferred *inferred)
{
    const struct compiled_op *schema = inferred->schema;
    const struct compiled_param *param = &schema->params[index];
    struct infer_argument whole;

    TAPML_TRY(whole_shape(tensor, &whole));
    if (param->shape_like == COMPILED_NONE) {
        return expression_match(&inferred->scope, param->shape, whole.shape, whole.rank);
    }

    const char *name = name_of(schema, param->shape_like);
    const tapml_tensor *like = tensor_of(schema, param->shape_like, args);
    struct infer_argument expected;

    if (like == NULL) {
        return is_left_out("shape", name);
    }
    TAPML_TRY(check_form(like));
    TAPML_TRY(whole_shape(like, &expected));
    return same_shape(&whole, &expected, name);
}

static tapml_status call_tensor(uint32_t index,
                                const tapml_value *args,
                                const tapml_tensor *tensor,
                                struct inferred *inferred)
{
    const struct compiled_op *schema = inferred->schema;

    TAPML_TRY(check_form(tensor));
    TAPML_TRY(call_dtype(schema, index, args, tensor));
    TAPML_TRY(call_shape(index, args, tensor, inferred));
    if (!strides_fit(schema->params[index].layout, tensor)) {
        return status_fail(TAPML_INVALID, "its strides are not of layout '%s'",
                           schema->op->params[index]->layout);
    }
    return TAPML_OK;
}

static tapml_status
call_argument(uint32_t index, const tapml_value *args, struct inferred *inferred)
{
    const struct compiled_param *param = &inferred->schema->params[index];
    const tapml_value *arg = &args[index];

    if (arg->kind == TAPML_V_NONE) {
        return (param->effects & TAPML_E_OPTIONAL) != 0
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "is left out, and is not optional");
    }
    if (arg->kind != param->kind) {
        return status_fail(TAPML_INVALID, "is of kind %u, expected %u", arg->kind, param->kind);
    }
    if (!param->is_tensor) {
        return TAPML_OK;
    }
    if (param->kind != TAPML_P_TENSORS_IN) {
        return call_tensor(index, args, arg->u.p, inferred);
    }

    const tapml_tensor *const *tensors = arg->u.p;

    if (arg->count == 0 || tensors == NULL) {
        return status_fail(TAPML_INVALID, "has no tensors");
    }
    for (uint32_t i = 0; i < arg->count; i++) {
        TAPML_TRY(call_tensor(index, args, tensors[i], inferred));
    }
    return TAPML_OK;
}

// The rows of a state that the call touches: its region, or all.
static tapml_status call_region(uint32_t index, const tapml_value *args, struct inferred *inferred)
{
    const struct compiled_op *schema = inferred->schema;
    const struct expression *text = schema->params[index].region;
    const tapml_tensor *tensor = tensor_of(schema, index, args);
    const int64_t rows = tensor->rank > 0 ? tensor->shape[0] : 1;
    struct infer_region region = {0, rows};

    if (text != NULL) {
        TAPML_TRY(expression_range(&inferred->scope, text, &region.begin, &region.end));
    }
    if (region.begin < 0 || region.end < region.begin || region.end > rows) {
        return status_fail(TAPML_INVALID, "its region %s is %lld .. %lld, it has %lld rows",
                           schema->op->params[index]->region, (long long)region.begin,
                           (long long)region.end, (long long)rows);
    }
    inferred->regions[index] = region;
    return TAPML_OK;
}

tapml_status
infer_call(const struct compiled_op *schema, const tapml_value *args, struct inferred *out_inferred)
{
    const uint32_t count = schema->op->n_params;

    out_inferred->schema = schema;
    expression_scope_init(&out_inferred->scope, &schema->names);
    for (uint32_t p = 0; p < count; p++) {
        if (schema->params[p].kind == TAPML_P_I64 && args[p].kind == TAPML_P_I64) {
            const struct affine value = affine_constant(args[p].u.i);

            expression_define(&out_inferred->scope, schema->params[p].symbol, &value);
        }
    }
    for (uint32_t p = 0; p < count; p++) {
        TAPML_TRY(explain(call_argument(p, args, out_inferred), schema, p));
    }
    for (uint32_t p = 0; p < count; p++) {
        const uint32_t state = TAPML_E_STATE_READ | TAPML_E_STATE_WRITE;

        if ((schema->params[p].effects & state) != 0 && args[p].kind != TAPML_V_NONE) {
            TAPML_TRY(explain(call_region(p, args, out_inferred), schema, p));
        }
    }
    return TAPML_OK;
}

// -- Domains -----------------------------------------------------------------------------------

static tapml_status
number_within(const struct compiled_param *param, double value, const struct inferred *inferred)
{
    int64_t least = 0, largest = 0;
    int is_choice = 0;

    if (param->domain != NULL) {
        TAPML_TRY(expression_range(&inferred->scope, param->domain, &least, &largest));
        return value >= (double)least && value <= (double)largest
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "is %g, expected %lld .. %lld", value,
                                 (long long)least, (long long)largest);
    }
    for (uint32_t i = 0; i < param->choice_count; i++) {
        is_choice |= param->choices[i] == value;
    }
    return is_choice || param->choice_count == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "is %g, which is none of its values", value);
}

tapml_status
infer_domains(const struct inferred *inferred, const tapml_value *args, uint32_t params)
{
    const struct compiled_op *schema = inferred->schema;

    for (uint32_t p = 0; p < schema->op->n_params; p++) {
        const struct compiled_param *param = &schema->params[p];

        if ((params >> p & 1) == 0) {
            continue;
        }
        if (args[p].kind == TAPML_P_I64) {
            TAPML_TRY(explain(number_within(param, (double)args[p].u.i, inferred), schema, p));
        } else if (args[p].kind == TAPML_P_F64) {
            TAPML_TRY(explain(number_within(param, args[p].u.d, inferred), schema, p));
        }
    }
    return TAPML_OK;
}
