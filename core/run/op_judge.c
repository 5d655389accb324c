// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/op_judge.h"

#include "base/alloc.h"
#include "base/table.h"
#include "run/expected.h"
#include "run/op_suspects.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A comparison: columns of an entry with an argument of an op.
struct op_check {
    const struct checkpoint_tensor *entry;
    uint32_t op, param;
    uint32_t value;        // Of the graph.
    int64_t column, width; // Columns of the entry.
    int is_hint;
    int is_state; // The argument has rows of the whole sequence.
};

struct op_judge {
    struct op_judge_options options;
    struct table op_of; // Instance to op.
    struct op_check *checks;
    size_t count, capacity;
    size_t entries, unused;
    uint8_t *known; // Of each value.
    int64_t position;
    double worst;
    const char *worst_name;
};

static const char *const kinds[] = {"op.", "in.", "after.", "attention."};

// The name behind a prefix, or NULL.
static const char *behind(const char *name, const char *prefix)
{
    const size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 && name[length] != '\0' ? name + length : NULL;
}

int op_judge_is_entry(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (behind(name, kinds[i]) != NULL) {
            return 1;
        }
    }
    return 0;
}

// -- The graph ---------------------------------------------------------------------------------

static const struct graph_value *value_at(const struct op_judge *judge, uint32_t value)
{
    return &judge->options.graph->values[value];
}

static uint32_t base_of(const struct op_judge *judge, uint32_t value)
{
    return value_at(judge, value)->base;
}

// Whether the rows of a value have a width that is known, and which.
static int has_width(const struct graph_value *value, int64_t *out_width)
{
    int64_t width = 1;

    if (value->rank < 1) {
        return 0;
    }
    for (uint32_t axis = 1; axis < value->rank; axis++) {
        if (!affine_is_constant(&value->shape[axis]) || value->shape[axis].constant < 1 ||
            width > INT32_MAX / value->shape[axis].constant) {
            return 0;
        }
        width *= value->shape[axis].constant;
    }
    *out_width = width;
    return 1;
}

// Whether a value has a row for each token of a call, or for each row of logits.
static int has_rows_of(const struct graph_value *value, int symbol, int64_t *out_width)
{
    struct affine rows = {.constant = 0};

    rows.factor[symbol] = 1;
    return has_width(value, out_width) && affine_equal(&value->shape[0], &rows);
}

static int has_rows(const struct graph_value *value, int64_t *out_width)
{
    return has_rows_of(value, AFFINE_TOKENS, out_width);
}

// Whether a view shows all of its base value.
static int is_whole(const struct op_judge *judge, uint32_t value)
{
    int64_t width = 0, all = 0;

    return has_rows(value_at(judge, value), &width) &&
           has_rows(value_at(judge, base_of(judge, value)), &all) && width == all;
}

static int is_data(const struct graph_op *op, uint32_t param)
{
    return op->arguments[param].kind == TAPML_P_TENSOR_IN &&
           (op->op->params[param]->effects & (TAPML_E_WEIGHT | TAPML_E_STATE_READ)) == 0;
}

static uint32_t find_data(const struct graph_op *op)
{
    for (uint32_t i = 0; i < op->op->n_params; i++) {
        if (is_data(op, i)) {
            return i;
        }
    }
    return GRAPH_NONE;
}

static uint32_t find_output(const struct graph_op *op)
{
    for (uint32_t i = 0; i < op->op->n_params; i++) {
        if (op->arguments[i].kind == TAPML_P_TENSOR_OUT) {
            return i;
        }
    }
    return GRAPH_NONE;
}

static uint32_t find_param(const struct graph_op *op, const char *name)
{
    for (uint32_t i = 0; i < op->op->n_params; i++) {
        if (strcmp(op->op->params[i]->name, name) == 0) {
            return op->arguments[i].kind != TAPML_V_NONE ? i : GRAPH_NONE;
        }
    }
    return GRAPH_NONE;
}

// The parameter of an op that is the tensor `name` of the checkpoint, or a part of it.
static uint32_t
find_weight(const struct op_judge *judge, const struct graph_op *op, const char *name)
{
    for (uint32_t i = 0; i < op->op->n_params; i++) {
        const struct graph_argument *argument = &op->arguments[i];

        if (argument->kind != TAPML_P_TENSOR_IN) {
            continue;
        }
        const struct graph_value *base = value_at(judge, base_of(judge, argument->value));

        if (base->kind == GRAPH_WEIGHT && strcmp(base->name, name) == 0) {
            return i;
        }
    }
    return GRAPH_NONE;
}

// -- Entries -----------------------------------------------------------------------------------

static tapml_status add_check(struct op_judge *judge, const struct op_check *check)
{
    if (!alloc_grow((void **)&judge->checks, &judge->capacity, judge->count,
                    sizeof(*judge->checks))) {
        return status_no_memory();
    }
    judge->checks[judge->count++] = *check;
    return TAPML_OK;
}

// Adds a comparison of a whole entry with an argument; none where the shapes differ.
static tapml_status add_whole(struct op_judge *judge,
                              const struct checkpoint_tensor *entry,
                              uint32_t op,
                              uint32_t param,
                              int is_hint)
{
    int64_t width = 0;

    if (param == GRAPH_NONE) {
        return TAPML_OK;
    }
    const uint32_t value = judge->options.graph->ops[op].arguments[param].value;

    if (!has_rows(value_at(judge, value), &width) || width != entry->tensor.shape[1]) {
        return TAPML_OK;
    }
    return add_check(judge, &(struct op_check){.entry = entry,
                                               .op = op,
                                               .param = param,
                                               .value = value,
                                               .width = width,
                                               .is_hint = is_hint});
}

// Which columns of all outputs a part of a weight gives: its rows of [out, in], its columns of [in,
// out].
static int find_columns(const struct graph_value *part,
                        const struct graph_value *all,
                        int64_t width,
                        int64_t *out_column)
{
    if (part->rank != 2 || all->rank != 2 || !affine_is_constant(&part->offset)) {
        return 0;
    }
    const int64_t inner = all->shape[1].constant, offset = part->offset.constant;

    if (part->shape[0].constant == width && part->shape[1].constant == inner && inner > 0 &&
        offset % inner == 0) {
        *out_column = offset / inner;
        return 1;
    }
    *out_column = offset;
    return part->shape[1].constant == width && part->shape[0].constant == all->shape[0].constant;
}

// The rows of all logits are those of all tokens, in a prefill. A tensor that is used twice is an
// embedding first: its entry is that.
static tapml_status add_head(struct op_judge *judge,
                             const struct checkpoint_tensor *entry,
                             uint32_t op,
                             uint32_t param,
                             int64_t width)
{
    if (width != entry->tensor.shape[1] ||
        (judge->count > 0 && judge->checks[judge->count - 1].entry == entry)) {
        return TAPML_OK;
    }
    return add_check(
        judge, &(struct op_check){.entry = entry,
                                  .op = op,
                                  .param = param,
                                  .value = judge->options.graph->ops[op].arguments[param].value,
                                  .width = width});
}

static tapml_status add_output(struct op_judge *judge,
                               const struct checkpoint_tensor *entry,
                               uint32_t op,
                               uint32_t weight)
{
    const struct graph_op *maker = &judge->options.graph->ops[op];
    const uint32_t param = find_output(maker);
    const int64_t all = entry->tensor.shape[1];
    int64_t width = 0, column = 0;

    if (param == GRAPH_NONE) {
        return TAPML_OK;
    }
    if (has_rows_of(value_at(judge, maker->arguments[param].value), AFFINE_ROWS, &width)) {
        return add_head(judge, entry, op, param, width);
    }
    if (!has_rows(value_at(judge, maker->arguments[param].value), &width) || width >= all) {
        return add_whole(judge, entry, op, param, 0);
    }
    const uint32_t part = maker->arguments[weight].value;

    if (!find_columns(value_at(judge, part), value_at(judge, base_of(judge, part)), width,
                      &column) ||
        column > all - width) {
        return TAPML_OK;
    }
    return add_check(judge, &(struct op_check){.entry = entry,
                                               .op = op,
                                               .param = param,
                                               .value = maker->arguments[param].value,
                                               .column = column,
                                               .width = width});
}

// Whether an op reads nothing but a value, once or more often.
static int reads_only(const struct op_judge *judge, const struct graph_op *op, uint32_t value)
{
    uint32_t inputs = 0, reads = 0;

    for (uint32_t i = 0; i < op->op->n_params; i++) {
        const struct graph_argument *argument = &op->arguments[i];

        inputs += argument->kind == TAPML_P_TENSOR_IN;
        reads += argument->kind == TAPML_P_TENSOR_IN && base_of(judge, argument->value) == value;
    }
    return reads > 0 && reads == inputs;
}

// The only op that reads nothing but what `op` gives.
static uint32_t find_follower(const struct op_judge *judge, uint32_t op)
{
    const struct graph *graph = judge->options.graph;
    const uint32_t output = find_output(&graph->ops[op]);
    uint32_t found = GRAPH_NONE;

    if (output == GRAPH_NONE) {
        return GRAPH_NONE;
    }
    const uint32_t value = base_of(judge, graph->ops[op].arguments[output].value);

    for (uint32_t i = op + 1; i < graph->op_count; i++) {
        if (reads_only(judge, &graph->ops[i], value)) {
            if (found != GRAPH_NONE) {
                return GRAPH_NONE;
            }
            found = i;
        }
    }
    return found;
}

// What a module without weights makes of what `op` gives may be several ops in a row, as a relu
// that is squared: the last of them has the result.
static tapml_status
add_after(struct op_judge *judge, const struct checkpoint_tensor *entry, uint32_t op)
{
    uint32_t last = GRAPH_NONE;

    for (uint32_t next = find_follower(judge, op); next != GRAPH_NONE;
         next = find_follower(judge, next)) {
        last = next;
    }
    return last == GRAPH_NONE
               ? TAPML_OK
               : add_whole(judge, entry, last, find_output(&judge->options.graph->ops[last]), 1);
}

static tapml_status add_of_tensor(struct op_judge *judge, const struct checkpoint_tensor *entry)
{
    const struct graph *graph = judge->options.graph;
    const char *output = behind(entry->name, "op."), *input = behind(entry->name, "in.");
    const char *after = behind(entry->name, "after.");
    const char *tensor = output != NULL ? output : input != NULL ? input : after;

    for (uint32_t op = 0; op < graph->op_count; op++) {
        const uint32_t weight = find_weight(judge, &graph->ops[op], tensor);

        if (weight == GRAPH_NONE) {
            continue;
        }
        if (output != NULL) {
            TAPML_TRY(add_output(judge, entry, op, weight));
        } else if (input != NULL) {
            TAPML_TRY(add_whole(judge, entry, op, find_data(&graph->ops[op]), 0));
        } else {
            TAPML_TRY(add_after(judge, entry, op));
        }
    }
    return TAPML_OK;
}

// The op that puts rows into the state that an attention reads as keys.
static uint32_t find_writer(const struct op_judge *judge, uint32_t reader, uint32_t param)
{
    const struct graph *graph = judge->options.graph;
    const uint32_t state = base_of(judge, graph->ops[reader].arguments[param].value);

    for (uint32_t op = reader; op-- > 0;) {
        const struct graph_op *writer = &graph->ops[op];

        for (uint32_t i = 0; i < writer->op->n_params; i++) {
            if ((writer->op->params[i]->effects & TAPML_E_STATE_WRITE) != 0 &&
                writer->arguments[i].kind != TAPML_V_NONE &&
                base_of(judge, writer->arguments[i].value) == state) {
                return op;
            }
        }
    }
    return GRAPH_NONE;
}

// The attention with the number `index`: the op that reads queries, and keys from a state.
static uint32_t find_attention(const struct op_judge *judge, long index)
{
    const struct graph *graph = judge->options.graph;

    for (uint32_t op = 0; op < graph->op_count; op++) {
        if (find_param(&graph->ops[op], "q") != GRAPH_NONE &&
            find_param(&graph->ops[op], "k_state") != GRAPH_NONE && index-- == 0) {
            return op;
        }
    }
    return GRAPH_NONE;
}

// Keys or values: the rows that are put into the state, and the state that the attention reads.
static tapml_status add_state(struct op_judge *judge,
                              const struct checkpoint_tensor *entry,
                              uint32_t reader,
                              uint32_t param)
{
    const struct graph *graph = judge->options.graph;
    const uint32_t writer = param != GRAPH_NONE ? find_writer(judge, reader, param) : GRAPH_NONE;
    int64_t width = 0;

    if (writer == GRAPH_NONE) {
        return TAPML_OK;
    }
    const uint32_t state = graph->ops[reader].arguments[param].value;

    TAPML_TRY(add_whole(judge, entry, writer, find_data(&graph->ops[writer]), 1));
    if (!has_width(value_at(judge, state), &width) || width != entry->tensor.shape[1]) {
        return TAPML_OK;
    }
    return add_check(judge, &(struct op_check){.entry = entry,
                                               .op = reader,
                                               .param = param,
                                               .value = state,
                                               .width = width,
                                               .is_hint = 1,
                                               .is_state = 1});
}

static tapml_status add_of_attention(struct op_judge *judge, const struct checkpoint_tensor *entry)
{
    const struct graph *graph = judge->options.graph;
    char *end = NULL;
    const long index = strtol(behind(entry->name, "attention."), &end, 10);
    const uint32_t op = index >= 0 ? find_attention(judge, index) : GRAPH_NONE;

    if (op == GRAPH_NONE) {
        return TAPML_OK;
    }
    if (strcmp(end, ".query") == 0) {
        return add_whole(judge, entry, op, find_param(&graph->ops[op], "q"), 1);
    }
    if (strcmp(end, ".key") == 0) {
        return add_state(judge, entry, op, find_param(&graph->ops[op], "k_state"));
    }
    return strcmp(end, ".value") == 0
               ? add_state(judge, entry, op, find_param(&graph->ops[op], "v_state"))
               : TAPML_OK;
}

static tapml_status add_entry(struct op_judge *judge, const struct checkpoint_tensor *entry)
{
    const size_t before = judge->count;

    if (entry->tensor.rank != 2 || entry->tensor.shape[0] != judge->options.tokens ||
        entry->tensor.shape[1] < 1) {
        return status_fail(TAPML_INVALID,
                           "expected.safetensors: tensor '%s': expected rows of %lld tokens",
                           entry->name, (long long)judge->options.tokens);
    }
    TAPML_TRY(behind(entry->name, "attention.") != NULL ? add_of_attention(judge, entry)
                                                        : add_of_tensor(judge, entry));
    judge->entries++;
    judge->unused += judge->count == before;
    return TAPML_OK;
}

static tapml_status prepare(struct op_judge *judge)
{
    const struct graph *graph = judge->options.graph;
    const struct checkpoint *file = judge->options.expected;

    judge->known = alloc_array((size_t)graph->value_count + 1, sizeof(*judge->known));
    if (judge->known == NULL) {
        return status_no_memory();
    }
    for (uint32_t op = 0; op < graph->op_count; op++) {
        TAPML_TRY(table_set(&judge->op_of, graph->ops[op].instance, op));
    }
    for (size_t i = 0; i < checkpoint_count(file); i++) {
        if (op_judge_is_entry(checkpoint_at(file, i)->name)) {
            TAPML_TRY(add_entry(judge, checkpoint_at(file, i)));
        }
    }
    return TAPML_OK;
}

tapml_status op_judge_create(const struct op_judge_options *options, struct op_judge **out_judge)
{
    struct op_judge *judge = alloc_new(sizeof(*judge));

    if (judge == NULL) {
        return status_no_memory();
    }
    judge->options = *options;
    table_init(&judge->op_of);
    const tapml_status status = prepare(judge);

    if (status != TAPML_OK) {
        op_judge_destroy(judge);
        return status;
    }
    *out_judge = judge;
    return TAPML_OK;
}

void op_judge_destroy(struct op_judge *judge)
{
    if (judge != NULL) {
        table_release(&judge->op_of);
        alloc_free(judge->checks);
        alloc_free(judge->known);
        alloc_free(judge);
    }
}

// -- Comparing ---------------------------------------------------------------------------------

uint32_t op_judge_find(const struct op_judge *judge, const char *instance)
{
    size_t op = 0;

    return table_find(&judge->op_of, instance, &op) ? (uint32_t)op : GRAPH_NONE;
}

int op_judge_wants(const struct op_judge *judge, uint32_t op, uint32_t param)
{
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->checks[i].op == op && judge->checks[i].param == param) {
            return 1;
        }
    }
    return 0;
}

void op_judge_begin(struct op_judge *judge)
{
    memset(judge->known, 0, judge->options.graph->value_count);
    judge->position = 0;
    judge->worst = 0;
    judge->worst_name = NULL;
}

void op_judge_set_position(struct op_judge *judge, int64_t position)
{
    judge->position = position;
}

static void note(struct op_judge *judge, uint32_t value, int agrees, int is_hint, int is_all)
{
    const uint32_t base = base_of(judge, value);

    if (!agrees) {
        judge->known[base] |= is_hint ? OP_SUSPECTS_HINT_DIVERGES : OP_SUSPECTS_DIVERGES;
    } else if (is_all) {
        judge->known[base] |= is_hint ? OP_SUSPECTS_HINT_AGREES : OP_SUSPECTS_AGREES;
    }
}

void op_judge_note(struct op_judge *judge, uint32_t value, int agrees)
{
    note(judge, value, agrees, 0, is_whole(judge, value));
}

// Compares dense rows of a call.
static void compare(struct op_judge *judge,
                    const struct op_check *check,
                    const double *expected,
                    const float *computed,
                    int64_t rows)
{
    const int64_t all = check->entry->tensor.shape[1];
    double worst = 0;

    for (int64_t row = 0; row < rows; row++) {
        const double error = expected_row_error(computed + row * check->width,
                                                expected + row * all + check->column, check->width);

        worst = error > worst ? error : worst;
    }
    note(judge, check->value, worst <= judge->options.tolerance, check->is_hint,
         check->is_state || is_whole(judge, check->value));
    if (!check->is_hint && worst >= judge->worst) {
        judge->worst = worst;
        judge->worst_name = check->entry->name;
    }
}

// Dense rows of a call, of which the first stands at `position`.
struct seen_rows {
    const void *data;
    uint32_t dtype;
    int64_t position, count;
};

// The rows of an argument. Of a state those that were read.
static struct seen_rows rows_of(const struct op_judge *judge,
                                const struct op_check *check,
                                const struct case_argument *argument)
{
    const unsigned char *data = argument->after != NULL ? argument->after : argument->before;
    const uint64_t row_bytes = (uint64_t)check->width * dtype_bytes(argument->dtype);

    if (!check->is_state) {
        return (struct seen_rows){data, argument->dtype, judge->position, argument->shape[0]};
    }
    const int64_t skipped = argument->region_begin - argument->kept_begin;

    return (struct seen_rows){data != NULL ? data + (uint64_t)skipped * row_bytes : NULL,
                              argument->dtype, argument->region_begin,
                              argument->region_end - argument->region_begin};
}

// Compares them, in the types of the comparison.
static tapml_status
compare_rows(struct op_judge *judge, const struct op_check *check, const struct seen_rows *seen)
{
    const struct checkpoint_tensor *entry = check->entry;
    const size_t rows = (size_t)seen->count, all = (size_t)entry->tensor.shape[1];
    const size_t count = rows * (size_t)check->width;
    double *expected = alloc_array(rows * all + count + 1, sizeof(*expected));
    float *computed = alloc_array(count + 1, sizeof(*computed));
    const tapml_status status =
        expected != NULL && computed != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK) {
        double *wide = expected + rows * all;

        convert_to_f64(seen->dtype, seen->data, count, wide);
        for (size_t i = 0; i < count; i++) {
            computed[i] = (float)wide[i];
        }
        convert_to_f64(entry->tensor.dtype,
                       (const unsigned char *)entry->data +
                           (size_t)seen->position * all * dtype_bytes(entry->tensor.dtype),
                       rows * all, expected);
        compare(judge, check, expected, computed, seen->count);
    }
    alloc_free(computed);
    alloc_free(expected);
    return status;
}

tapml_status
op_judge_see(struct op_judge *judge, uint32_t op, const struct case_argument *arguments)
{
    for (size_t i = 0; i < judge->count; i++) {
        const struct op_check *check = &judge->checks[i];

        if (check->op != op) {
            continue;
        }
        const struct seen_rows seen = rows_of(judge, check, &arguments[check->param]);

        if (seen.data != NULL && seen.count > 0 &&
            seen.position + seen.count <= judge->options.tokens) {
            TAPML_TRY(compare_rows(judge, check, &seen));
        }
    }
    return TAPML_OK;
}

struct op_judge_counts op_judge_counts(const struct op_judge *judge)
{
    return (struct op_judge_counts){.entries = judge->entries,
                                    .unused = judge->unused,
                                    .worst = judge->worst,
                                    .worst_name = judge->worst_name};
}

tapml_status op_judge_print(const struct op_judge *judge, struct text *out_text)
{
    return op_suspects_print(judge->options.graph, judge->known, out_text);
}
