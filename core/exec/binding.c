// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/binding.h"

#include "base/arena.h"
#include "base/assert.h"
#include "exec/cast.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"

static int is_tensor(uint32_t kind)
{
    return kind == TAPML_P_TENSOR_IN || kind == TAPML_P_TENSOR_OUT || kind == TAPML_P_TENSOR_INOUT;
}

static int has_position(const struct affine *affine)
{
    return affine->factor[AFFINE_POSITION] != 0;
}

static int value_has_position(const struct graph_value *value)
{
    int found = has_position(&value->offset);
    for (uint32_t i = 0; i < value->rank; i++) {
        found = found || has_position(&value->shape[i]) || has_position(&value->stride[i]);
    }
    return found;
}

static void add_tensor(struct binding *binding, uint32_t value, uint32_t param)
{
    struct binding_tensor *own = &binding->tensors[binding->tensor_count];
    const struct graph_value *described = &binding->graph->values[value];
    const int is_view = described->kind == GRAPH_VIEW;
    binding->has_position = binding->has_position || value_has_position(described) ||
                            value_has_position(&binding->graph->values[described->base]);
    own->value = value;
    own->param = param;
    own->tensor = (tapml_tensor){
        .hdr = TAPML_HDR(tapml_tensor),
        .dtype = described->dtype,
        .rank = described->rank,
        .shape = described->rank > 0 ? own->shape : NULL,
        .stride = described->rank > 0 && is_view ? own->stride : NULL,
        .encoding = described->encoding,
    };
    binding->lists[binding->tensor_count++] = &own->tensor;
}

static void bind_argument(struct binding *binding, uint32_t param)
{
    const struct graph_argument *argument = &binding->op->arguments[param];
    tapml_value *arg = &binding->args[param];
    arg->kind = argument->kind;
    if (is_tensor(argument->kind)) {
        arg->u.p = &binding->tensors[binding->tensor_count].tensor;
        add_tensor(binding, argument->value, param);
    } else if (argument->kind == TAPML_P_TENSORS_IN) {
        arg->count = argument->count;
        arg->u.p = &binding->lists[binding->tensor_count];
        for (uint32_t i = 0; i < argument->count; i++) {
            add_tensor(binding, argument->values[i], param);
        }
    } else if (argument->kind == TAPML_P_F64) {
        arg->u.d = argument->d;
    } else if (argument->kind == TAPML_P_I64) {
        binding->has_position = binding->has_position || has_position(&argument->i);
    }
}

tapml_status
binding_init(struct binding *binding, const struct graph *graph, uint32_t op, struct arena *arena)
{
    const struct graph_op *own = &graph->ops[op];
    const uint32_t param_count = own->op->n_params;
    size_t tensor_count = 0;
    for (uint32_t p = 0; p < param_count; p++) {
        const struct graph_argument *argument = &own->arguments[p];
        tensor_count += argument->kind == TAPML_P_TENSORS_IN ? argument->count
                                                             : (size_t)is_tensor(argument->kind);
    }
    *binding = (struct binding){
        .graph = graph,
        .op = own,
        .args = arena_array(arena, param_count, sizeof(*binding->args)),
        .origins = arena_array(arena, param_count, sizeof(*binding->origins)),
        .tensors = arena_array(arena, tensor_count, sizeof(*binding->tensors)),
        .lists = arena_array(arena, tensor_count, sizeof(*binding->lists)),
    };
    if (!binding->args || !binding->origins || !binding->tensors || !binding->lists) {
        return status_no_memory();
    }
    for (uint32_t p = 0; p < param_count; p++) {
        bind_argument(binding, p);
    }
    return TAPML_OK;
}

static void evaluate_tensor(struct binding *binding,
                            struct binding_tensor *own,
                            const struct affine_point *point)
{
    const struct graph_value *value = &binding->graph->values[own->value];
    const struct graph_value *base = &binding->graph->values[value->base];
    for (uint32_t i = 0; i < value->rank; i++) {
        own->shape[i] = affine_at(&value->shape[i], point);
        own->stride[i] = affine_at(&value->stride[i], point);
    }
    own->tensor.dtype = value->dtype;
    own->tensor.encoding = value->encoding;
    own->view_offset = (uint64_t)affine_at(&value->offset, point) * dtype_bytes(value->dtype);
    own->tensor.offset = own->view_offset;
    own->tensor.buffer = NULL;
    own->tensor.next = NULL;
    struct backend_origin *origin = &binding->origins[own->param];
    if (origin->base_bytes == 0) { // Several tensors: those of the first.
        origin->name = base->name ? base->name : "";
        origin->data = base->data;
        origin->base_bytes = graph_value_bytes(base, point);
    }
}

void binding_evaluate(struct binding *binding, const struct affine_point *point)
{
    const tapml_op *op = binding->op->op;
    binding->bound = 0;
    for (uint32_t p = 0; p < op->n_params; p++) {
        binding->origins[p].base_bytes = 0;
        binding->origins[p].base_offset = 0;
        if (binding->args[p].kind == TAPML_P_I64) {
            binding->args[p].u.i = affine_at(&binding->op->arguments[p].i, point);
        }
    }
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        struct binding_tensor *own = &binding->tensors[i];
        evaluate_tensor(binding, own, point);
        binding->lists[i] = &own->tensor;
        if (binding->args[own->param].kind != TAPML_P_TENSORS_IN) {
            binding->args[own->param].u.p = &own->tensor;
        }
    }
}

static void set_dtype(struct binding *binding, struct binding_tensor *own, uint32_t dtype)
{
    const uint64_t from_bytes = dtype_bytes(own->tensor.dtype), to_bytes = dtype_bytes(dtype);
    struct backend_origin *origin = &binding->origins[own->param];
    own->tensor.dtype = dtype;
    own->view_offset = own->view_offset / from_bytes * to_bytes;
    own->tensor.offset = own->view_offset;
    if (own == binding->tensors || own[-1].param != own->param) { // Several: those of the first.
        origin->base_bytes = origin->base_bytes / from_bytes * to_bytes;
    }
}

// A weight in the place of an activation goes with the other ones.
static int is_operand(const struct binding *binding,
                      const struct binding_tensor *own,
                      enum activation activation)
{
    const struct graph_value *value = &binding->graph->values[own->value];
    const enum graph_kind kind = binding->graph->values[value->base].kind;
    return value->dtype == TAPML_F32 && (kind == GRAPH_WEIGHT || kind == GRAPH_CONSTANT) &&
           (binding->op->op->params[own->param]->effects & TAPML_E_WEIGHT) == 0 &&
           compiled_takes(binding->op->schema, own->param, activation_type(activation)->dtype);
}

void binding_set_activation(struct binding *binding,
                            const activation_set *marks,
                            enum activation activation)
{
    const struct activation_type *type = activation_type(activation);
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        struct binding_tensor *own = &binding->tensors[i];
        const uint32_t dtype = binding->graph->values[own->value].dtype;
        if (binding->graph->values[own->value].encoding) {
            continue; // binding_set_encodings says it.
        }
        const int is_cast =
            type->is_reduced && ((marks[own->value] & activation_bit(activation)) != 0 ||
                                 is_operand(binding, own, activation));
        const uint32_t wanted = is_cast ? type->dtype : dtype;
        if (own->tensor.dtype != wanted) {
            set_dtype(binding, own, wanted);
        }
    }
}

void binding_set_encodings(struct binding *binding, unsigned takes)
{
    for (uint32_t i = 0; i < binding->tensor_count; i++) {
        struct binding_tensor *own = &binding->tensors[i];
        const struct graph_value *value = &binding->graph->values[own->value];
        if (value->encoding) {
            const struct encoding_form form =
                encoding_on_device(value->encoding, value->dtype, takes);
            own->tensor.encoding = form.encoding;
            own->tensor.dtype = form.dtype;
        }
    }
}

void binding_set_buffer(struct binding *binding, uint32_t index, tapml_object *buffer)
{
    binding->tensors[index].tensor.buffer = buffer;
}

void binding_set_weight(struct binding *binding, uint32_t index, const tapml_tensor *base)
{
    struct binding_tensor *own = &binding->tensors[index];
    ASSERT(!base->next || !binding_is_view(binding, index));
    binding->origins[own->param].base_offset = base->offset;
    if (binding_is_view(binding, index)) {
        own->tensor.buffer = base->buffer;
        own->tensor.offset = base->offset + own->view_offset;
        return;
    }
    binding->lists[index] = base;
    if (binding->args[own->param].kind != TAPML_P_TENSORS_IN) {
        binding->args[own->param].u.p = base;
    }
}

int binding_is_view(const struct binding *binding, uint32_t index)
{
    return binding->graph->values[binding->tensors[index].value].kind == GRAPH_VIEW;
}

int binding_is_weight(const struct binding *binding, uint32_t index)
{
    const struct graph *graph = binding->graph;
    const enum graph_kind kind =
        graph->values[graph->values[binding->tensors[index].value].base].kind;
    return kind == GRAPH_WEIGHT || kind == GRAPH_CONSTANT;
}

enum binding_access binding_access(const struct binding *binding, uint32_t index)
{
    const tapml_param *param = binding->op->op->params[binding->tensors[index].param];
    if (param->kind == TAPML_P_TENSOR_OUT) {
        return BINDING_WRITES;
    }
    return param->kind == TAPML_P_TENSOR_INOUT || (param->effects & TAPML_E_STATE_WRITE) != 0
               ? BINDING_UPDATES
               : BINDING_READS;
}
