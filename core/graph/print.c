// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/print.h"

#include "schema/catalogue.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"

#include <inttypes.h>

static void print_numbers(const struct affine *numbers, uint32_t count, struct text *out_text)
{
    text_append(out_text, "[");
    for (uint32_t i = 0; i < count; i++) {
        char number[80];

        affine_text(&numbers[i], number, sizeof(number));
        text_format(out_text, "%s%s", i > 0 ? ", " : "", number);
    }
    text_append(out_text, "]");
}

// "name f32 [T, 128]"; of a view that is not the whole base also strides and offset.
static void print_value(const struct graph_value *value, struct text *out_text)
{
    text_format(out_text, "%s %s ", value->name, encoding_name(value->encoding, value->dtype));
    print_numbers(value->shape, value->rank, out_text);
    if (value->kind == GRAPH_VIEW) {
        char offset[80];

        affine_text(&value->offset, offset, sizeof(offset));
        text_append(out_text, " strides ");
        print_numbers(value->stride, value->rank, out_text);
        text_format(out_text, " at %s", offset);
    }
}

static void print_from(const struct graph *graph, uint32_t index, struct text *out_text)
{
    static const char *const from[] = {"user", "host", "fill"};
    const struct graph_part *part = graph_find_part(graph, index);

    if (part == NULL) {
        text_format(out_text, " from %s", from[graph->values[index].from]);
    } else {
        text_format(out_text, " from part %s at tokens %" PRId64, part->component, part->token);
    }
}

static void print_source(const struct graph *graph, uint32_t index, struct text *out_text)
{
    const struct graph_value *value = &graph->values[index];

    if (value->kind == GRAPH_INPUT) {
        text_append(out_text, "input ");
        print_value(value, out_text);
        print_from(graph, index, out_text);
        if (value->has_fallback) {
            text_format(out_text, " or %g", value->fallback);
        }
        text_append(out_text, "\n");
    } else if (value->kind == GRAPH_STATE) {
        text_append(out_text, "state ");
        print_value(value, out_text);
        text_format(out_text, " = %g\n", value->initial);
    }
}

static void print_argument(const struct graph *graph,
                           const struct graph_argument *argument,
                           struct text *out_text)
{
    char number[80];

    switch (argument->kind) {
    case TAPML_V_NONE:
        text_append(out_text, "none");
        break;
    case TAPML_P_I64:
        affine_text(&argument->i, number, sizeof(number));
        text_append(out_text, number);
        break;
    case TAPML_P_F64:
        text_format(out_text, "%.17g", argument->d);
        break;
    case TAPML_P_TENSORS_IN:
        text_format(out_text, "%" PRIu32 " x ", argument->count);
        print_value(&graph->values[argument->values[0]], out_text);
        break;
    default:
        print_value(&graph->values[argument->value], out_text);
        break;
    }
}

static void print_op(const struct graph *graph, const struct graph_op *op, struct text *out_text)
{
    const char *separator = "";

    text_format(out_text, "%s = %s(", op->instance, catalogue_short_name(op->op));
    for (uint32_t p = 0; p < op->op->n_params; p++) {
        if (op->arguments[p].kind != TAPML_P_TENSOR_OUT) {
            text_format(out_text, "%s%s=", separator, op->op->params[p]->name);
            print_argument(graph, &op->arguments[p], out_text);
            separator = ", ";
        }
    }
    text_append(out_text, ")");
    separator = " -> ";
    for (uint32_t p = 0; p < op->op->n_params; p++) {
        if (op->arguments[p].kind == TAPML_P_TENSOR_OUT) {
            const struct graph_value *value = &graph->values[op->arguments[p].value];

            text_format(out_text, "%s%s %s ", separator, op->op->params[p]->name,
                        dtype_name(value->dtype));
            print_numbers(value->shape, value->rank, out_text);
            separator = ", ";
        }
    }
    text_append(out_text, "\n");
}

void print_graph(const struct graph *graph, struct text *out_text)
{
    for (uint32_t i = 0; i < graph->value_count; i++) {
        print_source(graph, i, out_text);
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        print_op(graph, &graph->ops[i], out_text);
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        text_format(out_text, "output %s = ", graph->outputs[i].name);
        print_value(&graph->values[graph->outputs[i].value], out_text);
        text_append(out_text, "\n");
    }
}

// Quotation marks and what would end them.
static void print_quoted(const char *name, struct text *out_text)
{
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\') {
            text_append(out_text, "\\");
        }
        text_append_bytes(out_text, name, 1);
    }
}

static void print_type(const struct graph_value *value, struct text *out_text)
{
    text_format(out_text, "%s ", encoding_name(value->encoding, value->dtype));
    print_numbers(value->shape, value->rank, out_text);
}

static void print_dot_source(const struct graph *graph, uint32_t index, struct text *out_text)
{
    const struct graph_value *value = &graph->values[index];
    const int is_state = value->kind == GRAPH_STATE;

    if (value->kind != GRAPH_INPUT && value->kind != GRAPH_CONSTANT && !is_state) {
        return;
    }
    text_format(out_text, "  v%" PRIu32 " [shape=%s, label=\"", index,
                is_state ? "cylinder" : "oval");
    print_quoted(value->kind == GRAPH_CONSTANT ? "constant" : value->name, out_text);
    text_append(out_text, "\\n");
    print_type(value, out_text);
    text_append(out_text, "\"];\n");
}

// The value at `index` as it is taken by the op: an edge, or for a weight a line of the label.
static void
print_edge(const struct graph *graph, uint32_t index, uint32_t op, struct text *out_text)
{
    const struct graph_value *value = &graph->values[index];
    const struct graph_value *base = &graph->values[value->base];

    if (base->kind == GRAPH_WEIGHT) {
        return;
    }
    if (base->kind == GRAPH_COMPUTED) {
        text_format(out_text, "  o%" PRIu32, base->producer);
    } else {
        text_format(out_text, "  v%" PRIu32, value->base);
    }
    text_format(out_text, " -> o%" PRIu32 " [label=\"", op);
    print_type(value, out_text);
    text_append(out_text, "\"];\n");
}

static void print_label(const struct graph *graph, uint32_t index, struct text *out_text)
{
    const struct graph_value *value = &graph->values[index];
    const struct graph_value *base = &graph->values[value->base];

    if (base->kind == GRAPH_WEIGHT) {
        text_append(out_text, "\\n");
        print_quoted(base->name, out_text);
        text_append(out_text, " ");
        print_type(value, out_text);
    }
}

// The values that an argument takes: how many, and the first of them.
static uint32_t taken(const struct graph_argument *argument, const uint32_t **out_values)
{
    *out_values = argument->kind == TAPML_P_TENSORS_IN ? argument->values : &argument->value;
    switch (argument->kind) {
    case TAPML_P_TENSOR_IN:
    case TAPML_P_TENSOR_INOUT:
        return 1;
    case TAPML_P_TENSORS_IN:
        return argument->count;
    default:
        return 0;
    }
}

static void print_dot_op(const struct graph *graph, uint32_t index, struct text *out_text)
{
    const struct graph_op *op = &graph->ops[index];
    const uint32_t *values = NULL;

    text_format(out_text, "  o%" PRIu32 " [label=\"%s\\n%s", index, op->instance,
                catalogue_short_name(op->op));
    for (uint32_t p = 0; p < op->op->n_params; p++) {
        const uint32_t count = taken(&op->arguments[p], &values);

        for (uint32_t i = 0; i < count; i++) {
            print_label(graph, values[i], out_text);
        }
    }
    text_append(out_text, "\"];\n");
    for (uint32_t p = 0; p < op->op->n_params; p++) {
        const uint32_t count = taken(&op->arguments[p], &values);

        for (uint32_t i = 0; i < count; i++) {
            print_edge(graph, values[i], index, out_text);
        }
    }
}

void print_dot(const struct graph *graph, struct text *out_text)
{
    text_append(out_text, "digraph model {\n  node [shape=box];\n");
    for (uint32_t i = 0; i < graph->value_count; i++) {
        print_dot_source(graph, i, out_text);
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        print_dot_op(graph, i, out_text);
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        text_format(out_text, "  out%" PRIu32 " [shape=plaintext, label=\"", i);
        print_quoted(graph->outputs[i].name, out_text);
        text_append(out_text, "\"];\n");

        const struct graph_value *base =
            &graph->values[graph->values[graph->outputs[i].value].base];

        if (base->kind == GRAPH_COMPUTED) {
            text_format(out_text, "  o%" PRIu32 " -> out%" PRIu32 ";\n", base->producer, i);
        }
    }
    text_append(out_text, "}\n");
}
