// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derive_layout.h"

#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

enum { BYTES_MAX = 1 << 26 }; // Of one argument.

int derive_layout_has(uint32_t kind)
{
    return kind == TAPML_P_TENSOR_IN || kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;
}

int derive_layout_is_attribute(const struct compiled_op *schema, uint32_t symbol)
{
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        if (schema->params[i].symbol == symbol) {
            return 1;
        }
    }
    return 0;
}

int derive_layout_is_place(const struct compiled_op *schema, uint32_t symbol)
{
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        if (schema->params[i].region && expression_has(schema->params[i].region, symbol)) {
            return derive_layout_is_attribute(schema, symbol);
        }
    }
    return 0;
}

int derive_layout_is_leading(const struct compiled_op *schema, uint32_t symbol)
{
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        if (schema->params[i].shape && expression_has_rows(schema->params[i].shape, symbol)) {
            return 1;
        }
    }
    return 0;
}

tapml_status derive_layout_region(const struct compiled_op *schema,
                                  const struct expression_scope *scope,
                                  uint32_t index,
                                  int64_t *out_begin,
                                  int64_t *out_end)
{
    return expression_range(scope, schema->params[index].region, out_begin, out_end);
}

static tapml_status find_shape(const struct compiled_op *schema,
                               const struct expression_scope *scope,
                               uint32_t index,
                               struct case_argument *argument)
{
    const struct compiled_param *param = &schema->params[index];
    struct affine shape[TAPML_MAX_RANK];
    if (param->shape_like != COMPILED_NONE) {
        param = &schema->params[param->shape_like];
    }
    TAPML_TRY(expression_shape(scope, param->shape, shape, &argument->rank));
    for (uint32_t i = 0; i < argument->rank; i++) {
        argument->shape[i] = shape[i].constant;
        if (argument->shape[i] < 1) {
            return status_fail(TAPML_INVALID, "an axis of '%s' would be empty", argument->name);
        }
    }
    return TAPML_OK;
}

// The rows of a state that are touched, and the whole pages around them.
static tapml_status place_region(const struct compiled_op *schema,
                                 const struct expression_scope *scope,
                                 uint32_t index,
                                 struct case_argument *argument)
{
    const int64_t rows = argument->shape[0];
    argument->region_begin = 0;
    argument->region_end = rows;
    if (schema->params[index].region) {
        TAPML_TRY(derive_layout_region(schema, scope, index, &argument->region_begin,
                                       &argument->region_end));
    }
    if (argument->region_begin < 0 || argument->region_begin > argument->region_end ||
        argument->region_end > rows) {
        return status_fail(TAPML_INVALID, "'%s' has no such rows", argument->name);
    }
    const int64_t pages = (argument->region_end + CASE_PAGE_ROWS - 1) / CASE_PAGE_ROWS;
    const int64_t end = pages * CASE_PAGE_ROWS;
    argument->kept_begin = argument->region_begin / CASE_PAGE_ROWS * CASE_PAGE_ROWS;
    argument->kept_end = end < rows ? end : rows;
    return TAPML_OK;
}

tapml_status derive_layout_place(const struct compiled_op *schema,
                                 const struct expression_scope *scope,
                                 uint32_t index,
                                 struct case_argument *io_argument)
{
    struct case_argument *argument = io_argument;
    int64_t count = 0;
    TAPML_TRY(find_shape(schema, scope, index, argument));
    TAPML_TRY(shape_count(argument->shape, argument->rank, &count));
    if ((uint64_t)count > BYTES_MAX / dtype_bytes(argument->dtype)) {
        return status_fail(TAPML_INVALID, "'%s' would be too large", argument->name);
    }
    TAPML_TRY(encoding_bytes(argument->encoding, argument->dtype, argument->shape, argument->rank,
                             &argument->base_bytes));
    shape_dense_strides(argument->shape, argument->rank, argument->stride);
    argument->offset_bytes = 0;
    argument->before = NULL;
    argument->after = NULL;
    if (case_is_state(argument) && argument->rank > 0) {
        TAPML_TRY(place_region(schema, scope, index, argument));
    }
    TAPML_TRY(case_check_layout(argument));
    return case_content_bytes(argument, &argument->content_bytes);
}
