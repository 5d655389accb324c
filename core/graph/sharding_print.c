// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding_print.h"

#include "base/text.h"
#include "graph/sharding_rewrite.h"
#include "tensor/encoding.h"

#include <inttypes.h>

// " 64 | 64"
static void print_shares(const struct sharding *sharding,
                         uint32_t family,
                         const struct affine *extent,
                         struct text *text)
{
    for (uint32_t part = 0; part < sharding->part_count; part++) {
        text_format(text, "%s %" PRId64, part > 0 ? " |" : "",
                    sharding_begin(sharding, family, extent->constant, part + 1) -
                        sharding_begin(sharding, family, extent->constant, part));
    }
}

static void print_op(const struct sharding *sharding, uint32_t op, struct text *text)
{
    const struct graph *graph = sharding->graph;
    const struct split_rule *rule = sharding_rule(sharding, op);
    if (!rule) {
        return;
    }
    text_format(text, "op %s (%s): ", graph->ops[op].instance, graph->ops[op].op->name);
    split_print(&graph->ops[op].schema->names, rule, text);
    if (sharding->ops[op].from == GRAPH_NONE) {
        text_append(text, "; annotated\n");
    } else {
        text_format(text, "; for '%s'\n", graph->values[sharding->ops[op].from].name);
    }
}

static void print_shape(const struct graph_value *value, struct text *text)
{
    text_format(text, "%s [", encoding_name(value->encoding, value->dtype));
    for (uint32_t i = 0; i < value->rank; i++) {
        char extent[80];
        affine_text(&value->shape[i], extent, sizeof(extent));
        text_format(text, "%s%s", i > 0 ? ", " : "", extent);
    }
    text_append(text, "]");
}

static const char *const kinds[] = {"input", "constant", "weight", "state", "value", "view"};

// A value that an op computes, or a state.
static void print_value(const struct sharding *sharding, uint32_t v, struct text *text)
{
    const struct graph_value *value = &sharding->graph->values[v];
    const struct sharding_value *decided = &sharding->values[v];
    if (value->kind == GRAPH_VIEW || decided->kind == SHARDING_WHOLE) {
        return;
    }
    text_format(text, "%s %s ", kinds[value->kind], value->name);
    print_shape(value, text);
    if (decided->kind == SHARDING_SUM) {
        text_append(text, ": a sum");
    } else {
        text_format(text, ": axis %u in", decided->axis);
        print_shares(sharding, decided->family, &value->shape[decided->axis], text);
    }
    text_format(text, "; by %s\n", sharding->graph->ops[decided->op].instance);
}

// A weight, once for each way in which an op has it cut.
static void
print_weight(const struct sharding *sharding, uint32_t op, uint32_t p, struct text *text)
{
    const struct graph *graph = sharding->graph;
    const struct graph_argument *argument = &graph->ops[op].arguments[p];
    const int is_list = argument->kind == TAPML_P_TENSORS_IN;
    const uint32_t count = is_list ? argument->count : argument->kind == TAPML_P_TENSOR_IN;
    const uint32_t axis = count > 0 ? sharding_axis(sharding, op, p) : GRAPH_NONE;
    for (uint32_t i = 0; axis != GRAPH_NONE && i < count; i++) {
        const uint32_t v = is_list ? argument->values[i] : argument->value;
        const struct graph_value *base = &graph->values[graph->values[v].base];
        if (base->kind == GRAPH_WEIGHT) {
            text_format(text, "weight %s ", base->name);
            print_shape(&graph->values[v], text);
            text_format(text, ": axis %u in", axis);
            print_shares(sharding, sharding->ops[op].family, &graph->values[v].shape[axis], text);
            text_format(text, "; by %s\n", graph->ops[op].instance);
        }
    }
}

static int is_of_old(const struct graph *old, const char *instance)
{
    return graph_find_op(old, instance) != GRAPH_NONE;
}

// Ops that are neither parts nor of the graph that was divided.
static void
print_inserted(const struct sharding *sharding, const struct graph *graph, struct text *text)
{
    static const struct affine_point token = {{1, 0, 1, 1}};
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct graph_op *op = &graph->ops[i];
        const uint32_t output = op->op->n_params - 1;
        if (op->arguments[output].kind == TAPML_P_TENSOR_OUT &&
            sharding_rewrite_place(sharding, op->instance) == GRAPH_NONE &&
            !is_of_old(sharding->graph, op->instance)) {
            text_format(text, "inserted %s (%s): %" PRIu64 " bytes a token\n", op->instance,
                        op->op->name,
                        graph_value_bytes(&graph->values[op->arguments[output].value], &token));
        }
    }
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

void sharding_print_figures(const struct sharding *sharding,
                            const struct sharding_figures *figures,
                            struct text *text)
{
    text_format(text,
                "%u operators are split, %u by annotation and %u that these lead to; %u were "
                "inserted; weights:",
                figures->annotated + figures->spread, figures->annotated, figures->spread,
                figures->inserted);
    for (uint32_t i = 0; i <= sharding->part_count; i++) {
        text_format(text, "%s %s %" PRIu64 " bytes (%.1f %%)", i > 0 ? "," : "",
                    i < sharding->part_count ? sharding->places[i] : "elsewhere",
                    figures->weights_bytes[i],
                    percent(figures->weights_bytes[i], figures->whole_bytes));
    }
    text_format(text, "; moved: %" PRIu64 " bytes a token\n", figures->moved_bytes);
}

void sharding_print(const struct sharding *sharding,
                    const struct graph *graph,
                    const struct sharding_figures *figures,
                    const struct sharding_figures *gathered,
                    struct text *text)
{
    const struct graph *old = sharding->graph;
    for (uint32_t op = 0; op < old->op_count; op++) {
        print_op(sharding, op, text);
    }
    for (uint32_t op = 0; op < old->op_count; op++) {
        for (uint32_t p = 0; sharding_rule(sharding, op) && p < old->ops[op].op->n_params; p++) {
            print_weight(sharding, op, p, text);
        }
    }
    for (uint32_t v = 0; v < old->value_count; v++) {
        print_value(sharding, v, text);
    }
    print_inserted(sharding, graph, text);
    sharding_print_figures(sharding, figures, text);
    text_format(text,
                "if nothing but what is annotated were split: %u inserted, %" PRIu64
                " bytes a token\n",
                gathered->inserted, gathered->moved_bytes);
}
