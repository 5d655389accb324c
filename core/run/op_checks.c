// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/op_checks.h"

#include "base/alloc.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

// An op that reads a tensor.
struct op_use {
    uint32_t op, param;
    size_t next; // Use of the same tensor, from 1; 0: none.
};

struct op_checks {
    const struct graph *graph;
    int64_t tokens;
    struct table uses_of; // Tensor to its first use, from 1.
    struct op_use *uses;
    size_t use_count, use_capacity;
    struct op_check *items; // By op, once they are sorted.
    size_t count, capacity;
    size_t *begins; // Of each op's, and the end.
    size_t entries, unused;
};

static const char *const kinds[] = {"op.", "in.", "after.", "attention."};

// The name behind a prefix, or NULL.
static const char *behind(const char *name, const char *prefix)
{
    const size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 && name[length] != '\0' ? name + length : NULL;
}

int op_checks_is_entry(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (behind(name, kinds[i]) != NULL) {
            return 1;
        }
    }
    return 0;
}

// -- The graph ---------------------------------------------------------------------------------

static const struct graph_value *value_at(const struct op_checks *checks, uint32_t value)
{
    return &checks->graph->values[value];
}

static uint32_t base_of(const struct op_checks *checks, uint32_t value)
{
    return value_at(checks, value)->base;
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

int op_checks_is_whole(const struct graph *graph, uint32_t value)
{
    const struct graph_value *view = &graph->values[value];
    int64_t width = 0, all = 0;

    return has_rows(view, &width) && has_rows(&graph->values[view->base], &all) && width == all;
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

// -- Tensors -----------------------------------------------------------------------------------

// Notes that an op reads a tensor, once however many of its parameters are parts of it.
static tapml_status
add_use(struct op_checks *checks, const char *tensor, uint32_t op, uint32_t param)
{
    size_t next = 0;

    if (table_find(&checks->uses_of, tensor, &next) && checks->uses[next - 1].op == op) {
        return TAPML_OK;
    }
    if (!alloc_grow((void **)&checks->uses, &checks->use_capacity, checks->use_count,
                    sizeof(*checks->uses))) {
        return status_no_memory();
    }
    checks->uses[checks->use_count++] = (struct op_use){op, param, next};
    return table_set(&checks->uses_of, tensor, checks->use_count);
}

// From the last op on, so that each tensor's uses are in the order of the graph.
static tapml_status find_uses(struct op_checks *checks)
{
    for (uint32_t op = checks->graph->op_count; op-- > 0;) {
        const struct graph_op *reader = &checks->graph->ops[op];

        for (uint32_t i = 0; i < reader->op->n_params; i++) {
            const struct graph_argument *argument = &reader->arguments[i];

            if (argument->kind != TAPML_P_TENSOR_IN) {
                continue;
            }
            const struct graph_value *base = value_at(checks, base_of(checks, argument->value));

            if (base->kind == GRAPH_WEIGHT) {
                TAPML_TRY(add_use(checks, base->name, op, i));
            }
        }
    }
    return TAPML_OK;
}

// -- Entries -----------------------------------------------------------------------------------

static tapml_status add_check(struct op_checks *checks, const struct op_check *check)
{
    if (!alloc_grow((void **)&checks->items, &checks->capacity, checks->count,
                    sizeof(*checks->items))) {
        return status_no_memory();
    }
    checks->items[checks->count++] = *check;
    return TAPML_OK;
}

// Adds a comparison of a whole entry with an argument; none where the shapes differ.
static tapml_status add_whole(struct op_checks *checks,
                              const struct checkpoint_tensor *entry,
                              uint32_t op,
                              uint32_t param,
                              int is_hint)
{
    int64_t width = 0;

    if (param == GRAPH_NONE) {
        return TAPML_OK;
    }
    const uint32_t value = checks->graph->ops[op].arguments[param].value;

    if (!has_rows(value_at(checks, value), &width) || width != entry->tensor.shape[1]) {
        return TAPML_OK;
    }
    return add_check(checks, &(struct op_check){.entry = entry,
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
static tapml_status add_head(struct op_checks *checks,
                             const struct checkpoint_tensor *entry,
                             uint32_t op,
                             uint32_t param,
                             int64_t width)
{
    if (width != entry->tensor.shape[1] ||
        (checks->count > 0 && checks->items[checks->count - 1].entry == entry)) {
        return TAPML_OK;
    }
    return add_check(checks,
                     &(struct op_check){.entry = entry,
                                        .op = op,
                                        .param = param,
                                        .value = checks->graph->ops[op].arguments[param].value,
                                        .width = width});
}

static tapml_status add_output(struct op_checks *checks,
                               const struct checkpoint_tensor *entry,
                               uint32_t op,
                               uint32_t weight)
{
    const struct graph_op *maker = &checks->graph->ops[op];
    const uint32_t param = find_output(maker);
    const int64_t all = entry->tensor.shape[1];
    int64_t width = 0, column = 0;

    if (param == GRAPH_NONE) {
        return TAPML_OK;
    }
    if (has_rows_of(value_at(checks, maker->arguments[param].value), AFFINE_ROWS, &width)) {
        return add_head(checks, entry, op, param, width);
    }
    if (!has_rows(value_at(checks, maker->arguments[param].value), &width) || width >= all) {
        return add_whole(checks, entry, op, param, 0);
    }
    const uint32_t part = maker->arguments[weight].value;

    if (!find_columns(value_at(checks, part), value_at(checks, base_of(checks, part)), width,
                      &column) ||
        column > all - width) {
        return TAPML_OK;
    }
    return add_check(checks, &(struct op_check){.entry = entry,
                                                .op = op,
                                                .param = param,
                                                .value = maker->arguments[param].value,
                                                .column = column,
                                                .width = width});
}

// Whether an op reads nothing but a value, once or more often.
static int reads_only(const struct op_checks *checks, const struct graph_op *op, uint32_t value)
{
    uint32_t inputs = 0, reads = 0;

    for (uint32_t i = 0; i < op->op->n_params; i++) {
        const struct graph_argument *argument = &op->arguments[i];

        inputs += argument->kind == TAPML_P_TENSOR_IN;
        reads += argument->kind == TAPML_P_TENSOR_IN && base_of(checks, argument->value) == value;
    }
    return reads > 0 && reads == inputs;
}

// The only op that reads nothing but what `op` gives.
static uint32_t find_follower(const struct op_checks *checks, uint32_t op)
{
    const struct graph *graph = checks->graph;
    const uint32_t output = find_output(&graph->ops[op]);
    uint32_t found = GRAPH_NONE;

    if (output == GRAPH_NONE) {
        return GRAPH_NONE;
    }
    const uint32_t value = base_of(checks, graph->ops[op].arguments[output].value);

    for (uint32_t i = op + 1; i < graph->op_count; i++) {
        if (reads_only(checks, &graph->ops[i], value)) {
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
add_after(struct op_checks *checks, const struct checkpoint_tensor *entry, uint32_t op)
{
    uint32_t last = GRAPH_NONE;

    for (uint32_t next = find_follower(checks, op); next != GRAPH_NONE;
         next = find_follower(checks, next)) {
        last = next;
    }
    return last == GRAPH_NONE
               ? TAPML_OK
               : add_whole(checks, entry, last, find_output(&checks->graph->ops[last]), 1);
}

static tapml_status add_of_tensor(struct op_checks *checks, const struct checkpoint_tensor *entry)
{
    const char *output = behind(entry->name, "op."), *input = behind(entry->name, "in.");
    const char *after = behind(entry->name, "after.");
    const char *tensor = output != NULL ? output : input != NULL ? input : after;
    size_t next = 0;

    if (!table_find(&checks->uses_of, tensor, &next)) {
        return TAPML_OK;
    }
    while (next != 0) {
        const struct op_use *use = &checks->uses[next - 1];

        if (output != NULL) {
            TAPML_TRY(add_output(checks, entry, use->op, use->param));
        } else if (input != NULL) {
            TAPML_TRY(
                add_whole(checks, entry, use->op, find_data(&checks->graph->ops[use->op]), 0));
        } else {
            TAPML_TRY(add_after(checks, entry, use->op));
        }
        next = use->next;
    }
    return TAPML_OK;
}

// The op that puts rows into the state that an attention reads as keys.
static uint32_t find_writer(const struct op_checks *checks, uint32_t reader, uint32_t param)
{
    const struct graph *graph = checks->graph;
    const uint32_t state = base_of(checks, graph->ops[reader].arguments[param].value);

    for (uint32_t op = reader; op-- > 0;) {
        const struct graph_op *writer = &graph->ops[op];

        for (uint32_t i = 0; i < writer->op->n_params; i++) {
            if ((writer->op->params[i]->effects & TAPML_E_STATE_WRITE) != 0 &&
                writer->arguments[i].kind != TAPML_V_NONE &&
                base_of(checks, writer->arguments[i].value) == state) {
                return op;
            }
        }
    }
    return GRAPH_NONE;
}

// The attention with the number `index`: the op that reads queries, and keys from a state.
static uint32_t find_attention(const struct op_checks *checks, long index)
{
    const struct graph *graph = checks->graph;

    for (uint32_t op = 0; op < graph->op_count; op++) {
        if (find_param(&graph->ops[op], "q") != GRAPH_NONE &&
            find_param(&graph->ops[op], "k_state") != GRAPH_NONE && index-- == 0) {
            return op;
        }
    }
    return GRAPH_NONE;
}

// Keys or values: the rows that are put into the state, and the state that the attention reads.
static tapml_status add_state(struct op_checks *checks,
                              const struct checkpoint_tensor *entry,
                              uint32_t reader,
                              uint32_t param)
{
    const struct graph *graph = checks->graph;
    const uint32_t writer = param != GRAPH_NONE ? find_writer(checks, reader, param) : GRAPH_NONE;
    int64_t width = 0;

    if (writer == GRAPH_NONE) {
        return TAPML_OK;
    }
    const uint32_t state = graph->ops[reader].arguments[param].value;

    TAPML_TRY(add_whole(checks, entry, writer, find_data(&graph->ops[writer]), 1));
    if (!has_width(value_at(checks, state), &width) || width != entry->tensor.shape[1]) {
        return TAPML_OK;
    }
    return add_check(checks, &(struct op_check){.entry = entry,
                                                .op = reader,
                                                .param = param,
                                                .value = state,
                                                .width = width,
                                                .is_hint = 1,
                                                .is_state = 1});
}

static tapml_status add_of_attention(struct op_checks *checks,
                                     const struct checkpoint_tensor *entry)
{
    const struct graph *graph = checks->graph;
    char *end = NULL;
    const long index = strtol(behind(entry->name, "attention."), &end, 10);
    const uint32_t op = index >= 0 ? find_attention(checks, index) : GRAPH_NONE;

    if (op == GRAPH_NONE) {
        return TAPML_OK;
    }
    if (strcmp(end, ".query") == 0) {
        return add_whole(checks, entry, op, find_param(&graph->ops[op], "q"), 1);
    }
    if (strcmp(end, ".key") == 0) {
        return add_state(checks, entry, op, find_param(&graph->ops[op], "k_state"));
    }
    return strcmp(end, ".value") == 0
               ? add_state(checks, entry, op, find_param(&graph->ops[op], "v_state"))
               : TAPML_OK;
}

static tapml_status add_entry(struct op_checks *checks, const struct checkpoint_tensor *entry)
{
    const size_t before = checks->count;

    if (entry->tensor.rank != 2 || entry->tensor.shape[0] != checks->tokens ||
        entry->tensor.shape[1] < 1) {
        return status_fail(TAPML_INVALID,
                           "expected.safetensors: tensor '%s': expected rows of %lld tokens",
                           entry->name, (long long)checks->tokens);
    }
    TAPML_TRY(behind(entry->name, "attention.") != NULL ? add_of_attention(checks, entry)
                                                        : add_of_tensor(checks, entry));
    checks->entries++;
    checks->unused += checks->count == before;
    return TAPML_OK;
}

// -- Life cycle --------------------------------------------------------------------------------

// Sorts the comparisons by op, those of one op in the order of the entries.
static tapml_status sort(struct op_checks *checks)
{
    const uint32_t ops = checks->graph->op_count;
    size_t *begins = alloc_array((size_t)ops + 1, sizeof(*begins));
    struct op_check *sorted = alloc_array(checks->count + 1, sizeof(*sorted));

    checks->begins = begins;
    if (begins == NULL || sorted == NULL) {
        alloc_free(sorted);
        return status_no_memory();
    }
    for (size_t i = 0; i < checks->count; i++) {
        begins[checks->items[i].op + 1]++;
    }
    for (uint32_t op = 0; op < ops; op++) {
        begins[op + 1] += begins[op];
    }
    for (size_t i = 0; i < checks->count; i++) {
        sorted[begins[checks->items[i].op]++] = checks->items[i];
    }
    for (uint32_t op = ops; op > 0; op--) { // Each has become the next one.
        begins[op] = begins[op - 1];
    }
    begins[0] = 0;
    alloc_free(checks->items);
    checks->items = sorted;
    return TAPML_OK;
}

static tapml_status prepare(struct op_checks *checks, const struct checkpoint *expected)
{
    TAPML_TRY(find_uses(checks));
    for (size_t i = 0; i < checkpoint_count(expected); i++) {
        if (op_checks_is_entry(checkpoint_at(expected, i)->name)) {
            TAPML_TRY(add_entry(checks, checkpoint_at(expected, i)));
        }
    }
    return sort(checks);
}

tapml_status op_checks_create(const struct graph *graph,
                              const struct checkpoint *expected,
                              int64_t tokens,
                              struct op_checks **out_checks)
{
    struct op_checks *checks = alloc_new(sizeof(*checks));

    if (checks == NULL) {
        return status_no_memory();
    }
    checks->graph = graph;
    checks->tokens = tokens;
    table_init(&checks->uses_of);
    const tapml_status status = prepare(checks, expected);

    if (status != TAPML_OK) {
        op_checks_destroy(checks);
        return status;
    }
    *out_checks = checks;
    return TAPML_OK;
}

void op_checks_destroy(struct op_checks *checks)
{
    if (checks != NULL) {
        table_release(&checks->uses_of);
        alloc_free(checks->uses);
        alloc_free(checks->items);
        alloc_free(checks->begins);
        alloc_free(checks);
    }
}

const struct op_check *op_checks_of(const struct op_checks *checks, uint32_t op, size_t *out_count)
{
    *out_count = checks->begins[op + 1] - checks->begins[op];
    return checks->items + checks->begins[op];
}

size_t op_checks_entries(const struct op_checks *checks, size_t *out_unused)
{
    *out_unused = checks->unused;
    return checks->entries;
}
