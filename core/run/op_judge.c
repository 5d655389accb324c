// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/op_judge.h"

#include "base/alloc.h"
#include "base/table.h"
#include "run/expected.h"
#include "run/op_checks.h"
#include "run/op_suspects.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct op_judge {
    struct op_judge_options options;
    struct table op_of; // Instance to op.
    struct op_checks *checks;
    uint8_t *known; // Of each value.
    int64_t position;
    double worst;
    const char *worst_name;
};

static tapml_status prepare(struct op_judge *judge)
{
    const struct graph *graph = judge->options.graph;

    judge->known = alloc_array((size_t)graph->value_count + 1, sizeof(*judge->known));
    if (judge->known == NULL) {
        return status_no_memory();
    }
    for (uint32_t op = 0; op < graph->op_count; op++) {
        TAPML_TRY(table_set(&judge->op_of, graph->ops[op].instance, op));
    }
    return op_checks_create(graph, judge->options.expected, judge->options.tokens, &judge->checks);
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
        op_checks_destroy(judge->checks);
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
    size_t count = 0;
    const struct op_check *checks = op_checks_of(judge->checks, op, &count);

    for (size_t i = 0; i < count; i++) {
        if (checks[i].param == param) {
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
    const uint32_t base = judge->options.graph->values[value].base;

    if (!agrees) {
        judge->known[base] |= is_hint ? OP_SUSPECTS_HINT_DIVERGES : OP_SUSPECTS_DIVERGES;
    } else if (is_all) {
        judge->known[base] |= is_hint ? OP_SUSPECTS_HINT_AGREES : OP_SUSPECTS_AGREES;
    }
}

void op_judge_note(struct op_judge *judge, uint32_t value, int agrees)
{
    note(judge, value, agrees, 0, op_checks_is_whole(judge->options.graph, value));
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
         check->is_state || op_checks_is_whole(judge->options.graph, check->value));
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
    size_t count = 0;
    const struct op_check *checks = op_checks_of(judge->checks, op, &count);

    for (size_t i = 0; i < count; i++) {
        const struct seen_rows seen = rows_of(judge, &checks[i], &arguments[checks[i].param]);

        if (seen.data != NULL && seen.count > 0 &&
            seen.position + seen.count <= judge->options.tokens) {
            TAPML_TRY(compare_rows(judge, &checks[i], &seen));
        }
    }
    return TAPML_OK;
}

struct op_judge_counts op_judge_counts(const struct op_judge *judge)
{
    struct op_judge_counts counts = {.worst = judge->worst, .worst_name = judge->worst_name};

    counts.entries = op_checks_entries(judge->checks, &counts.unused);
    return counts;
}

tapml_status op_judge_print(const struct op_judge *judge, struct text *out_text)
{
    return op_suspects_print(judge->options.graph, judge->known, out_text);
}
