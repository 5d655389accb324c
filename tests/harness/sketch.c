// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/sketch.h"

#include "base/assert.h"
#include "harness/schemas.h"

#include <string.h>

void sketch_init(struct sketch *sketch)
{
    memset(sketch, 0, sizeof(*sketch));
    sketch->graph.values = sketch->values;
    sketch->graph.ops = sketch->ops;
    sketch->graph.outputs = sketch->outputs;
}

struct affine sketch_sum(int64_t constant, int64_t tokens)
{
    return (struct affine){.constant = constant, .factor[AFFINE_TOKENS] = tokens};
}

uint32_t sketch_value(struct sketch *sketch,
                      enum graph_kind kind,
                      const char *name,
                      struct affine rows,
                      int64_t width)
{
    const uint32_t index = sketch->graph.value_count++;
    ASSERT(index < SKETCH_VALUES_MAX);
    sketch->values[index] = (struct graph_value){
        .kind = kind,
        .name = name,
        .base = index,
        .dtype = TAPML_F32,
        .rank = 2,
        .shape = {rows, sketch_sum(width, 0)},
        .stride = {sketch_sum(width, 0), sketch_sum(1, 0)},
        .producer = GRAPH_NONE,
    };
    return index;
}

uint32_t sketch_columns(struct sketch *sketch, uint32_t value, int64_t begin, int64_t end)
{
    const uint32_t index = sketch->graph.value_count++;
    ASSERT(index < SKETCH_VALUES_MAX);
    sketch->values[index] = sketch->values[value];
    sketch->values[index].kind = GRAPH_VIEW;
    sketch->values[index].shape[1] = sketch_sum(end - begin, 0);
    sketch->values[index].offset.constant += begin;
    return index;
}

static void set_argument(struct sketch *sketch, uint32_t op, uint32_t param, uint32_t value)
{
    const tapml_op *schema = sketch->ops[op].op;
    struct graph_argument *argument = &sketch->arguments[op][param];
    argument->kind = value == GRAPH_NONE ? TAPML_V_NONE : schema->params[param]->kind;
    argument->value = value;
    if (value != GRAPH_NONE && argument->kind == TAPML_P_TENSOR_OUT) {
        sketch->values[value].producer = op;
    }
}

uint32_t
sketch_op(struct sketch *sketch, const tapml_op *op, const char *instance, const uint32_t *values)
{
    const uint32_t index = sketch->graph.op_count++;
    ASSERT(index < SKETCH_OPS_MAX && op->n_params <= SKETCH_PARAMS_MAX);
    sketch->ops[index] = (struct graph_op){
        .instance = instance,
        .op = op,
        .schema = schema_of(op),
        .arguments = sketch->arguments[index],
    };
    for (uint32_t p = 0; p < op->n_params; p++) {
        const uint32_t kind = op->params[p]->kind;
        sketch->arguments[index][p].kind = kind;
        if (kind >= TAPML_P_TENSOR_IN && kind <= TAPML_P_TENSOR_INOUT) {
            set_argument(sketch, index, p, *values++);
        }
    }
    return index;
}

void sketch_output(struct sketch *sketch, const char *name, uint32_t value)
{
    ASSERT(sketch->graph.output_count < SKETCH_VALUES_MAX);
    sketch->outputs[sketch->graph.output_count++] =
        (struct graph_output){.name = name, .value = value};
}
