// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/forecast_cost.h"

#include "base/alloc.h"
#include "schema/infer.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"

#include <math.h>
#include <stdlib.h>

// What one op of a call costs.
struct op_cost {
    double bytes, operations;
};

void forecast_cost_release(struct forecast_cost *cost)
{
    alloc_free(cost->kinds);
    *cost = (struct forecast_cost){.kinds = NULL};
}

// -- Bytes -------------------------------------------------------------------------------------

static double count_values(const tapml_tensor *tensor)
{
    double count = 1;

    for (uint32_t i = 0; i < tensor->rank; i++) {
        count *= (double)tensor->shape[i];
    }
    return count;
}

static double tensor_bytes(const tapml_tensor *tensor)
{
    uint64_t bytes = 0;

    if (tensor->encoding != NULL && encoding_bytes(tensor->encoding, tensor->dtype, tensor->shape,
                                                   tensor->rank, &bytes) == TAPML_OK) {
        return (double)bytes;
    }
    return count_values(tensor) * (double)dtype_bytes(tensor->dtype);
}

// A view may repeat what it reads, which counts once.
static double input_bytes(const struct binding *binding,
                          const struct binding_tensor *own,
                          const struct affine_point *point)
{
    const struct graph_value *value = &binding->graph->values[own->value];
    const struct graph_value *base = &binding->graph->values[value->base];
    const double values =
        (double)graph_value_bytes(base, point) / (double)dtype_bytes(base->dtype); // Of the base.
    const double read = count_values(&own->tensor);

    return (read < values ? read : values) * (double)dtype_bytes(own->tensor.dtype);
}

// The rows of a state that a call touches.
static double region_bytes(const struct binding_tensor *own, const struct infer_region *region)
{
    const double rows = own->tensor.rank > 0 ? (double)own->shape[0] : 1;
    const double touched = (double)(region->end - region->begin);

    return rows > 0 ? tensor_bytes(&own->tensor) * (touched < rows ? touched : rows) / rows : 0;
}

static int is_weight(const struct binding *binding, uint32_t index)
{
    const uint32_t param = binding->tensors[index].param;

    return binding_is_weight(binding, index) &&
           (binding->op->op->params[param]->effects & TAPML_E_WEIGHT) != 0;
}

static int is_state(const struct binding *binding, uint32_t index)
{
    const uint32_t effects = binding->op->op->params[binding->tensors[index].param]->effects;

    return (effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0;
}

// What an op writes, and the rows that it writes it in: of experts the tokens.
struct written {
    double values, bytes, rows;
};

static struct written count_outputs(const struct binding *binding)
{
    struct written written = {.rows = 1};

    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const struct binding_tensor *own = &binding->tensors[i];

        if (binding->op->op->params[own->param]->kind == TAPML_P_TENSOR_OUT) {
            const double rows = own->tensor.rank > 1 ? (double)own->shape[0] : 1;

            written.values += count_values(&own->tensor);
            written.bytes += tensor_bytes(&own->tensor);
            written.rows = rows > written.rows ? rows : written.rows;
        }
    }
    return written;
}

// The bytes of weights that an op reads, at least: a value that is read takes part in a product of
// each row that is written, and an op without operations reads the rows of a table that it writes.
static double weight_bytes(const struct binding *binding, double operations)
{
    const struct written written = count_outputs(binding);
    double bytes = 0, values = 0;

    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        if (is_weight(binding, i)) {
            bytes += tensor_bytes(&binding->tensors[i].tensor);
            values += count_values(&binding->tensors[i].tensor);
        }
    }
    if (bytes == 0) {
        return 0;
    }
    const double read = operations > 0 ? operations / 2 / written.rows : written.values;

    return read < values ? read / values * bytes : bytes;
}

static double count_bytes(const struct binding *binding,
                          const struct inferred *inferred,
                          const struct affine_point *point,
                          double operations)
{
    double bytes = weight_bytes(binding, operations) + count_outputs(binding).bytes;

    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        const struct binding_tensor *own = &binding->tensors[i];
        const uint32_t kind = binding->op->op->params[own->param]->kind;

        if (is_state(binding, i)) {
            bytes += region_bytes(own, &inferred->regions[own->param]);
        } else if (kind != TAPML_P_TENSOR_OUT && !is_weight(binding, i)) {
            bytes += input_bytes(binding, own, point);
        }
    }
    return bytes;
}

// -- Ops ---------------------------------------------------------------------------------------

static tapml_status find_op(struct forecast_frame *frame,
                            uint32_t op,
                            const struct affine_point *point,
                            struct op_cost *out_cost)
{
    const struct binding *binding = forecast_frame_bind(frame, op, point);
    const struct compiled_op *schema = binding->op->schema;
    struct inferred inferred;
    int64_t operations = 0;

    TAPML_TRY(infer_call(schema, binding->args, &inferred));
    if (schema->flops != NULL) {
        TAPML_TRY(expression_value(&inferred.scope, schema->flops, &operations));
    }
    *out_cost = (struct op_cost){
        .bytes = count_bytes(binding, &inferred, point, (double)operations),
        .operations = (double)operations,
    };
    return TAPML_OK;
}

static double rate_of(const struct forecast_frame *frame)
{
    const struct device_file *file = frame->given.file;
    const int is_half = activation_is_reduced(frame->given.activation);

    return is_half && file->f16_rate > 0 ? file->f16_rate : file->f32_rate;
}

static double seconds_of(const struct forecast_frame *frame, const struct op_cost *cost)
{
    const struct device_file *file = frame->given.file;
    const double rate = rate_of(frame);
    const double moving = file->bandwidth > 0 ? cost->bytes / (file->bandwidth * 1e9) : 0;
    const double computing = rate > 0 ? cost->operations / (rate * 1e9) : 0;

    return file->bandwidth > 0 || rate > 0 ? fmax(moving, computing) + file->launch_us * 1e-6 : 0;
}

static tapml_status
find_kind(struct forecast_cost *cost, const tapml_op *op, struct forecast_kind **out_kind)
{
    for (size_t i = 0; i < cost->kind_count; i++) {
        if (cost->kinds[i].op == op) {
            *out_kind = &cost->kinds[i];
            return TAPML_OK;
        }
    }
    if (!alloc_grow((void **)&cost->kinds, &cost->kind_capacity, cost->kind_count,
                    sizeof(*cost->kinds))) {
        return status_no_memory();
    }
    *out_kind = &cost->kinds[cost->kind_count++];
    **out_kind = (struct forecast_kind){.op = op};
    return TAPML_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct forecast_kind *one = a, *other = b;
    const double left = one->seconds > 0 ? one->seconds : one->bytes;
    const double right = other->seconds > 0 ? other->seconds : other->bytes;

    return left > right ? -1 : left < right;
}

static tapml_status
add_ops(struct forecast_frame *frame, const struct affine_point *point, struct forecast_cost *cost)
{
    for (uint32_t op = 0; op < frame->graph->op_count; op++) {
        struct forecast_kind *kind = NULL;
        struct op_cost own;
        const tapml_status status = find_op(frame, op, point, &own);

        if (status != TAPML_OK) {
            return status_explain(status, "while counting %s", frame->graph->ops[op].instance);
        }
        const double seconds = seconds_of(frame, &own);

        TAPML_TRY(find_kind(cost, frame->graph->ops[op].op, &kind));
        kind->calls++;
        kind->bytes += own.bytes;
        kind->operations += own.operations;
        kind->seconds += seconds;
        cost->launches++;
        cost->bytes += own.bytes;
        cost->operations += own.operations;
        cost->seconds += seconds;
    }
    return TAPML_OK;
}

tapml_status forecast_cost_find(struct forecast_frame *frame,
                                int64_t tokens,
                                int64_t position,
                                struct forecast_cost *out_cost)
{
    const struct affine_point point = forecast_frame_point(frame, tokens, position);
    struct forecast_cost cost = {.tokens = tokens,
                                 .position = position,
                                 .has_bandwidth = frame->given.file->bandwidth > 0,
                                 .has_rate = rate_of(frame) > 0,
                                 .has_launch = frame->given.file->launch_us > 0};
    const tapml_status status = add_ops(frame, &point, &cost);

    if (status != TAPML_OK) {
        forecast_cost_release(&cost);
        return status;
    }
    if (cost.kind_count > 0) {
        qsort(cost.kinds, cost.kind_count, sizeof(*cost.kinds), by_time);
    }
    *out_cost = cost;
    return TAPML_OK;
}
