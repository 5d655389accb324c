// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/input.h"

#include "base/alloc.h"
#include "base/text.h"
#include "exec/part_rows.h"
#include "schema/infer.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <string.h>

enum input_source { INPUT_IDS, INPUT_ROWS, INPUT_USER, INPUT_FILL, INPUT_PART };

struct input {
    uint32_t value;
    enum input_source source;
    void *given; // Of a user; or NULL.
    uint64_t given_bytes;
};

// A parameter of integers that an input feeds directly.
struct input_use {
    uint32_t value;
    uint32_t op;
    uint32_t param;
};

struct input_set {
    struct model *model;
    const struct graph *graph;
    struct value_set *values;
    struct binding *bindings;
    struct input *inputs;
    size_t input_count;
    size_t input_capacity;
    struct input_use *uses;
    size_t use_count;
    size_t use_capacity;
    struct part_rows *part_rows;
};

// One number for each token, or for each row.
static tapml_status check_list(const struct graph_value *value, uint32_t symbol)
{
    struct affine wanted = affine_constant(0);
    wanted.factor[symbol] = 1;
    if (value->dtype != TAPML_I32 || value->rank != 1 || !affine_equal(&value->shape[0], &wanted)) {
        return status_fail(TAPML_INVALID, "expected input '%s' to be i32 [%s], found %s of rank %u",
                           value->name, symbol == AFFINE_TOKENS ? "T" : "R",
                           dtype_name(value->dtype), value->rank);
    }
    return TAPML_OK;
}

static tapml_status classify(const struct graph_value *value, enum input_source *out_source)
{
    if (value->from == TAPML_FROM_FILL) {
        *out_source = INPUT_FILL;
        return TAPML_OK;
    }
    if (value->from == TAPML_FROM_PART) {
        *out_source = INPUT_PART;
        return TAPML_OK;
    }
    if (value->from == TAPML_FROM_HOST) {
        if (strcmp(value->name, "rows") != 0) {
            return status_fail(TAPML_INVALID, "the host has no input '%s', only 'rows'",
                               value->name);
        }
        *out_source = INPUT_ROWS;
        return check_list(value, AFFINE_ROWS);
    }
    if (strcmp(value->name, "input_ids") == 0) {
        *out_source = INPUT_IDS;
        return check_list(value, AFFINE_TOKENS);
    }
    *out_source = INPUT_USER;
    return TAPML_OK;
}

static tapml_status find_inputs(struct input_set *set)
{
    for (uint32_t v = 0; v < set->graph->value_count; v++) {
        struct input input = {.value = v};
        if (set->graph->values[v].kind != GRAPH_INPUT) {
            continue;
        }
        TAPML_TRY(classify(&set->graph->values[v], &input.source));
        if (!alloc_grow((void **)&set->inputs, &set->input_capacity, set->input_count,
                        sizeof(*set->inputs))) {
            return status_no_memory();
        }
        set->inputs[set->input_count++] = input;
    }
    return TAPML_OK;
}

// Whether the values of a parameter come from outside and have declared limits.
static int needs_check(const struct graph *graph, const struct graph_op *op, uint32_t param)
{
    if (op->arguments[param].kind != TAPML_P_TENSOR_IN || !op->schema->params[param].domain) {
        return 0;
    }
    const struct graph_value *value = &graph->values[op->arguments[param].value];
    return value->kind == GRAPH_INPUT && value->from != TAPML_FROM_FILL &&
           value->dtype == TAPML_I32;
}

static tapml_status find_uses(struct input_set *set)
{
    for (uint32_t i = 0; i < set->graph->op_count; i++) {
        const struct graph_op *op = &set->graph->ops[i];
        for (uint32_t p = 0; p < op->op->n_params; p++) {
            if (!needs_check(set->graph, op, p)) {
                continue;
            }
            if (!alloc_grow((void **)&set->uses, &set->use_capacity, set->use_count,
                            sizeof(*set->uses))) {
                return status_no_memory();
            }
            set->uses[set->use_count++] =
                (struct input_use){.value = op->arguments[p].value, .op = i, .param = p};
        }
    }
    return TAPML_OK;
}

tapml_status input_set_create(const struct graph *graph,
                              struct model *model,
                              struct value_set *values,
                              struct binding *bindings,
                              struct input_set **out_set)
{
    struct input_set *set = alloc_new(sizeof(*set));
    if (!set) {
        return status_no_memory();
    }
    set->graph = graph;
    set->model = model;
    set->values = values;
    set->bindings = bindings;
    tapml_status status = part_rows_create(graph, &set->part_rows);
    if (status == TAPML_OK) {
        status = find_inputs(set);
    }
    if (status == TAPML_OK) {
        status = find_uses(set);
    }
    if (status != TAPML_OK) {
        input_set_destroy(set);
        return status;
    }
    *out_set = set;
    return TAPML_OK;
}

void input_set_destroy(struct input_set *set)
{
    if (!set) {
        return;
    }
    for (size_t i = 0; i < set->input_count; i++) {
        alloc_free(set->inputs[i].given);
    }
    alloc_free(set->inputs);
    alloc_free(set->uses);
    part_rows_destroy(set->part_rows);
    alloc_free(set);
}

static tapml_status fail_unknown(const struct input_set *set, const char *name)
{
    const char **names = alloc_array(set->input_count + 1, sizeof(*names));
    size_t count = 0;
    if (!names) {
        return status_no_memory();
    }
    for (size_t i = 0; i < set->input_count; i++) {
        if (set->inputs[i].source == INPUT_USER) {
            names[count++] = set->graph->values[set->inputs[i].value].name;
        }
    }
    const char *near = text_nearest(name, names);
    alloc_free(names);
    return status_fail(TAPML_NOT_FOUND, "the model has no input '%s' to be given%s%s%s", name,
                       near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

tapml_status input_give(struct input_set *set, const char *name, const void *data, uint64_t bytes)
{
    for (size_t i = 0; i < set->input_count; i++) {
        struct input *input = &set->inputs[i];
        if (input->source != INPUT_USER ||
            strcmp(set->graph->values[input->value].name, name) != 0) {
            continue;
        }
        void *copy = data ? alloc_new(bytes) : NULL;
        if (data && !copy) {
            return status_no_memory();
        }
        if (data && bytes > 0) {
            memcpy(copy, data, bytes);
        }
        alloc_free(input->given);
        input->given = copy;
        input->given_bytes = data ? bytes : 0;
        return TAPML_OK;
    }
    return fail_unknown(set, name);
}

tapml_status input_give_rows(struct input_set *set, uint32_t part, const float *rows, int64_t count)
{
    return part_rows_give(set->part_rows, part, rows, count);
}

static void write_rows(const struct input_call *call, int32_t *rows)
{
    const int64_t count = call->point.value[AFFINE_ROWS];
    for (int64_t i = 0; i < count; i++) {
        rows[i] = call->rows ? call->rows[i] : (int32_t)i;
    }
}

static tapml_status write_given(const struct input *input,
                                const struct graph_value *value,
                                void *memory,
                                uint64_t bytes)
{
    if (input->given) {
        if (input->given_bytes != bytes) {
            return status_fail(TAPML_INVALID, "input '%s' has %llu bytes, and this call takes %llu",
                               value->name, (unsigned long long)input->given_bytes,
                               (unsigned long long)bytes);
        }
        memcpy(memory, input->given, bytes);
        return TAPML_OK;
    }
    if (!value->has_fallback) {
        return status_fail(TAPML_PRECONDITION, "input '%s' is not given and has no fallback",
                           value->name);
    }
    const size_t element_bytes = dtype_bytes(value->dtype);
    for (uint64_t at = 0; at + element_bytes <= bytes; at += element_bytes) {
        convert_from_f64(value->dtype, &value->fallback, 1, (unsigned char *)memory + at);
    }
    return TAPML_OK;
}

static tapml_status write_part(struct input_set *set,
                               const struct input *input,
                               const struct input_call *call,
                               float *memory)
{
    if (!call->ids) {
        return status_fail(TAPML_INVALID, "expected ids for input '%s'",
                           set->graph->values[input->value].name);
    }
    return part_rows_write(set->part_rows, input->value,
                           &(struct part_rows_call){.ids = call->ids,
                                                    .position = call->point.value[AFFINE_POSITION],
                                                    .count = call->point.value[AFFINE_TOKENS],
                                                    .prompt = call->prompt},
                           memory);
}

static tapml_status
write_input(struct input_set *set, const struct input *input, const struct input_call *call)
{
    const struct graph_value *value = &set->graph->values[input->value];
    const uint64_t bytes = value_bytes(set->values, input->value);
    void *memory = NULL;
    TAPML_TRY(value_input_memory(set->values, input->value, &memory));
    switch (input->source) {
    case INPUT_IDS:
        if (!call->ids) {
            return status_fail(TAPML_INVALID, "expected ids for input '%s'", value->name);
        }
        memcpy(memory, call->ids, bytes);
        return TAPML_OK;
    case INPUT_ROWS:
        write_rows(call, memory);
        return TAPML_OK;
    case INPUT_USER:
        return write_given(input, value, memory, bytes);
    case INPUT_FILL:
        return model_fill(set->model, value->name,
                          (struct model_span){call->point.value[AFFINE_POSITION],
                                              call->point.value[AFFINE_TOKENS], call->length},
                          memory, bytes);
    case INPUT_PART:
        return write_part(set, input, call, memory);
    }
    return TAPML_OK;
}

static tapml_status
check_use(struct input_set *set, const struct input_use *use, const struct affine_point *point)
{
    struct binding *binding = &set->bindings[use->op];
    const struct compiled_op *schema = binding->op->schema;
    struct inferred inferred;
    int64_t least = 0, most = 0;
    const void *memory = NULL;
    binding_evaluate(binding, point);
    TAPML_TRY(infer_call(schema, binding->args, &inferred));
    TAPML_TRY(expression_range(&inferred.scope, schema->params[use->param].domain, &least, &most));
    TAPML_TRY(value_memory(set->values, use->value, &memory));
    const int32_t *numbers = memory;
    const uint64_t count = value_bytes(set->values, use->value) / sizeof(*numbers);
    for (uint64_t i = 0; i < count; i++) {
        if (numbers[i] < least || numbers[i] > most) {
            return status_fail(
                TAPML_INVALID,
                "input '%s' has %d at %llu, expected %lld .. %lld for '%s' of %s (%s)",
                set->graph->values[use->value].name, numbers[i], (unsigned long long)i,
                (long long)least, (long long)most, schema->op->params[use->param]->name,
                binding->op->instance, schema->op->name);
        }
    }
    return TAPML_OK;
}

tapml_status input_evaluate(struct input_set *set, const struct input_call *call)
{
    for (size_t i = 0; i < set->input_count; i++) {
        TAPML_TRY(write_input(set, &set->inputs[i], call));
    }
    for (size_t i = 0; i < set->use_count; i++) {
        TAPML_TRY(check_use(set, &set->uses[i], &call->point));
    }
    return TAPML_OK;
}
