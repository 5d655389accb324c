// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/draft.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "schema/infer.h"
#include "schema/layout.h"

#include <stdio.h>
#include <string.h>

// Five times what the widest published mixtures have, and not so many that a config alone takes
// gigabytes.
enum { VALUES_MAX = 1 << 19 };

tapml_status draft_init(struct draft *draft, const struct catalogue *catalogue)
{
    *draft = (struct draft){.catalogue = catalogue, .arena = arena_create()};
    table_init(&draft->names);
    return draft->arena != NULL ? TAPML_OK : status_no_memory();
}

void draft_take_over(struct draft *draft, const struct catalogue *catalogue, struct graph *graph)
{
    *draft = (struct draft){.catalogue = catalogue, .arena = graph->arena};
    table_init(&draft->names);
}

void draft_release(struct draft *draft)
{
    arena_destroy(draft->arena);
    alloc_free(draft->values);
    alloc_free(draft->ops);
    alloc_free(draft->outputs);
    alloc_free(draft->parts);
    table_release(&draft->names);
    *draft = (struct draft){0};
    table_init(&draft->names);
}

static const char *const class_names[] = {"inputs", "constants", "weights",
                                          "states", "instances", "outputs"};

struct key {
    char text[1 + DRAFT_NAME_MAX + 1]; // A digit for the class, the name, its end.
};

static struct key key_of(enum draft_class class, const char *name)
{
    const size_t length = strlen(name);
    struct key key;

    ASSERT(length <= DRAFT_NAME_MAX);
    key.text[0] = (char)('0' + class);
    memcpy(key.text + 1, name, length + 1);
    return key;
}

int draft_find(const struct draft *draft,
               enum draft_class class,
               const char *name,
               uint32_t *out_index)
{
    size_t index = 0;

    if (strlen(name) > DRAFT_NAME_MAX ||
        !table_find(&draft->names, key_of(class, name).text, &index)) {
        return 0;
    }
    *out_index = (uint32_t)index;
    return 1;
}

tapml_status draft_take(struct draft *draft,
                        enum draft_class class,
                        const char *name,
                        uint32_t index,
                        const char **out_copy)
{
    size_t other = 0;

    if (name[0] == '\0' || strlen(name) > DRAFT_NAME_MAX) {
        return status_fail(TAPML_INVALID, "a name of 1 to %d bytes is expected, found '%s'",
                           DRAFT_NAME_MAX, name);
    }
    const struct key key = key_of(class, name);

    if (table_find(&draft->names, key.text, &other)) {
        return status_fail(TAPML_INVALID, "two %s are named '%s'", class_names[class], name);
    }

    const char *copy = arena_text(draft->arena, name);

    if (copy == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(table_set(&draft->names, key.text, index));
    *out_copy = copy;
    return TAPML_OK;
}

tapml_status
draft_add_value(struct draft *draft, const struct graph_value *value, uint32_t *out_index)
{
    const uint32_t index = (uint32_t)draft->value_count;

    if (draft->value_count == VALUES_MAX) {
        return status_fail(TAPML_INVALID, "more than %d values", VALUES_MAX);
    }
    if (!alloc_grow((void **)&draft->values, &draft->value_capacity, draft->value_count,
                    sizeof(*draft->values))) {
        return status_no_memory();
    }
    draft->values[index] = *value;
    if (value->kind != GRAPH_VIEW) {
        draft->values[index].base = index;
    }
    draft->value_count++;
    *out_index = index;
    return TAPML_OK;
}

struct view draft_view(const struct graph_value *value)
{
    struct view view = {.rank = value->rank, .offset = value->offset};

    memcpy(view.shape, value->shape, sizeof(view.shape));
    memcpy(view.stride, value->stride, sizeof(view.stride));
    return view;
}

void draft_set_view(struct graph_value *value, const struct view *view)
{
    value->rank = view->rank;
    value->offset = view->offset;
    memcpy(value->shape, view->shape, sizeof(value->shape));
    memcpy(value->stride, view->stride, sizeof(value->stride));
}

tapml_status
draft_add_view(struct draft *draft, uint32_t of, const struct view *view, uint32_t *out_index)
{
    const struct graph_value *from = &draft->values[of];
    struct graph_value value = {.kind = GRAPH_VIEW,
                                .name = from->name,
                                .base = from->base,
                                .dtype = from->dtype,
                                .producer = GRAPH_NONE};

    draft_set_view(&value, view);
    return draft_add_value(draft, &value, out_index);
}

static const char *kind_name(enum graph_kind kind)
{
    static const char *const names[] = {"an input", "a constant", "a weight",
                                        "a state",  "computed",   "a view"};

    return names[kind];
}

static tapml_status explain(tapml_status status, const tapml_op *op, const tapml_param *param)
{
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "%s: parameter '%s'", op->name, param->name);
}

// What a parameter does to its argument says where the argument may come from.
static tapml_status
check_origin(const struct draft *draft, const tapml_param *param, uint32_t value)
{
    const struct graph_value *found = &draft->values[value];
    const enum graph_kind base = draft->values[found->base].kind;

    if (param->kind == TAPML_P_TENSOR_INOUT &&
        ((param->effects & TAPML_E_STATE_WRITE) == 0 || found->kind != GRAPH_STATE)) {
        return status_fail(TAPML_INVALID, "only a state itself is written in place, '%s' is %s",
                           found->name, kind_name(found->kind));
    }
    if ((param->effects & TAPML_E_STATE_READ) != 0 && base != GRAPH_STATE) {
        return status_fail(TAPML_INVALID, "a state is expected, '%s' is %s", found->name,
                           kind_name(base));
    }
    if ((param->effects & TAPML_E_WEIGHT) != 0 && base != GRAPH_WEIGHT && base != GRAPH_CONSTANT) {
        return status_fail(TAPML_INVALID, "a weight or a constant is expected, '%s' is %s",
                           found->name, kind_name(base));
    }
    return TAPML_OK;
}

// The values that go into an argument: one, or the list of TENSORS_IN, or none.
static const uint32_t *argument_values(const struct graph_argument *argument, uint32_t *out_count)
{
    const int is_one =
        argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSOR_INOUT;

    *out_count = is_one ? 1 : argument->kind == TAPML_P_TENSORS_IN ? argument->count : 0;
    return is_one ? &argument->value : argument->values;
}

// Experts and the like: all of one type and shape, so that the first speaks for them.
static tapml_status check_alike(const struct draft *draft, const uint32_t *values, uint32_t count)
{
    const struct graph_value *first = &draft->values[values[0]];

    for (uint32_t i = 1; i < count; i++) {
        const struct graph_value *other = &draft->values[values[i]];

        if (other->dtype != first->dtype || other->rank != first->rank ||
            memcmp(other->shape, first->shape, first->rank * sizeof(first->shape[0])) != 0) {
            return status_fail(TAPML_INVALID, "'%s' and '%s' differ in type or shape", first->name,
                               other->name);
        }
    }
    return TAPML_OK;
}

static tapml_status infer_outputs(const struct draft *draft,
                                  const struct compiled_op *schema,
                                  struct graph_argument *arguments,
                                  struct infer_argument *out_known)
{
    const tapml_op *op = schema->op;

    for (uint32_t p = 0; p < op->n_params; p++) {
        uint32_t count = 0;
        const uint32_t *values = argument_values(&arguments[p], &count);
        tapml_status status = TAPML_OK;

        for (uint32_t i = 0; i < count && status == TAPML_OK; i++) {
            status = check_origin(draft, op->params[p], values[i]);
        }
        if (status == TAPML_OK && count > 1) {
            status = check_alike(draft, values, count);
        }
        TAPML_TRY(explain(status, op, op->params[p]));
        out_known[p] =
            graph_describe(draft->values, &arguments[p], count > 0 ? values[0] : GRAPH_NONE);
    }
    return infer_op(schema, out_known);
}

static tapml_status fit_value(struct draft *draft,
                              const struct compiled_op *schema,
                              uint32_t index,
                              const char *copy_name,
                              uint32_t *value)
{
    const struct graph_value *found = &draft->values[*value];
    const struct compiled_param *param = &schema->params[index];

    if (layout_fits(param->layout, found->shape, found->stride, found->rank)) {
        return TAPML_OK;
    }
    // A copy is made in each call: it would neither be constant nor outlive the call.
    if (param->effects != 0 && param->effects != TAPML_E_OPTIONAL) {
        return status_fail(TAPML_INVALID,
                           "a view of '%s' is not of layout '%s', and what is no plain input "
                           "cannot be copied",
                           found->name, schema->op->params[index]->layout);
    }
    return draft_add_copy(draft, copy_name, *value, value);
}

static tapml_status fit_list(struct draft *draft,
                             const struct compiled_op *schema,
                             uint32_t index,
                             const char *instance,
                             struct graph_argument *argument)
{
    uint32_t *values = arena_array(draft->arena, argument->count, sizeof(*values));

    if (values == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < argument->count; i++) {
        const char *name = arena_format(draft->arena, "%s/copy.%s.%u", instance,
                                        schema->op->params[index]->name, i);

        if (name == NULL) {
            return status_no_memory();
        }
        values[i] = argument->values[i];
        TAPML_TRY(fit_value(draft, schema, index, name, &values[i]));
    }
    argument->values = values;
    return TAPML_OK;
}

// Puts copies before the op, where the layout of an argument asks for one.
static tapml_status fit_argument(struct draft *draft,
                                 const struct compiled_op *schema,
                                 uint32_t index,
                                 const char *instance,
                                 struct graph_argument *argument)
{
    if (argument->kind == TAPML_P_TENSORS_IN) {
        return fit_list(draft, schema, index, instance, argument);
    }
    if (argument->kind != TAPML_P_TENSOR_IN && argument->kind != TAPML_P_TENSOR_INOUT) {
        return TAPML_OK;
    }

    const char *name =
        arena_format(draft->arena, "%s/copy.%s", instance, schema->op->params[index]->name);

    return name != NULL ? fit_value(draft, schema, index, name, &argument->value)
                        : status_no_memory();
}

static uint32_t count_outputs(const tapml_op *op)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < op->n_params; p++) {
        count += op->params[p]->kind == TAPML_P_TENSOR_OUT;
    }
    return count;
}

static tapml_status add_output_value(struct draft *draft,
                                     const char *name,
                                     const struct infer_argument *known,
                                     uint32_t *out_value)
{
    struct graph_value value = {.kind = GRAPH_COMPUTED,
                                .name = name,
                                .dtype = known->dtype,
                                .producer = (uint32_t)draft->op_count};
    struct view view = {.rank = known->rank};

    if (name == NULL) {
        return status_no_memory();
    }
    memcpy(view.shape, known->shape, sizeof(view.shape));
    TAPML_TRY(view_dense(&view));
    draft_set_view(&value, &view);
    return draft_add_value(draft, &value, out_value);
}

tapml_status draft_add_op(struct draft *draft,
                          const char *instance,
                          const struct compiled_op *schema,
                          struct graph_argument *arguments)
{
    struct infer_argument known[COMPILED_PARAMS_MAX];
    const tapml_op *op = schema->op;
    struct graph_op added = {.op = op, .schema = schema};

    TAPML_TRY(infer_outputs(draft, schema, arguments, known));
    for (uint32_t p = 0; p < op->n_params; p++) {
        TAPML_TRY(
            explain(fit_argument(draft, schema, p, instance, &arguments[p]), op, op->params[p]));
    }
    TAPML_TRY(draft_take(draft, DRAFT_OP, instance, (uint32_t)draft->op_count, &added.instance));
    for (uint32_t p = 0; p < op->n_params; p++) {
        if (arguments[p].kind != TAPML_P_TENSOR_OUT) {
            continue;
        }
        const char *name = count_outputs(op) == 1
                               ? added.instance
                               : arena_format(draft->arena, "%s:%s", instance, op->params[p]->name);

        TAPML_TRY(add_output_value(draft, name, &known[p], &arguments[p].value));
    }

    added.arguments = arena_array(draft->arena, op->n_params, sizeof(*arguments));
    if (added.arguments == NULL || !alloc_grow((void **)&draft->ops, &draft->op_capacity,
                                               draft->op_count, sizeof(*draft->ops))) {
        return status_no_memory();
    }
    memcpy(added.arguments, arguments, op->n_params * sizeof(*arguments));
    draft->ops[draft->op_count++] = added;
    return TAPML_OK;
}

// `copy` takes any strides, so that no copy asks for another one: the recursion ends here.
tapml_status
draft_add_copy(struct draft *draft, const char *instance, uint32_t value, uint32_t *out_copy)
{
    const struct compiled_op *schema = catalogue_find(draft->catalogue, "tapml.copy", 1);
    struct graph_argument arguments[] = {{.kind = TAPML_P_TENSOR_IN, .value = value},
                                         {.kind = TAPML_P_TENSOR_OUT}};

    if (schema == NULL || schema->op->n_params != 2) {
        return status_fail(TAPML_NOT_FOUND, "op 'tapml.copy' version 1 is unknown");
    }
    TAPML_TRY(draft_add_op(draft, instance, schema, arguments));
    *out_copy = arguments[1].value;
    return TAPML_OK;
}

tapml_status draft_add_output(struct draft *draft, const char *name, uint32_t value)
{
    struct graph_output output = {.value = value};

    if (!alloc_grow((void **)&draft->outputs, &draft->output_capacity, draft->output_count,
                    sizeof(*draft->outputs))) {
        return status_no_memory();
    }
    TAPML_TRY(draft_take(draft, DRAFT_OUTPUT, name, (uint32_t)draft->output_count, &output.name));
    draft->outputs[draft->output_count++] = output;
    return TAPML_OK;
}

tapml_status draft_add_part(struct draft *draft, const struct graph_part *part)
{
    struct graph_part added = *part;

    added.component = arena_text(draft->arena, part->component);
    added.output = arena_text(draft->arena, part->output);
    if (added.component == NULL || added.output == NULL ||
        !alloc_grow((void **)&draft->parts, &draft->part_capacity, draft->part_count,
                    sizeof(*draft->parts))) {
        return status_no_memory();
    }
    draft->parts[draft->part_count++] = added;
    return TAPML_OK;
}

// A copy in the arena; NULL where there is no memory.
static void *settle(struct draft *draft, const void *items, size_t count, size_t item_size)
{
    void *settled = arena_array(draft->arena, count, item_size);

    if (settled != NULL && count > 0) {
        memcpy(settled, items, count * item_size);
    }
    return settled;
}

tapml_status draft_finish(struct draft *draft, struct graph **out_graph)
{
    struct graph *graph = arena_new(draft->arena, sizeof(*graph));

    if (graph == NULL) {
        return status_no_memory();
    }
    graph->values = settle(draft, draft->values, draft->value_count, sizeof(*graph->values));
    graph->ops = settle(draft, draft->ops, draft->op_count, sizeof(*graph->ops));
    graph->outputs = settle(draft, draft->outputs, draft->output_count, sizeof(*graph->outputs));
    graph->parts = settle(draft, draft->parts, draft->part_count, sizeof(*graph->parts));
    if (graph->values == NULL || graph->ops == NULL || graph->outputs == NULL ||
        graph->parts == NULL) {
        return status_no_memory();
    }
    graph->value_count = (uint32_t)draft->value_count;
    graph->op_count = (uint32_t)draft->op_count;
    graph->output_count = (uint32_t)draft->output_count;
    graph->part_count = (uint32_t)draft->part_count;
    graph->arena = draft->arena;
    draft->arena = NULL;
    draft_release(draft);
    *out_graph = graph;
    return TAPML_OK;
}

// -- What is used ------------------------------------------------------------------------------

// Marks the base values that ops and outputs use.
static void mark_used(const struct draft *draft, unsigned char *used)
{
    for (size_t i = 0; i < draft->op_count; i++) {
        const struct graph_op *op = &draft->ops[i];

        for (uint32_t p = 0; p < op->op->n_params; p++) {
            const struct graph_argument *argument = &op->arguments[p];

            if (argument->kind == TAPML_P_TENSOR_IN || argument->kind == TAPML_P_TENSOR_INOUT) {
                used[draft->values[argument->value].base] = 1;
            }
            for (uint32_t k = 0; k < argument->count; k++) {
                used[draft->values[argument->values[k]].base] = 1;
            }
        }
    }
    for (size_t i = 0; i < draft->output_count; i++) {
        used[draft->values[draft->outputs[i].value].base] = 1;
    }
}

tapml_status draft_check_used(const struct draft *draft)
{
    unsigned char *used = alloc_new(draft->value_count);
    tapml_status status = TAPML_OK;

    if (used == NULL) {
        return status_no_memory();
    }
    mark_used(draft, used);
    for (size_t i = 0; i < draft->value_count && status == TAPML_OK; i++) {
        const struct graph_value *value = &draft->values[i];

        if (!used[i] && (value->kind == GRAPH_INPUT || value->kind == GRAPH_STATE)) {
            status = status_fail(TAPML_INVALID, "%s '%s' is never used",
                                 value->kind == GRAPH_INPUT ? "input" : "state", value->name);
        }
    }
    alloc_free(used);
    return status;
}
