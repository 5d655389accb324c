// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/changes_ops.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report_markup.h"

#include <math.h>
#include <string.h>

// Rows on their way.
struct counting {
    const struct history *history;
    struct changes_ops *ops;
    struct table index_of; // "target\x1fop" to the place of the row.
    struct text name;
    size_t *op_of; // The row of each case.
    double *logs;  // As many as there are cases.
};

// -- Rows --------------------------------------------------------------------------------------

static tapml_status
add_row(struct counting *counting, const char *target, const char *op, size_t *out_index)
{
    struct changes_ops *ops = counting->ops;
    const size_t runs = counting->history->run_count;
    void *items = ops->items;

    if (!alloc_grow(&items, &ops->capacity, ops->count, sizeof(*ops->items))) {
        return status_no_memory();
    }
    ops->items = items;
    struct changes_op row = {.target = target, .op = op, .change = {.ratio = NAN, .noise = NAN}};

    row.times.shifts = arena_array(ops->arena, runs, sizeof(double));
    row.times.errors = arena_array(ops->arena, runs, sizeof(double));
    *out_index = ops->count;
    ops->items[ops->count++] = row;
    return row.times.shifts != NULL && row.times.errors != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status
find_row(struct counting *counting, const char *target, const char *op, size_t *out_index)
{
    text_clear(&counting->name);
    text_format(&counting->name, "%s\x1f%s", target, op);
    TAPML_TRY(text_status(&counting->name));
    if (table_find(&counting->index_of, counting->name.data, out_index)) {
        return TAPML_OK;
    }
    TAPML_TRY(add_row(counting, target, op, out_index));
    return table_set(&counting->index_of, counting->name.data, *out_index);
}

static tapml_status count_case(struct counting *counting, size_t index)
{
    const struct history *history = counting->history;
    const struct history_case *one = &history->cases[index];
    const struct changes_flip flip = changes_flip_of(history, index);
    size_t run = 0, whole = 0, op = 0;
    const json_t *item = history_before(history, index, history->run_count, &run);
    const int has_both = one->items[history->run_count - 1] != NULL &&
                         history_before(history, index, history->run_count - 1, &run) != NULL;

    TAPML_TRY(find_row(counting, one->target, "", &whole));
    TAPML_TRY(find_row(counting, one->target, report_markup_string(item, "op"), &op));
    counting->op_of[index] = op;
    const size_t rows[] = {whole, op};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct changes_op *row = &counting->ops->items[rows[i]];

        row->cases += has_both;
        row->flips[flip.kind]++;
        row->crept += changes_flip_creep(history, index) >= CHANGES_OPS_CREEP;
    }
    return TAPML_OK;
}

// -- Times -------------------------------------------------------------------------------------

static double time_of(const struct counting *counting, size_t index, size_t run)
{
    return (double)report_markup_count(counting->history->cases[index].items[run], "time_ns");
}

// The first run that has times of the op.
static size_t find_base(const struct counting *counting, size_t op)
{
    for (size_t run = 0; run < counting->history->run_count; run++) {
        for (size_t i = 0; i < counting->history->count; i++) {
            if (counting->op_of[i] == op && time_of(counting, i, run) > 0) {
                return run;
            }
        }
    }
    return 0;
}

static void time_op(struct counting *counting, size_t op)
{
    struct time_noise_group *times = &counting->ops->items[op].times;
    const size_t base = find_base(counting, op);

    for (size_t run = 0; run < counting->history->run_count; run++) {
        times->cases = 0;
        for (size_t i = 0; i < counting->history->count; i++) {
            const double was = time_of(counting, i, base), is = time_of(counting, i, run);

            if (counting->op_of[i] == op && was > 0 && is > 0) {
                counting->logs[times->cases++] = log(is / was);
            }
        }
        time_noise_shift(counting->logs, times->cases, &times->shifts[run], &times->errors[run]);
    }
}

// The time of a call of an op on the source, as the report has it in the list `ops` of each target;
// 0 if it has none.
static double source_time(const json_t *report, const char *op)
{
    const json_t *target = json_array_get(json_object_get(report, "targets"), 0);
    const json_t *ops = json_object_get(target, "ops");

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *item = json_array_get(ops, i);
        const int64_t calls = report_markup_count(item, "source_calls");

        if (calls > 0 && strcmp(report_markup_string(item, "op"), op) == 0) {
            return (double)report_markup_count(item, "source_ns") / (double)calls;
        }
    }
    return 0;
}

// How far the source's calls have moved since the first run: the median of the ops.
static double time_source(struct counting *counting, size_t run)
{
    const json_t *first = counting->history->runs[0].report;
    const json_t *target = json_array_get(json_object_get(first, "targets"), 0);
    const json_t *ops = json_object_get(target, "ops");
    double *logs = alloc_array(json_array_size(ops) + 1, sizeof(*logs));
    size_t count = 0;

    for (size_t i = 0; logs != NULL && i < json_array_size(ops); i++) {
        const char *op = report_markup_string(json_array_get(ops, i), "op");
        const double was = source_time(first, op),
                     is = source_time(counting->history->runs[run].report, op);

        if (was > 0 && is > 0) {
            logs[count++] = log(is / was);
        }
    }
    const double median = logs != NULL ? time_noise_median(logs, count) : (double)NAN;

    alloc_free(logs);
    return median;
}

// The ops of one target, whose whole is the row `whole`.
static tapml_status judge_target(struct counting *counting, size_t whole)
{
    struct changes_ops *ops = counting->ops;
    struct time_noise_group *groups = arena_array(ops->arena, ops->count, sizeof(*groups));
    struct time_noise_change *changes = arena_array(ops->arena, ops->count, sizeof(*changes));
    const char *target = ops->items[whole].target;
    size_t count = 0;

    if (groups == NULL || changes == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < ops->count; i++) {
        if (i != whole && strcmp(ops->items[i].target, target) == 0) {
            groups[count++] = ops->items[i].times;
        }
    }
    TAPML_TRY(time_noise_judge(groups, count, ops->controls, counting->history->run_count, changes,
                               &ops->items[whole].change));
    count = 0;
    for (size_t i = 0; i < ops->count; i++) {
        if (i != whole && strcmp(ops->items[i].target, target) == 0) {
            ops->items[i].change = changes[count++];
        }
    }
    return TAPML_OK;
}

static tapml_status judge_times(struct counting *counting)
{
    struct changes_ops *ops = counting->ops;

    ops->controls = arena_array(ops->arena, counting->history->run_count, sizeof(*ops->controls));
    if (ops->controls == NULL) {
        return status_no_memory();
    }
    for (size_t run = 0; run < counting->history->run_count; run++) {
        ops->controls[run] = time_source(counting, run);
    }
    for (size_t i = 0; i < ops->count; i++) {
        if (*ops->items[i].op != '\0') {
            time_op(counting, i);
        }
    }
    for (size_t i = 0; i < ops->count; i++) {
        if (*ops->items[i].op == '\0') {
            TAPML_TRY(judge_target(counting, i));
        }
    }
    return TAPML_OK;
}

static tapml_status make(struct counting *counting)
{
    const size_t count = counting->history->count;

    counting->op_of = alloc_array(count + 1, sizeof(*counting->op_of));
    counting->logs = alloc_array(count + 1, sizeof(*counting->logs));
    if (counting->ops->arena == NULL || counting->op_of == NULL || counting->logs == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(count_case(counting, i));
    }
    return judge_times(counting);
}

tapml_status changes_ops_make(const struct history *history, struct changes_ops *out_ops)
{
    struct changes_ops ops = {.arena = arena_create()};
    struct counting counting = {.history = history, .ops = &ops};

    table_init(&counting.index_of);
    text_init(&counting.name);
    const tapml_status status = make(&counting);

    text_release(&counting.name);
    table_release(&counting.index_of);
    alloc_free(counting.op_of);
    alloc_free(counting.logs);
    if (status == TAPML_OK) {
        *out_ops = ops;
    } else {
        changes_ops_release(&ops);
    }
    return status;
}

void changes_ops_release(struct changes_ops *ops)
{
    arena_destroy(ops->arena);
    alloc_free(ops->items);
    *ops = (struct changes_ops){.count = 0};
}
