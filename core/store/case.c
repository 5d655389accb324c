// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/case.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/text.h"
#include "schema/infer.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int case_is_state(const struct case_argument *argument)
{
    return (argument->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0;
}

int case_is_output(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_OUT || argument->kind == TAPML_P_TENSOR_INOUT;
}

int case_is_reference(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_IN && (argument->effects & TAPML_E_WEIGHT) != 0 &&
           !argument->before;
}

void case_content_shape(const struct case_argument *argument, int64_t out_shape[TAPML_MAX_RANK])
{
    for (uint32_t i = 0; i < argument->rank; i++) {
        out_shape[i] = argument->shape[i];
    }
    if (case_is_state(argument) && argument->rank > 0) {
        out_shape[0] = argument->kept_end - argument->kept_begin;
        if (argument->encoding) { // Rows of blocks are rows of bytes.
            encoding_byte_shape(argument->encoding, out_shape, argument->rank);
        }
    }
}

struct case_argument case_content_view(const struct case_argument *argument)
{
    struct case_argument view = *argument;
    const uint64_t element_bytes = dtype_bytes(argument->dtype);
    if ((argument->effects & TAPML_E_WEIGHT) != 0) {
        view.rank = 1;
        view.shape[0] = (int64_t)(argument->base_bytes / element_bytes);
        view.stride[0] = 1;
        view.offset_bytes = 0;
        return view;
    }
    case_content_shape(argument, view.shape);
    if (argument->encoding) {
        view.encoding = NULL;
        shape_dense_strides(view.shape, view.rank, view.stride);
    }
    if (case_is_state(argument)) {
        const uint64_t row_bytes = (uint64_t)view.stride[0] * element_bytes;
        view.offset_bytes += (uint64_t)argument->kept_begin * row_bytes;
    }
    return view;
}

tapml_status case_content_bytes(const struct case_argument *argument, uint64_t *out_bytes)
{
    int64_t shape[TAPML_MAX_RANK];
    int64_t count = 0;
    uint64_t bytes = argument->base_bytes;
    case_content_shape(argument, shape);
    TAPML_TRY(shape_count(shape, argument->rank, &count));
    const int is_weight = (argument->effects & TAPML_E_WEIGHT) != 0;
    if (!is_weight &&
        (__builtin_mul_overflow((uint64_t)count, (uint64_t)dtype_bytes(argument->dtype), &bytes) ||
         bytes > INT64_MAX)) {
        return status_fail(TAPML_INVALID, "a tensor of %" PRId64 " elements is too large", count);
    }
    *out_bytes = bytes;
    return TAPML_OK;
}

static tapml_status check_state(const struct case_argument *argument)
{
    const int is_ordered = argument->kept_begin >= 0 &&
                           argument->kept_begin <= argument->region_begin &&
                           argument->region_begin <= argument->region_end &&
                           argument->region_end <= argument->kept_end;
    if (argument->rank == 0 || !is_ordered || argument->kept_end > argument->shape[0] ||
        argument->kept_begin % CASE_PAGE_ROWS != 0) {
        return status_fail(TAPML_INVALID, "the rows of its state do not fit each other");
    }
    return TAPML_OK;
}

// Of an encoded tensor, which is a weight or a state, in units of its alignment. A list has
// several, each of its own.
static tapml_status encoded_span(const struct case_argument *argument, int64_t *out_span)
{
    const int is_list = argument->kind == TAPML_P_TENSORS_IN;
    uint64_t bytes = 0;
    int64_t units = 0;
    const int is_right = (argument->effects & TAPML_E_WEIGHT) != 0 ||
                         (case_is_state(argument) && argument->encoding->n_spans == 1);
    if (!is_right || argument->dtype != TAPML_U8 || argument->rank <= (uint32_t)is_list ||
        !shape_is_dense(argument->shape, argument->stride, argument->rank)) {
        return status_fail(TAPML_INVALID, "its encoding '%s' is that of a dense weight or state",
                           argument->encoding->id);
    }
    TAPML_TRY(encoding_bytes(argument->encoding, argument->dtype, argument->shape + is_list,
                             argument->rank - (uint32_t)is_list, &bytes));
    units = (int64_t)(bytes / encoding_align(argument->encoding));
    if (is_list && __builtin_mul_overflow(units, argument->shape[0], &units)) {
        return status_fail(TAPML_INVALID, "a list of %" PRId64 " tensors is too large",
                           argument->shape[0]);
    }
    *out_span = units;
    return TAPML_OK;
}

// The view of a tensor lies in its base value, whose size fits in 63 bits.
static tapml_status check_view(const struct case_argument *argument)
{
    uint64_t element_bytes = dtype_bytes(argument->dtype);
    int64_t span = 0;
    uint64_t end = 0;
    if (argument->encoding) {
        TAPML_TRY(encoded_span(argument, &span));
        element_bytes = encoding_align(argument->encoding);
    } else {
        TAPML_TRY(shape_span(argument->shape, argument->stride, argument->rank, &span));
    }
    if (argument->offset_bytes % element_bytes != 0 || argument->base_bytes > CASE_BASE_BYTES_MAX ||
        __builtin_mul_overflow((uint64_t)span, element_bytes, &end) ||
        __builtin_add_overflow(end, argument->offset_bytes, &end) || end > argument->base_bytes) {
        return status_fail(TAPML_INVALID,
                           "its view, bytes %" PRIu64 " to %" PRIu64
                           ", does not lie in its base value of %" PRIu64,
                           argument->offset_bytes, end, argument->base_bytes);
    }
    return TAPML_OK;
}

// Bytes of the base value up to the end of the view.
static tapml_status view_end(const struct case_argument *argument, uint64_t *out_end)
{
    int64_t span = 0;
    TAPML_TRY(shape_span(argument->shape, argument->stride, argument->rank, &span));
    *out_end = argument->offset_bytes + (uint64_t)span * dtype_bytes(argument->dtype);
    return TAPML_OK;
}

tapml_status case_trim_base(struct case_argument *argument)
{
    uint64_t end = 0;
    if ((argument->effects & TAPML_E_WEIGHT) != 0 || argument->kind == TAPML_P_TENSORS_IN ||
        argument->encoding) {
        return TAPML_OK;
    }
    TAPML_TRY(view_end(argument, &end));
    ASSERT(end <= argument->base_bytes); // The layout was checked.
    const uint64_t most = 2 * end + CASE_SLACK_BYTES;
    argument->base_bytes = argument->base_bytes < most ? argument->base_bytes : most;
    return TAPML_OK;
}

tapml_status case_check_layout(const struct case_argument *argument)
{
    const size_t element_bytes = dtype_bytes(argument->dtype);
    if (argument->rank > TAPML_MAX_RANK || element_bytes == 0) {
        return status_fail(TAPML_INVALID, "its rank or element type is not known");
    }
    if ((argument->effects & TAPML_E_WEIGHT) != 0 && argument->base_bytes % element_bytes != 0) {
        return status_fail(TAPML_INVALID, "its base value does not consist of whole elements");
    }
    TAPML_TRY(check_view(argument));
    return case_is_state(argument) ? check_state(argument) : TAPML_OK;
}

static tapml_status check_content(const struct case_argument *argument)
{
    const int is_in = argument->kind != TAPML_P_TENSOR_OUT && !case_is_reference(argument);
    uint64_t bytes = 0;
    TAPML_TRY(case_content_bytes(argument, &bytes));
    if (argument->content_bytes != bytes) {
        return status_fail(TAPML_INVALID, "its contents have %" PRIu64 " bytes, expected %" PRIu64,
                           argument->content_bytes, bytes);
    }
    if ((is_in && !argument->before) || (case_is_output(argument) && !argument->after)) {
        return status_fail(TAPML_INVALID, "its contents are not there");
    }
    return TAPML_OK;
}

// A stack of at least one tensor, without gaps.
static tapml_status check_list(const struct case_argument *argument)
{
    int64_t count = 0;
    TAPML_TRY(case_check_layout(argument));
    TAPML_TRY(shape_count(argument->shape, argument->rank, &count));
    if (argument->rank == 0 || argument->shape[0] < 1 || argument->shape[0] > CASE_LIST_MAX ||
        argument->offset_bytes != 0 ||
        !shape_is_dense(argument->shape, argument->stride, argument->rank) ||
        (!argument->encoding &&
         argument->base_bytes != (uint64_t)count * dtype_bytes(argument->dtype)) ||
        argument->base_bytes % (uint64_t)argument->shape[0] != 0 ||
        (argument->encoding &&
         argument->base_bytes / (uint64_t)argument->shape[0] % encoding_align(argument->encoding) !=
             0)) {
        return status_fail(TAPML_INVALID, "its list is no dense stack of 1 to %d tensors",
                           CASE_LIST_MAX);
    }
    return check_content(argument);
}

tapml_status case_check_argument(const struct case_argument *argument)
{
    switch (argument->kind) {
    case TAPML_V_NONE:
    case TAPML_P_I64:
    case TAPML_P_F64:
        return TAPML_OK;
    case TAPML_P_TENSOR_IN:
    case TAPML_P_TENSOR_OUT:
    case TAPML_P_TENSOR_INOUT:
        TAPML_TRY(case_check_layout(argument));
        return check_content(argument);
    case TAPML_P_TENSORS_IN:
        return check_list(argument);
    default:
        return status_fail(TAPML_INVALID, "its kind %u is not known", argument->kind);
    }
}

tapml_status case_check_op(const struct carved_case *item, const tapml_op *op)
{
    if (strcmp(item->op_name, op->name) != 0 || item->op_version != op->version ||
        item->argument_count != op->n_params) {
        return status_fail(
            TAPML_INVALID,
            "case of '%.60s' version %u with %u arguments is no call of '%s' version "
            "%u with %u",
            item->op_name, item->op_version, item->argument_count, op->name, op->version,
            op->n_params);
    }
    for (uint32_t i = 0; i < op->n_params; i++) {
        const struct case_argument *argument = &item->arguments[i];
        const tapml_param *param = op->params[i];
        const int is_absent =
            argument->kind == TAPML_V_NONE && (param->effects & TAPML_E_OPTIONAL) != 0;
        if (strcmp(argument->name, param->name) != 0 ||
            (!is_absent &&
             (argument->kind != param->kind || argument->effects != param->effects))) {
            return status_fail(TAPML_INVALID, "argument %u '%.60s' is not parameter '%s' of '%s'",
                               i, argument->name, param->name, op->name);
        }
    }
    return TAPML_OK;
}

tapml_status case_list(const struct case_argument *argument,
                       struct arena *arena,
                       tapml_tensor **out_tensors,
                       const tapml_tensor *const **out_list)
{
    const size_t count = (size_t)argument->shape[0];
    tapml_tensor *tensors = arena_array(arena, count, sizeof(*tensors));
    const tapml_tensor **list = arena_array(arena, count, sizeof(*list));
    if (!tensors || !list) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = argument->dtype,
                                    .rank = argument->rank - 1,
                                    .shape = argument->rank > 1 ? argument->shape + 1 : NULL,
                                    .encoding = argument->encoding,
                                    .offset = argument->base_bytes / count * i};
        list[i] = &tensors[i];
    }
    *out_tensors = tensors;
    *out_list = list;
    return TAPML_OK;
}

static tapml_status
list_value(const struct case_argument *argument, struct arena *arena, tapml_value *value)
{
    const tapml_tensor *const *list = NULL;
    tapml_tensor *tensors = NULL;
    TAPML_TRY(case_list(argument, arena, &tensors, &list));
    value->count = (uint32_t)argument->shape[0];
    value->u.p = list;
    return TAPML_OK;
}

tapml_status
case_values(const struct carved_case *item, struct arena *arena, tapml_value **out_values)
{
    tapml_value *values = arena_array(arena, item->argument_count, sizeof(*values));
    tapml_tensor *tensors = arena_array(arena, item->argument_count, sizeof(*tensors));
    if (!values || !tensors) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        values[i].kind = argument->kind;
        if (argument->kind == TAPML_P_I64) {
            values[i].u.i = argument->i;
        } else if (argument->kind == TAPML_P_F64) {
            values[i].u.d = argument->d;
        } else if (argument->kind == TAPML_P_TENSOR_IN || case_is_output(argument)) {
            tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                        .dtype = argument->dtype,
                                        .rank = argument->rank,
                                        .shape = argument->shape,
                                        .stride = argument->stride,
                                        .encoding = argument->encoding,
                                        .offset = argument->offset_bytes};
            values[i].u.p = &tensors[i];
        } else if (argument->kind == TAPML_P_TENSORS_IN) {
            TAPML_TRY(list_value(argument, arena, &values[i]));
        }
    }
    *out_values = values;
    return TAPML_OK;
}

static int64_t power_of_two_from(int64_t value)
{
    int64_t power = 1;
    while (power < value && power <= INT64_MAX / 2) {
        power *= 2;
    }
    return value == 0 ? 0 : power;
}

// Rows of a weight with all its panels.
static int64_t rows_of(const tapml_tensor *tensor)
{
    int64_t rows = 0;
    for (const tapml_tensor *panel = tensor; panel; panel = panel->next) {
        rows += panel->shape[0];
    }
    return rows;
}

static void print_tensor(struct text *out, const tapml_tensor *tensor, int is_state, int64_t rows)
{
    text_append(out,
                tensor->dtype == TAPML_F32 ? "" : encoding_name(tensor->encoding, tensor->dtype));
    text_append(out, "[");
    for (uint32_t i = 0; i < tensor->rank; i++) {
        const char *sign = i == 0 && is_state ? "<=" : "";
        const int64_t extent = i == 0 ? rows : tensor->shape[i];
        text_format(out, "%s%s%" PRId64, i > 0 ? "," : "", sign, extent);
    }
    text_append(out, "]");
}

static void print_argument(const struct inferred *inferred,
                           uint32_t index,
                           const tapml_value *args,
                           struct text *out)
{
    const tapml_param *param = inferred->schema->op->params[index];
    const int is_state = (param->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0;
    const tapml_tensor *tensor = args[index].u.p;
    if (param->kind == TAPML_P_TENSORS_IN) {
        tensor = *(const tapml_tensor *const *)args[index].u.p;
    }
    int64_t rows = tensor->rank > 0 ? rows_of(tensor) : 0;
    if (is_state) {
        const struct infer_region *region = &inferred->regions[index];
        rows = power_of_two_from(region->end - region->begin);
    }
    text_format(out, "%s%s=", out->length > 0 ? " " : "", param->name);
    if (param->kind == TAPML_P_TENSORS_IN) {
        text_format(out, "%u x ", args[index].count);
    }
    print_tensor(out, tensor, is_state, rows);
}

static tapml_status
print_class(const struct inferred *inferred, const tapml_value *args, struct text *out)
{
    for (uint32_t i = 0; i < inferred->schema->op->n_params; i++) {
        switch (args[i].kind) {
        case TAPML_P_TENSOR_IN:
        case TAPML_P_TENSOR_INOUT:
        case TAPML_P_TENSORS_IN:
            print_argument(inferred, i, args, out);
            break;
        default: // Outputs follow from the rest, attributes have no shape.
            break;
        }
    }
    return text_status(out);
}

tapml_status case_shape_class(const struct inferred *inferred,
                              const tapml_value *args,
                              char *out_text,
                              size_t size)
{
    struct text text;
    text_init(&text);
    const tapml_status status = print_class(inferred, args, &text);
    if (status == TAPML_OK) {
        (void)snprintf(out_text, size, "%s", text.data); // May be cut.
    }
    text_release(&text);
    return status;
}
