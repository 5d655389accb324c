// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph.h"

#include "base/arena.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"

#include <string.h>

void graph_destroy(struct graph *graph)
{
    if (graph != NULL) {
        arena_destroy(graph->arena); // In which the graph itself lies.
    }
}

uint32_t graph_find_output(const struct graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->output_count; i++) {
        if (strcmp(graph->outputs[i].name, name) == 0) {
            return graph->outputs[i].value;
        }
    }
    return GRAPH_NONE;
}

uint32_t graph_find_value(const struct graph *graph, enum graph_kind kind, const char *name)
{
    for (uint32_t i = 0; i < graph->value_count; i++) {
        if (graph->values[i].kind == kind && strcmp(graph->values[i].name, name) == 0) {
            return i;
        }
    }
    return GRAPH_NONE;
}

struct infer_argument graph_describe(const struct graph_value *values,
                                     const struct graph_argument *argument,
                                     uint32_t value)
{
    struct infer_argument known = {.is_present = argument->kind != TAPML_V_NONE, .i = argument->i};

    if (value != GRAPH_NONE) {
        known.name = values[value].name;
        known.dtype = values[value].dtype;
        known.rank = values[value].rank;
        memcpy(known.shape, values[value].shape, sizeof(known.shape));
    }
    return known;
}

uint32_t graph_find_op(const struct graph *graph, const char *instance)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        if (strcmp(graph->ops[i].instance, instance) == 0) {
            return i;
        }
    }
    return GRAPH_NONE;
}

const struct graph_part *graph_find_part(const struct graph *graph, uint32_t value)
{
    for (uint32_t i = 0; i < graph->part_count; i++) {
        if (graph->parts[i].rows == value || graph->parts[i].others == value) {
            return &graph->parts[i];
        }
    }
    return NULL;
}

// Of a state in blocks.
static uint64_t encoded_bytes(const struct graph_value *value, const struct affine_point *point)
{
    int64_t shape[TAPML_MAX_RANK];
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < value->rank; i++) {
        shape[i] = affine_at(&value->shape[i], point);
    }
    return encoding_bytes(value->encoding, value->dtype, shape, value->rank, &bytes) == TAPML_OK
               ? bytes
               : UINT64_MAX;
}

uint64_t graph_value_bytes(const struct graph_value *value, const struct affine_point *point)
{
    uint64_t bytes = dtype_bytes(value->dtype);

    if (value->encoding != NULL && value->kind == GRAPH_STATE) {
        return encoded_bytes(value, point);
    }
    if (value->encoding != NULL) {
        return value->data_bytes;
    }
    for (uint32_t i = 0; i < value->rank; i++) {
        const int64_t extent = affine_at(&value->shape[i], point);

        if (extent <= 0) {
            return 0;
        }
        if (__builtin_mul_overflow(bytes, (uint64_t)extent, &bytes)) {
            return UINT64_MAX;
        }
    }
    return bytes;
}

// Texts go in with their zero byte, so that neighbours do not run together.
static void add_text(struct hash_state *state, const char *text)
{
    text = text != NULL ? text : "";
    hash_add(state, text, strlen(text) + 1);
}

static void add_number(struct hash_state *state, int64_t number)
{
    hash_add(state, &number, sizeof(number));
}

static void add_affine(struct hash_state *state, const struct affine *affine)
{
    hash_add(state, affine, sizeof(*affine));
}

static void add_value(struct hash_state *state, const struct graph_value *value)
{
    add_number(state, value->kind);
    add_text(state, value->name);
    add_number(state, value->base);
    add_number(state, value->dtype);
    add_number(state, value->rank);
    for (uint32_t i = 0; i < value->rank; i++) {
        add_affine(state, &value->shape[i]);
        add_affine(state, &value->stride[i]);
    }
    add_affine(state, &value->offset);
    add_number(state, value->from);
    add_number(state, value->has_fallback);
    hash_add(state, &value->fallback, sizeof(value->fallback));
    hash_add(state, &value->initial, sizeof(value->initial));
    add_text(state, value->fold);
    add_text(state, value->encoding != NULL ? value->encoding->id : NULL);
}

static void add_op(struct hash_state *state, const struct graph_op *op)
{
    add_text(state, op->instance);
    add_text(state, op->op->name);
    add_number(state, op->op->version);
    for (uint32_t p = 0; p < op->op->n_params; p++) {
        const struct graph_argument *argument = &op->arguments[p];

        add_number(state, argument->kind);
        add_number(state, argument->value);
        add_number(state, argument->count);
        for (uint32_t i = 0; i < argument->count; i++) {
            add_number(state, argument->values[i]);
        }
        add_affine(state, &argument->i);
        hash_add(state, &argument->d, sizeof(argument->d));
    }
}

static void add_part(struct hash_state *state, const struct graph_part *part)
{
    add_text(state, part->component);
    add_text(state, part->output);
    add_number(state, part->width);
    add_number(state, part->token);
    add_number(state, part->rows);
    add_number(state, part->others);
}

struct hash graph_hash(const struct graph *graph)
{
    struct hash_state *state = hash_begin();

    if (state == NULL) {
        return (struct hash){0, 0};
    }
    for (uint32_t i = 0; i < graph->value_count; i++) {
        add_value(state, &graph->values[i]);
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        add_op(state, &graph->ops[i]);
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        add_text(state, graph->outputs[i].name);
        add_number(state, graph->outputs[i].value);
    }
    for (uint32_t i = 0; i < graph->part_count; i++) {
        add_part(state, &graph->parts[i]);
    }
    return hash_end(state);
}
