// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding_figures.h"

#include "base/alloc.h"
#include "graph/sharding_rewrite.h"

#include <string.h>

// A decoded token.
static const struct affine_point token = {{1, 0, 1, 1}};

struct sharding_counting {
    const struct sharding *sharding;
    const struct graph *graph;
    uint32_t home;
    uint16_t *readers; // Of each base value, a bit for each place.
};

static uint32_t place_of(const struct sharding_counting *counting, const char *instance)
{
    const uint32_t place = sharding_rewrite_place(counting->sharding, instance);
    return place != GRAPH_NONE            ? place
           : counting->home != GRAPH_NONE ? counting->home
                                          : counting->sharding->part_count;
}

static void note_reader(struct sharding_counting *counting, uint32_t value, uint32_t place)
{
    uint16_t *readers = &counting->readers[counting->graph->values[value].base];
    *readers = (uint16_t)(*readers | 1u << place);
}

static void note_readers(struct sharding_counting *counting)
{
    const struct graph *graph = counting->graph;
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const uint32_t place = place_of(counting, graph->ops[i].instance);
        for (uint32_t p = 0; p < graph->ops[i].op->n_params; p++) {
            const struct graph_argument *argument = &graph->ops[i].arguments[p];
            if (argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSOR_INOUT) {
                note_reader(counting, argument->value, place);
            }
            for (uint32_t k = 0; argument->kind == TAPML_P_TENSORS_IN && k < argument->count; k++) {
                note_reader(counting, argument->values[k], place);
            }
        }
    }
}

static uint64_t weight_bytes(const struct graph_value *value)
{
    return value->data_bytes > 0 ? value->data_bytes : graph_value_bytes(value, &token);
}

static int is_weight(const struct graph_value *value)
{
    return value->kind == GRAPH_WEIGHT || value->kind == GRAPH_CONSTANT;
}

static void
count_value(const struct sharding_counting *counting, uint32_t v, struct sharding_figures *out)
{
    const struct graph_value *value = &counting->graph->values[v];
    const uint32_t writer = value->kind == GRAPH_COMPUTED
                                ? place_of(counting, counting->graph->ops[value->producer].instance)
                                : place_of(counting, "");
    for (uint32_t place = 0; place <= counting->sharding->part_count; place++) {
        if ((counting->readers[v] >> place & 1) == 0) {
            continue;
        }
        if (is_weight(value)) {
            out->weights_bytes[place] += weight_bytes(value);
        } else if (place != writer &&
                   (value->kind == GRAPH_COMPUTED || value->kind == GRAPH_INPUT)) {
            out->moved_bytes += graph_value_bytes(value, &token);
        }
    }
}

// Of the graph that is divided.
static void count_old(const struct sharding *sharding, struct sharding_figures *out)
{
    const struct graph *old = sharding->graph;
    for (uint32_t i = 0; i < old->op_count; i++) {
        out->annotated +=
            sharding->ops[i].rule != GRAPH_NONE && sharding->ops[i].from == GRAPH_NONE;
        out->spread += sharding->ops[i].rule != GRAPH_NONE && sharding->ops[i].from != GRAPH_NONE;
    }
    for (uint32_t v = 0; v < old->value_count; v++) {
        out->whole_bytes += is_weight(&old->values[v]) ? weight_bytes(&old->values[v]) : 0;
    }
}

tapml_status sharding_figures_count(const struct sharding *sharding,
                                    const struct graph *graph,
                                    uint32_t home,
                                    struct sharding_figures *out_figures)
{
    struct sharding_counting counting = {
        .sharding = sharding,
        .graph = graph,
        .home = home,
        .readers = alloc_array((size_t)graph->value_count + 1, sizeof(*counting.readers)),
    };
    if (!counting.readers) {
        return status_no_memory();
    }
    *out_figures = (struct sharding_figures){0};
    note_readers(&counting);
    count_old(sharding, out_figures);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (graph->values[v].kind != GRAPH_VIEW) {
            count_value(&counting, v, out_figures);
        }
    }
    const uint32_t split = out_figures->annotated + out_figures->spread;
    out_figures->inserted =
        graph->op_count - (sharding->graph->op_count - split) - split * sharding->part_count;
    alloc_free(counting.readers);
    return TAPML_OK;
}
