// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/foreign_call.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/text.h"
#include "carve/description.h"
#include "carve/statistics.h"
#include "schema/infer.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

enum { CLASS_TEXT = 512 };

// What was given of one parameter.
struct given {
    int is_number;
    tapml_value number;
    uint32_t dtype; // 0: no tensor.
    uint32_t rank;
    int64_t shape[TAPML_MAX_RANK];
    uint64_t bytes;
    const void *contents[2]; // Dense, by moment; NULL: not given.
    const char *weight;      // Or NULL.
    const char *origin;
};

struct foreign_call {
    const struct compiled_op *schema; // NULL: opaque.
    struct arena *arena;
    struct given *given;
    uint32_t count; // Of parameters.
    struct inferred inferred;
};

tapml_status foreign_call_create(const struct compiled_op *schema, struct foreign_call **out_call)
{
    struct foreign_call *call = alloc_new(sizeof(*call));
    if (!call) {
        return status_no_memory();
    }
    call->schema = schema;
    call->count = schema ? schema->op->n_params : 0;
    call->arena = arena_create();
    call->given = call->arena
                      ? arena_array(call->arena, schema ? call->count + 1 : FOREIGN_OPAQUE_MAX,
                                    sizeof(*call->given))
                      : NULL;
    if (!call->given) {
        foreign_call_destroy(call);
        return status_no_memory();
    }
    *out_call = call;
    return TAPML_OK;
}

void foreign_call_destroy(struct foreign_call *call)
{
    if (call) {
        arena_destroy(call->arena);
        alloc_free(call);
    }
}

// -- What is given -----------------------------------------------------------------------------

static const char *name_of(const struct foreign_call *call, uint32_t position)
{
    return call->schema ? call->schema->op->params[position]->name
                        : arena_format(call->arena, "%u", position);
}

// The place of a parameter, with room made for those of an opaque call.
static tapml_status find(struct foreign_call *call, uint32_t position, struct given **out_given)
{
    const uint32_t most = call->schema ? call->count : FOREIGN_OPAQUE_MAX;
    if (position >= most) {
        return status_fail(TAPML_INVALID, "there is no parameter %u, expected 0 to %u", position,
                           most - 1);
    }
    call->count = position >= call->count ? position + 1 : call->count;
    *out_given = &call->given[position];
    return TAPML_OK;
}

static tapml_status measure(const struct foreign_tensor *tensor, uint64_t *out_bytes)
{
    int64_t count = 0;
    if (dtype_name(tensor->dtype)[0] == '?') {
        return status_fail(TAPML_INVALID, "its type %u is none", tensor->dtype);
    }
    if (tensor->rank > TAPML_MAX_RANK) {
        return status_fail(TAPML_INVALID, "it has %u axes, expected at most %d", tensor->rank,
                           TAPML_MAX_RANK);
    }
    TAPML_TRY(shape_count(tensor->shape, tensor->rank, &count));
    if (__builtin_mul_overflow((uint64_t)count, (uint64_t)dtype_bytes(tensor->dtype), out_bytes) ||
        *out_bytes > CASE_BASE_BYTES_MAX) {
        return status_fail(TAPML_INVALID, "it has %lld elements, which is too large for a case",
                           (long long)count);
    }
    return !tensor->data && count > 0 ? status_fail(TAPML_INVALID, "it has no data") : TAPML_OK;
}

static tapml_status copy(struct foreign_call *call,
                         const struct foreign_tensor *tensor,
                         uint64_t bytes,
                         const void **out_contents)
{
    void *contents = arena_new(call->arena, (size_t)bytes + 1);
    if (!contents) {
        return status_no_memory();
    }
    if (shape_is_dense(tensor->shape, tensor->stride, tensor->rank)) {
        memcpy(contents, tensor->data ? tensor->data : contents, (size_t)bytes);
    } else {
        convert_gather(tensor->data, tensor->shape, tensor->stride, tensor->rank,
                       dtype_bytes(tensor->dtype), contents);
    }
    *out_contents = contents;
    return TAPML_OK;
}

// Both moments of a tensor are of one type and shape.
static tapml_status settle(struct given *given, const struct foreign_tensor *tensor, uint64_t bytes)
{
    const size_t shape_bytes = tensor->rank * sizeof(*given->shape);
    if (given->dtype == 0) {
        given->dtype = tensor->dtype;
        given->rank = tensor->rank;
        given->bytes = bytes;
        memcpy(given->shape, tensor->rank > 0 ? tensor->shape : given->shape, shape_bytes);
        return TAPML_OK;
    }
    return given->dtype == tensor->dtype && given->rank == tensor->rank &&
                   (shape_bytes == 0 || memcmp(given->shape, tensor->shape, shape_bytes) == 0)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "it has another type or shape after the call");
}

static tapml_status give(struct foreign_call *call,
                         struct given *given,
                         enum foreign_moment moment,
                         const struct foreign_tensor *tensor,
                         const char *weight)
{
    uint64_t bytes = 0;
    if (given->is_number || given->contents[moment]) {
        return status_fail(TAPML_INVALID, "it was given before");
    }
    TAPML_TRY(measure(tensor, &bytes));
    TAPML_TRY(settle(given, tensor, bytes));
    given->weight = weight ? arena_text(call->arena, weight) : NULL;
    given->origin = given->origin ? given->origin : "";
    return weight && !given->weight ? status_no_memory()
                                    : copy(call, tensor, bytes, &given->contents[moment]);
}

tapml_status foreign_call_give(struct foreign_call *call,
                               uint32_t position,
                               enum foreign_moment moment,
                               const struct foreign_tensor *tensor,
                               const char *weight)
{
    struct given *given = NULL;
    TAPML_TRY(find(call, position, &given));
    ASSERT(given);
    const tapml_status status = give(call, given, moment, tensor, weight);
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "parameter '%s'", name_of(call, position));
}

static tapml_status
give_number(struct foreign_call *call, uint32_t position, const tapml_value *number)
{
    struct given *given = NULL;
    TAPML_TRY(find(call, position, &given));
    ASSERT(given);
    if (given->is_number || given->dtype != 0) {
        return status_fail(TAPML_INVALID, "parameter '%s': it was given before",
                           name_of(call, position));
    }
    given->is_number = 1;
    given->number = *number;
    return TAPML_OK;
}

tapml_status foreign_call_give_i64(struct foreign_call *call, uint32_t position, int64_t value)
{
    return give_number(call, position, &(tapml_value){.kind = TAPML_P_I64, .u.i = value});
}

tapml_status foreign_call_give_f64(struct foreign_call *call, uint32_t position, double value)
{
    return give_number(call, position, &(tapml_value){.kind = TAPML_P_F64, .u.d = value});
}

void foreign_call_set_origin(struct foreign_call *call, uint32_t position, const char *origin)
{
    ASSERT(position < call->count);
    call->given[position].origin = arena_text(call->arena, origin);
}

const void *foreign_call_bytes(const struct foreign_call *call,
                               uint32_t position,
                               enum foreign_moment moment,
                               uint32_t *out_dtype,
                               uint64_t *out_bytes)
{
    ASSERT(position < call->count);
    const struct given *given = &call->given[position];
    *out_dtype = given->dtype;
    *out_bytes = given->bytes;
    return given->contents[moment];
}

uint32_t foreign_call_count(const struct foreign_call *call)
{
    return call->count;
}

const char *foreign_call_weight(const struct foreign_call *call, uint32_t position)
{
    ASSERT(position < call->count);
    return call->given[position].weight;
}

// -- A call of an op ---------------------------------------------------------------------------

static tapml_status check_moments(const struct given *given, uint32_t kind)
{
    const int wants_before = kind != TAPML_P_TENSOR_OUT;
    const int wants_after = kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;
    if (wants_before && !given->contents[FOREIGN_BEFORE]) {
        return status_fail(TAPML_INVALID, "what went into it is missing");
    }
    if (wants_after && !given->contents[FOREIGN_AFTER]) {
        return status_fail(TAPML_INVALID, "what came out of it is missing");
    }
    return (!wants_before && given->contents[FOREIGN_BEFORE]) ||
                   (!wants_after && given->contents[FOREIGN_AFTER])
               ? status_fail(TAPML_INVALID, "it is only %s", wants_before ? "read" : "written")
               : TAPML_OK;
}

static tapml_status make_number(const struct given *given, uint32_t kind, tapml_value *out_value)
{
    if (!given->is_number) {
        return status_fail(TAPML_INVALID, "expected a number, found %s",
                           given->dtype != 0 ? "a tensor" : "none");
    }
    *out_value = given->number;
    if (kind == TAPML_P_F64 && given->number.kind == TAPML_P_I64) {
        *out_value = (tapml_value){.kind = TAPML_P_F64, .u.d = (double)given->number.u.i};
    }
    return out_value->kind == kind
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "expected a whole number, found %g", given->number.u.d);
}

// The tensors of a stack.
static tapml_status
make_list(struct foreign_call *call, const struct given *given, tapml_value *out_value)
{
    const int64_t count = given->rank > 0 ? given->shape[0] : 0;
    if (count < 1 || count > CASE_LIST_MAX) {
        return status_fail(TAPML_INVALID, "expected a stack of 1 to %d tensors", CASE_LIST_MAX);
    }
    tapml_tensor *tensors = arena_array(call->arena, (size_t)count, sizeof(*tensors));
    const tapml_tensor **list = arena_array(call->arena, (size_t)count, sizeof(*list));
    if (!tensors || !list) {
        return status_no_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = given->dtype,
                                    .rank = given->rank - 1,
                                    .shape = given->shape + 1};
        list[i] = &tensors[i];
    }
    *out_value = (tapml_value){.kind = TAPML_P_TENSORS_IN, .count = (uint32_t)count, .u.p = list};
    return TAPML_OK;
}

static tapml_status make_value(struct foreign_call *call, uint32_t position, tapml_value *out_value)
{
    const tapml_param *param = call->schema->op->params[position];
    const struct given *given = &call->given[position];
    if (!given->is_number && given->dtype == 0 && (param->effects & TAPML_E_OPTIONAL) != 0) {
        *out_value = (tapml_value){.kind = TAPML_V_NONE};
        return TAPML_OK;
    }
    if (param->kind == TAPML_P_I64 || param->kind == TAPML_P_F64) {
        return make_number(given, param->kind, out_value);
    }
    if (given->is_number) {
        return status_fail(TAPML_INVALID, "expected a tensor, found a number");
    }
    TAPML_TRY(check_moments(given, param->kind));
    if (param->kind == TAPML_P_TENSORS_IN) {
        return make_list(call, given, out_value);
    }
    tapml_tensor *tensor = arena_new(call->arena, sizeof(*tensor));
    if (!tensor) {
        return status_no_memory();
    }
    *tensor = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                             .dtype = given->dtype,
                             .rank = given->rank,
                             .shape = given->shape};
    *out_value = (tapml_value){.kind = param->kind, .u.p = tensor};
    return TAPML_OK;
}

static tapml_status make_values(struct foreign_call *call, tapml_value *values)
{
    const tapml_op *op = call->schema->op;
    for (uint32_t i = 0; i < op->n_params; i++) {
        const tapml_status status = make_value(call, i, &values[i]);
        if (status != TAPML_OK) {
            return status_explain(status, "parameter '%s'", op->params[i]->name);
        }
    }
    TAPML_TRY(infer_call(call->schema, values, &call->inferred));
    return infer_domains(&call->inferred, values, UINT32_MAX);
}

// Kept rows of a state lie inside of all its rows.
static const void *kept_rows(const struct case_argument *argument, const void *contents)
{
    if (!contents || !case_is_state(argument) || argument->shape[0] == 0) {
        return contents;
    }
    const uint64_t row_bytes = argument->base_bytes / (uint64_t)argument->shape[0];
    return (const char *)contents + (uint64_t)argument->kept_begin * row_bytes;
}

static void take_contents(const struct given *given, struct case_argument *argument)
{
    const int is_named = (argument->effects & TAPML_E_WEIGHT) != 0 && given->weight &&
                         argument->kind != TAPML_P_TENSORS_IN;
    argument->before = is_named ? NULL : kept_rows(argument, given->contents[FOREIGN_BEFORE]);
    argument->after = kept_rows(argument, given->contents[FOREIGN_AFTER]);
}

static tapml_status
describe(struct foreign_call *call, const tapml_value *values, struct case_argument **out_arguments)
{
    struct backend_origin *origins =
        arena_array(call->arena, (size_t)call->count + 1, sizeof(*origins));
    if (!origins) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < call->count; i++) {
        const struct given *given = &call->given[i];
        origins[i] = (struct backend_origin){.name = given->weight ? given->weight : given->origin,
                                             .base_bytes = given->bytes};
    }
    const struct backend_call described = {
        .op = call->schema->op, .args = values, .inferred = &call->inferred, .origins = origins};
    TAPML_TRY(description_make(&described, call->arena, out_arguments));
    for (uint32_t i = 0; i < call->count; i++) {
        if (call->given[i].dtype != 0) {
            take_contents(&call->given[i], &(*out_arguments)[i]);
        }
    }
    return TAPML_OK;
}

static tapml_status make_op(struct foreign_call *call, struct carved_case *io_item)
{
    tapml_value *values = arena_array(call->arena, (size_t)call->count + 1, sizeof(*values));
    char shape_class[CLASS_TEXT];
    if (!values) {
        return status_no_memory();
    }
    TAPML_TRY(make_values(call, values));
    TAPML_TRY(describe(call, values, &io_item->arguments));
    TAPML_TRY(case_shape_class(&call->inferred, values, shape_class, sizeof(shape_class)));
    io_item->shape_class = arena_text(call->arena, shape_class);
    return io_item->shape_class ? TAPML_OK : status_no_memory();
}

// -- An opaque call ----------------------------------------------------------------------------

static tapml_status
make_opaque_argument(struct foreign_call *call, uint32_t position, struct case_argument *argument)
{
    const struct given *given = &call->given[position];
    const int is_before = given->contents[FOREIGN_BEFORE] != NULL;
    const int is_after = given->contents[FOREIGN_AFTER] != NULL;
    *argument = (struct case_argument){.name = name_of(call, position),
                                       .kind = given->is_number          ? given->number.kind
                                               : !is_before && !is_after ? TAPML_V_NONE
                                               : !is_after               ? TAPML_P_TENSOR_IN
                                               : is_before               ? TAPML_P_TENSOR_INOUT
                                                                         : TAPML_P_TENSOR_OUT,
                                       .effects = given->weight ? TAPML_E_WEIGHT : 0,
                                       .origin = given->weight   ? given->weight
                                                 : given->origin ? given->origin
                                                                 : "",
                                       .dtype = given->dtype,
                                       .rank = given->rank,
                                       .base_bytes = given->bytes};
    if (!argument->name) {
        return status_no_memory();
    }
    if (argument->kind == TAPML_P_I64) {
        argument->i = given->number.u.i;
    }
    if (argument->kind == TAPML_P_F64) {
        argument->d = given->number.u.d;
    }
    if (given->dtype == 0) {
        return TAPML_OK;
    }
    memcpy(argument->shape, given->shape, sizeof(argument->shape));
    shape_dense_strides(argument->shape, argument->rank, argument->stride);
    take_contents(given, argument);
    TAPML_TRY(case_check_layout(argument));
    return case_content_bytes(argument, &argument->content_bytes);
}

static tapml_status make_opaque(struct foreign_call *call, struct carved_case *io_item)
{
    struct text shapes;
    io_item->arguments =
        arena_array(call->arena, (size_t)call->count + 1, sizeof(*io_item->arguments));
    if (!io_item->arguments) {
        return status_no_memory();
    }
    text_init(&shapes);
    tapml_status status = TAPML_OK;
    for (uint32_t i = 0; status == TAPML_OK && i < call->count; i++) {
        struct case_argument *argument = &io_item->arguments[i];
        char shape[CLASS_TEXT / 2];
        status = make_opaque_argument(call, i, argument);
        if (status == TAPML_OK && argument->dtype != 0) {
            shape_text(argument->shape, argument->rank, shape, sizeof(shape));
            text_format(&shapes, "%s%s=%s%s", shapes.length > 0 ? " " : "", argument->name,
                        dtype_name(argument->dtype), shape);
        }
    }
    status = status == TAPML_OK ? text_status(&shapes) : status;
    io_item->shape_class = status == TAPML_OK ? arena_text(call->arena, shapes.data) : "";
    text_release(&shapes);
    return io_item->shape_class ? status : status_no_memory();
}

// -- The case ----------------------------------------------------------------------------------

// Of a written state the rows that were written are measured.
static void measure_output(const struct case_argument *argument, struct call_statistics *statistics)
{
    const size_t element_bytes = dtype_bytes(argument->dtype);
    uint64_t first = 0, count = argument->content_bytes / element_bytes;
    if (case_is_state(argument) && argument->kept_end > argument->kept_begin) {
        const uint64_t width = count / (uint64_t)(argument->kept_end - argument->kept_begin);
        first = width * (uint64_t)(argument->region_begin - argument->kept_begin);
        count = width * (uint64_t)(argument->region_end - argument->region_begin);
    }
    statistics_measure(argument->dtype, (const char *)argument->after + first * element_bytes,
                       count, statistics);
    statistics->param = argument->name;
}

static tapml_status make_line(const struct carved_case *item, struct call_line *out_line)
{
    *out_line = (struct call_line){.instance = item->instance,
                                   .prompt = item->prompt,
                                   .step = item->step,
                                   .part = item->part,
                                   .phase = item->phase,
                                   .shape_class = item->shape_class};
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        if (case_is_output(argument) && out_line->output_count < CALL_LINE_OUTPUTS_MAX) {
            measure_output(argument, &out_line->outputs[out_line->output_count++]);
        }
    }
    return out_line->output_count > 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "it has no output that could be compared");
}

tapml_status foreign_call_make(struct foreign_call *call,
                               struct carved_case *io_item,
                               struct call_line *out_line)
{
    io_item->argument_count = call->count;
    tapml_status status = call->schema ? make_op(call, io_item) : make_opaque(call, io_item);
    if (status == TAPML_OK) {
        status = make_line(io_item, out_line);
    }
    return status == TAPML_OK
               ? TAPML_OK
               : status_explain(status, "'%s' (%s)", io_item->instance, io_item->op_name);
}
