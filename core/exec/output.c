// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/output.h"

#include "base/alloc.h"
#include "base/text.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

// What one output was gathered into, where its own memory does not serve.
struct output_room {
    unsigned char *dense; // Its values one after another, in their own type.
    float *values;        // The same as f32.
    uint64_t elements;    // How many there is room for.
};

struct output_set {
    const struct graph *graph;
    struct value_set *values;
    struct output_room *rooms; // One for each output.
};

tapml_status
output_set_create(const struct graph *graph, struct value_set *values, struct output_set **out_set)
{
    struct output_set *set = alloc_new(sizeof(*set));
    struct output_room *rooms = alloc_array(graph->output_count, sizeof(*rooms));
    if (!set || !rooms) {
        alloc_free(set);
        alloc_free(rooms);
        return status_no_memory();
    }
    *set = (struct output_set){.graph = graph, .values = values, .rooms = rooms};
    *out_set = set;
    return TAPML_OK;
}

static void release_room(struct output_room *room)
{
    alloc_free(room->dense);
    alloc_free(room->values);
    *room = (struct output_room){0};
}

void output_set_destroy(struct output_set *set)
{
    if (!set) {
        return;
    }
    for (uint32_t i = 0; i < set->graph->output_count; i++) {
        release_room(&set->rooms[i]);
    }
    alloc_free(set->rooms);
    alloc_free(set);
}

static tapml_status fail_unknown(const struct graph *graph, const char *name)
{
    const char **names = alloc_array((size_t)graph->output_count + 1, sizeof(*names));
    if (!names) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < graph->output_count; i++) {
        names[i] = graph->outputs[i].name;
    }
    const char *near = text_nearest(name, names);
    alloc_free(names);
    return status_fail(TAPML_NOT_FOUND, "the model has no output '%s'%s%s%s", name,
                       near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// The first element of a value in host memory.
static tapml_status locate(struct output_set *set,
                           const struct graph_value *value,
                           const struct affine_point *point,
                           const unsigned char **out_first)
{
    const struct graph_value *base = &set->graph->values[value->base];
    const void *memory = base->data;
    if (base->kind != GRAPH_WEIGHT && base->kind != GRAPH_CONSTANT) {
        TAPML_TRY(value_memory(set->values, value->base, &memory));
    }
    *out_first = (const unsigned char *)memory +
                 (uint64_t)affine_at(&value->offset, point) * dtype_bytes(value->dtype);
    return TAPML_OK;
}

// Room for `elements`, with some to spare where outputs grow from call to call.
static tapml_status reserve(struct output_room *room, uint64_t elements, size_t element_bytes)
{
    if (room->values && elements <= room->elements) {
        return TAPML_OK;
    }
    release_room(room);
    const uint64_t roomy = elements + elements / 2;
    room->dense = alloc_array(roomy, element_bytes);
    room->values = alloc_array(roomy, sizeof(*room->values));
    if (!room->dense || !room->values) {
        release_room(room);
        return status_no_memory();
    }
    room->elements = roomy;
    return TAPML_OK;
}

static void widen(uint32_t dtype, const unsigned char *dense, uint64_t elements, float *out_values)
{
    const size_t element_bytes = dtype_bytes(dtype);
    for (uint64_t i = 0; i < elements; i++) {
        double value = 0;
        convert_to_f64(dtype, dense + i * element_bytes, 1, &value);
        out_values[i] = (float)value;
    }
}

// Gathers the output `index` into memory of its own.
static tapml_status gather(struct output_set *set,
                           uint32_t index,
                           const unsigned char *first,
                           const int64_t *stride,
                           struct output *output)
{
    const uint32_t dtype = set->graph->values[set->graph->outputs[index].value].dtype;
    struct output_room *room = &set->rooms[index];
    int64_t elements = 0;
    TAPML_TRY(shape_count(output->shape, output->rank, &elements));
    TAPML_TRY(reserve(room, (uint64_t)elements, dtype_bytes(dtype)));
    convert_gather(first, output->shape, stride, output->rank, dtype_bytes(dtype), room->dense);
    widen(dtype, room->dense, (uint64_t)elements, room->values);
    output->values = room->values;
    return TAPML_OK;
}

tapml_status output_get(struct output_set *set,
                        const char *name,
                        const struct affine_point *point,
                        struct output *out_output)
{
    uint32_t index = 0;
    while (index < set->graph->output_count && strcmp(set->graph->outputs[index].name, name) != 0) {
        index++;
    }
    if (index == set->graph->output_count) {
        return fail_unknown(set->graph, name);
    }
    const struct graph_value *value = &set->graph->values[set->graph->outputs[index].value];
    struct output output = {.rank = value->rank};
    int64_t stride[TAPML_MAX_RANK];
    const unsigned char *first = NULL;
    for (uint32_t i = 0; i < value->rank; i++) {
        output.shape[i] = affine_at(&value->shape[i], point);
        stride[i] = affine_at(&value->stride[i], point);
    }
    TAPML_TRY(locate(set, value, point, &first));
    if (value->dtype == TAPML_F32 && shape_is_dense(output.shape, stride, output.rank)) {
        output.values = (const float *)(const void *)first;
    } else {
        TAPML_TRY(gather(set, index, first, stride, &output));
    }
    *out_output = output;
    return TAPML_OK;
}
