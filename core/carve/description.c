// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "carve/description.h"

#include "base/arena.h"
#include "store/call_line.h"
#include "store/case.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <string.h>

int description_is_tensor(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN || case_is_output(argument);
}

// Type, shape and place of a tensor; a weight in panels is described as the whole that it is.
static void describe_tensor(const tapml_tensor *tensor, struct case_argument *argument)
{
    argument->dtype = tensor->dtype;
    argument->encoding = tensor->encoding;
    argument->rank = tensor->rank;
    argument->offset_bytes = tensor->offset;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        argument->shape[i] = tensor->shape[i];
    }
    for (const tapml_tensor *panel = tensor->next; panel; panel = panel->next) {
        argument->shape[0] += panel->shape[0];
    }
    if (tensor->stride && !tensor->next) {
        memcpy(argument->stride, tensor->stride, tensor->rank * sizeof(*argument->stride));
    } else {
        shape_dense_strides(argument->shape, argument->rank, argument->stride);
    }
}

// The rows that a call touches, and whole pages around them.
static void describe_state(const struct infer_region *region, struct case_argument *argument)
{
    argument->region_begin = region->begin;
    argument->region_end = region->end;
    const int64_t pages = (argument->region_end + CASE_PAGE_ROWS - 1) / CASE_PAGE_ROWS;
    const int64_t end = pages * CASE_PAGE_ROWS;
    argument->kept_begin = argument->region_begin / CASE_PAGE_ROWS * CASE_PAGE_ROWS;
    argument->kept_end = end < argument->shape[0] ? end : argument->shape[0];
}

static int is_like(const tapml_tensor *a, const tapml_tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->encoding == b->encoding && !b->next &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape)) == 0);
}

// A list becomes a stack along a first axis.
static tapml_status describe_list(const tapml_value *value, struct case_argument *argument)
{
    const tapml_tensor *const *list = value->u.p;
    const tapml_tensor *first = list[0];
    uint64_t each_bytes = 0;
    for (uint32_t i = 0; i < value->count; i++) {
        if (!is_like(first, list[i])) {
            return status_fail(TAPML_UNIMPLEMENTED,
                               "its tensors differ or lie in panels, which no case can hold");
        }
    }
    if (first->rank + 1 > TAPML_MAX_RANK || value->count > CASE_LIST_MAX) {
        return status_fail(TAPML_UNIMPLEMENTED, "%u tensors of rank %u, which no case can hold",
                           value->count, first->rank);
    }
    argument->dtype = first->dtype;
    argument->encoding = first->encoding;
    argument->rank = first->rank + 1;
    argument->shape[0] = value->count;
    for (uint32_t i = 0; i < first->rank; i++) {
        argument->shape[i + 1] = first->shape[i];
    }
    shape_dense_strides(argument->shape, argument->rank, argument->stride);
    TAPML_TRY(
        encoding_bytes(first->encoding, first->dtype, first->shape, first->rank, &each_bytes));
    if (__builtin_mul_overflow(each_bytes, (uint64_t)value->count, &argument->base_bytes)) {
        return status_fail(TAPML_INVALID, "%u tensors of %" PRIu64 " bytes are too large",
                           value->count, each_bytes);
    }
    TAPML_TRY(case_check_layout(argument));
    return case_content_bytes(argument, &argument->content_bytes);
}

// A whole weight may take more bytes on a device than in the checkpoint: spread blocks, wider
// tiles.
static tapml_status describe_base(struct case_argument *argument)
{
    uint64_t bytes = 0;
    if ((argument->effects & TAPML_E_WEIGHT) == 0 || argument->offset_bytes != 0 ||
        !shape_is_dense(argument->shape, argument->stride, argument->rank)) {
        return TAPML_OK;
    }
    TAPML_TRY(encoding_bytes(argument->encoding, argument->dtype, argument->shape, argument->rank,
                             &bytes));
    argument->base_bytes = bytes > argument->base_bytes ? bytes : argument->base_bytes;
    return TAPML_OK;
}

static tapml_status describe_argument(const struct backend_call *call,
                                      struct arena *arena,
                                      uint32_t index,
                                      struct case_argument *argument)
{
    const tapml_value *value = &call->args[index];
    const tapml_param *param = call->op->params[index];
    const struct backend_origin *origin = &call->origins[index];
    argument->name = arena_text(arena, param->name);
    argument->origin = arena_text(arena, origin->name ? origin->name : "");
    argument->kind = value->kind;
    argument->effects = param->effects;
    if (!argument->name || !argument->origin) {
        return status_no_memory();
    }
    if (value->kind == TAPML_P_I64) {
        argument->i = value->u.i;
    }
    if (value->kind == TAPML_P_F64) {
        argument->d = value->u.d;
    }
    if (value->kind == TAPML_P_TENSORS_IN) {
        return describe_list(value, argument);
    }
    if (!description_is_tensor(argument)) {
        return TAPML_OK;
    }
    const tapml_tensor *tensor = value->u.p;
    if (tensor->encoding && encoding_find(tensor->encoding->id) != tensor->encoding) {
        return status_fail(TAPML_UNIMPLEMENTED, "has encoding '%s', which no case can hold",
                           tensor->encoding->id);
    }
    describe_tensor(tensor, argument);
    argument->offset_bytes -= origin->base_offset;
    argument->base_bytes = origin->base_bytes;
    TAPML_TRY(describe_base(argument));
    if (case_is_state(argument)) {
        describe_state(&call->inferred->regions[index], argument);
    }
    TAPML_TRY(case_check_layout(argument));
    return case_content_bytes(argument, &argument->content_bytes);
}

// What a case can hold of an op.
static tapml_status check_op(const tapml_op *op)
{
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < op->n_params; i++) {
        const uint32_t kind = op->params[i]->kind;
        outputs += kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;
    }
    return outputs <= CALL_LINE_OUTPUTS_MAX
               ? TAPML_OK
               : status_fail(TAPML_UNIMPLEMENTED,
                             "cannot carve '%s': it has %u outputs, at most %d are recorded",
                             op->name, outputs, CALL_LINE_OUTPUTS_MAX);
}

tapml_status description_make(const struct backend_call *call,
                              struct arena *arena,
                              struct case_argument **out_arguments)
{
    struct case_argument *arguments = NULL;
    TAPML_TRY(check_op(call->op));
    arguments = arena_array(arena, call->op->n_params, sizeof(*arguments));
    if (!arguments) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const tapml_status status = describe_argument(call, arena, i, &arguments[i]);
        if (status != TAPML_OK) {
            return status_explain(status, "parameter '%s'", call->op->params[i]->name);
        }
    }
    *out_arguments = arguments;
    return TAPML_OK;
}
