// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/changes.h"

#include "base/arena.h"
#include "base/json_file.h"
#include "base/table.h"
#include "report/changes_ops.h"
#include "report/report_maker.h"
#include "report/report_markup.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double log_ratio(double log_)
{
    return isnan(log_) ? log_ : exp(log_);
}

static void put_texts(struct report_maker *part, const json_t *item, const char *const *names)
{
    for (; *names != NULL; names++) {
        report_maker_text(part, *names, report_markup_string(item, *names));
    }
}

// -- Cases -------------------------------------------------------------------------------------

static void begin_case(struct report_maker *part, const struct history *history, size_t index)
{
    static const char *const names[] = {"op",     "instance", "phase", "shape_class",
                                        "source", "label",    "key",   NULL};
    size_t run = 0;

    report_maker_text(part, "target", history->cases[index].target);
    put_texts(part, history_before(history, index, history->run_count, &run), names);
}

static void put_verdicts(struct report_maker *part, const struct history *history, size_t index)
{
    json_t *verdicts = json_array(), *margins = json_array();

    for (size_t run = 0; run < history->run_count; run++) {
        const json_t *item = history->cases[index].items[run];
        const double margin = report_markup_number(item, "margin");

        part->failed |=
            json_array_append_new(
                verdicts, item != NULL ? report_maker_string(report_markup_string(item, "verdict"))
                                       : json_null()) != 0;
        part->failed |= json_array_append_new(margins, report_maker_margin(margin)) != 0;
    }
    report_maker_put(part, "verdicts", verdicts);
    report_maker_put(part, "margins", margins);
}

static void add_flip(struct report_maker *made, const struct history *history, size_t index)
{
    const struct changes_flip flip = changes_flip_of(history, index);
    const json_t *item = history->cases[index].items[history->run_count - 1];
    struct report_maker part = {.failed = 0};

    if (flip.kind == CHANGES_STEADY || flip.kind == CHANGES_GONE) {
        return;
    }
    part = report_maker_begin();
    begin_case(&part, history, index);
    report_maker_text(&part, "change", changes_flip_name(flip.kind));
    put_verdicts(&part, history, index);
    report_maker_count(&part, "since", flip.since);
    report_maker_put(&part, "causes", changes_flip_causes(history, index, &flip));
    report_maker_put(&part, "one_content",
                     json_boolean(changes_flip_has_one_content(history, index)));
    report_maker_text(&part, "reason", report_markup_string(item, "reason"));
    report_maker_append(made, json_object_get(made->object, "flips"), &part);
}

struct creep {
    size_t index;
    double part; // Of the room.
};

static int order_creeps(const void *left, const void *right)
{
    const struct creep *a = left, *b = right;

    if (a->part != b->part) {
        return a->part > b->part ? -1 : 1;
    }
    return a->index < b->index ? -1 : 1;
}

// The margins that have lost most room first.
static tapml_status
put_creeps(struct report_maker *made, const struct history *history, struct arena *arena)
{
    struct creep *creeps = arena_array(arena, history->count + 1, sizeof(*creeps));
    json_t *array = json_array();
    size_t count = 0;

    report_maker_put(made, "margins", array);
    if (creeps == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < history->count; i++) {
        const double part = changes_flip_creep(history, i);

        if (part >= CHANGES_OPS_CREEP) {
            creeps[count++] = (struct creep){.index = i, .part = part};
        }
    }
    qsort(creeps, count, sizeof(*creeps), order_creeps);
    for (size_t i = 0; i < count; i++) {
        struct report_maker part = report_maker_begin();

        begin_case(&part, history, creeps[i].index);
        put_verdicts(&part, history, creeps[i].index);
        report_maker_put(&part, "lost_room", report_maker_number(creeps[i].part));
        report_maker_append(made, array, &part);
    }
    return TAPML_OK;
}

// -- Ops ---------------------------------------------------------------------------------------

static void put_time(struct report_maker *part, const struct changes_op *op)
{
    struct report_maker time = report_maker_begin();

    report_maker_text(&time, "move", time_noise_move_name(op->change.move));
    report_maker_put(&time, "ratio", report_maker_margin(op->change.ratio));
    report_maker_put(&time, "noise", report_maker_margin(op->change.noise));
    report_maker_part(part, "time", &time);
}

static void add_op(struct report_maker *made, const struct changes_op *op)
{
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "target", op->target);
    report_maker_text(&part, "op", op->op);
    report_maker_count(&part, "cases", op->cases);
    for (size_t kind = CHANGES_STEADY + 1; kind < CHANGES_FLIPS; kind++) {
        report_maker_count(&part, changes_flip_name((enum changes_flip_kind)kind), op->flips[kind]);
    }
    report_maker_count(&part, "crept", op->crept);
    put_time(&part, op);
    report_maker_append(made, json_object_get(made->object, "ops"), &part);
}

// -- Failures ----------------------------------------------------------------------------------

static void add_failure(struct report_maker *made, const struct failure *failure)
{
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "state", failures_state_name(failure->state));
    report_maker_text(&part, "target", failure->target);
    report_maker_text(&part, "device", failure->device);
    report_maker_text(&part, "device_name", failure->device_name);
    report_maker_text(&part, "driver", failure->driver);
    report_maker_text(&part, "op", failure->op);
    report_maker_text(&part, "instance", failure->instance);
    report_maker_text(&part, "phase", failure->phase);
    report_maker_text(&part, "shape_class", failure->shape_class);
    report_maker_text(&part, "source", failure->source);
    report_maker_text(&part, "label", failure->label);
    report_maker_text(&part, "key", failure->key);
    report_maker_text(&part, "verdict", failure->verdict);
    report_maker_text(&part, "reason", failure->reason);
    if (failure->entry != NULL) {
        report_maker_text(&part, "entry", failure->entry);
        report_maker_text(&part, "known", failure->known);
    }
    report_maker_append(made, json_object_get(made->object, "failures"), &part);
}

static void put_baseline(struct report_maker *made, const struct changes_options *options)
{
    struct report_maker part = {.failed = 0};
    json_t *entries = json_array();

    if (options->baseline == NULL) {
        json_decref(entries);
        return;
    }
    part = report_maker_begin();
    report_maker_text(&part, "file", options->baseline_path);
    report_maker_put(&part, "entries", entries);
    for (size_t i = 0; i < options->baseline->count; i++) {
        const struct baseline_entry *entry = &options->baseline->entries[i];
        struct report_maker row = report_maker_begin();

        report_maker_text(&row, "name", entry->name);
        report_maker_text(&row, "state", baseline_entry_state(entry));
        report_maker_text(&row, "op", entry->op);
        report_maker_text(&row, "reason", entry->reason);
        report_maker_text(&row, "expires", entry->expires);
        report_maker_count(&row, "judged", entry->judged);
        report_maker_count(&row, "failed", entry->failed);
        report_maker_append(&part, entries, &row);
    }
    report_maker_part(made, "baseline", &part);
}

// What the last run has, settled by the run before it or by the baseline.
static tapml_status settle(const struct changes_options *options, struct failure_list *io_list)
{
    struct failure_list earlier;

    if (options->count > 1) {
        TAPML_TRY(failures_read(options->runs[options->count - 2].report, &earlier));
        const tapml_status status = failures_compare(&earlier, io_list);

        failures_release(&earlier);
        TAPML_TRY(status);
    }
    if (options->baseline != NULL) {
        baseline_apply(options->baseline, io_list);
    }
    return TAPML_OK;
}

static void put_list(struct report_maker *made, const struct failure_list *list)
{
    static const enum failure_state order[] = {FAILURE_NEW, FAILURE_EXPIRED, FAILURE_BEFORE,
                                               FAILURE_KNOWN};

    for (size_t state = 0; state < sizeof(order) / sizeof(*order); state++) {
        for (size_t i = 0; i < list->count; i++) {
            if (list->items[i].is_bad && list->items[i].state == order[state]) {
                add_failure(made, &list->items[i]);
            }
        }
    }
}

static tapml_status put_failures(struct report_maker *made, const struct changes_options *options)
{
    struct failure_list list;

    TAPML_TRY(failures_read(options->runs[options->count - 1].report, &list));
    const tapml_status status = settle(options, &list);

    if (status == TAPML_OK) {
        struct report_maker counts = report_maker_begin();

        put_list(made, &list);
        for (int state = FAILURE_NEW; state <= FAILURE_EXPIRED; state++) {
            report_maker_count(&counts, failures_state_name((enum failure_state)state),
                               failures_count(&list, (enum failure_state)state));
        }
        report_maker_part(made, "failed", &counts);
        put_baseline(made, options);
    }
    failures_release(&list);
    return status;
}

// -- Groups ------------------------------------------------------------------------------------

// The members of an item that make it one of a group.
static void print_members(const json_t *item, const char *const *names, struct text *out)
{
    text_clear(out);
    for (; *names != NULL; names++) {
        const json_t *value = json_object_get(item, *names);

        if (value != NULL) {
            json_file_print(out, value, JSON_ENCODE_ANY);
        }
        text_append(out, "\x1f");
    }
}

static void count_in(struct report_maker *made, json_t *groups, size_t index)
{
    json_t *group = json_array_get(groups, index);

    made->failed |= json_object_set_new(group, "count",
                                        json_integer(report_markup_count(group, "count") + 1)) != 0;
}

// The items of a list that have some members in common, as the first of them with their number:
// a driver that breaks an op breaks all of its cases.
static tapml_status put_groups(struct report_maker *made,
                               const char *list,
                               const char *key,
                               const char *const *names,
                               struct table *index_of)
{
    const json_t *items = json_object_get(made->object, list);
    json_t *groups = json_array();
    tapml_status status = TAPML_OK;
    struct text name;

    report_maker_put(made, key, groups);
    text_init(&name);
    for (size_t i = 0; status == TAPML_OK && i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        size_t index = json_array_size(groups);

        print_members(item, names, &name);
        status = text_status(&name);
        if (status == TAPML_OK && !table_find(index_of, name.data, &index)) {
            status = table_set(index_of, name.data, index);
            made->failed |=
                json_array_append_new(groups, json_copy((json_t *)(uintptr_t)item)) != 0;
        }
        if (status == TAPML_OK) {
            count_in(made, groups, index);
        }
    }
    text_release(&name);
    return status;
}

static tapml_status put_all_groups(struct report_maker *made)
{
    static const char *const of_flips[] = {"target",   "op",     "change", "since",
                                           "verdicts", "causes", NULL};
    static const char *const of_failures[] = {"state", "target", "op", "entry", NULL};
    struct table flips, failures;

    table_init(&flips);
    table_init(&failures);
    tapml_status status = put_groups(made, "flips", "flip_groups", of_flips, &flips);

    if (status == TAPML_OK) {
        status = put_groups(made, "failures", "failure_groups", of_failures, &failures);
    }
    table_release(&flips);
    table_release(&failures);
    return status;
}

// -- The whole ---------------------------------------------------------------------------------

static void put_runs(struct report_maker *made,
                     const struct changes_options *options,
                     const struct changes_ops *ops)
{
    json_t *array = json_array();

    report_maker_put(made, "runs", array);
    for (size_t i = 0; i < options->count; i++) {
        struct report_maker part = report_maker_begin();

        comparison_put_side(&part, &options->runs[i]);
        report_maker_put(&part, "source_time", report_maker_margin(log_ratio(ops->controls[i])));
        report_maker_append(made, array, &part);
    }
}

static tapml_status put_all(struct report_maker *made,
                            const struct changes_options *options,
                            const struct history *history,
                            const struct changes_ops *ops)
{
    put_runs(made, options, ops);
    report_maker_put(made, "ops", json_array());
    for (size_t i = 0; i < ops->count; i++) {
        add_op(made, &ops->items[i]);
    }
    report_maker_put(made, "flips", json_array());
    for (size_t i = 0; i < history->count; i++) {
        add_flip(made, history, i);
    }
    TAPML_TRY(put_creeps(made, history, history->arena));
    report_maker_put(made, "failures", json_array());
    TAPML_TRY(put_failures(made, options));
    TAPML_TRY(put_all_groups(made));
    return report_maker_finish(made);
}

tapml_status changes_create(const struct changes_options *options, json_t **out_changes)
{
    struct report_maker made = report_maker_begin();
    struct history history;
    struct changes_ops ops;
    tapml_status status = history_read(options->runs, options->count, &history);

    if (status == TAPML_OK) {
        status = changes_ops_make(&history, &ops);
        if (status == TAPML_OK) {
            status = put_all(&made, options, &history, &ops);
            changes_ops_release(&ops);
        }
        history_release(&history);
    }
    if (status == TAPML_OK) {
        *out_changes = made.object;
    } else {
        json_decref(made.object);
    }
    return status;
}

int changes_is_worse(const json_t *changes, int is_timed)
{
    const json_t *failed = json_object_get(changes, "failed");
    const json_t *ops = json_object_get(changes, "ops");
    int is_worse =
        report_markup_count(failed, "new") > 0 || report_markup_count(failed, "expired") > 0;

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *op = json_array_get(ops, i);
        const char *move = report_markup_string(json_object_get(op, "time"), "move");

        is_worse |= report_markup_count(op, "lost") > 0;
        is_worse |= is_timed && strcmp(move, "slower") == 0;
    }
    return is_worse;
}

int changes_has_flips(const json_t *changes)
{
    return json_array_size(json_object_get(changes, "flips")) > 0;
}
