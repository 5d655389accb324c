// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_target.h"

#include "base/alloc.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report_common.h"
#include "report/report_declared.h"
#include "report/report_driver.h"
#include "report/report_grid.h"
#include "report/report_invariance.h"
#include "report/report_items.h"
#include "report/report_maker.h"
#include "report/report_measures.h"
#include "report/report_selection.h"
#include "run/run_metadata.h"
#include "store/metadata.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// -- One target --------------------------------------------------------------------------------

struct gather {
    const struct report_rows *rows;
    struct report_lines lines;
    struct report_instance *instances; // In the order of the graph.
    struct table op_of;                // Instance to its number.
    uint64_t *source_ns;               // One for each line: the kept cases on the source.
    char not_judged[128];              // Why an instance is not, if the driver is wrong.
    struct report_uncovered *uncovered;
    size_t uncovered_count, uncovered_capacity;
    struct report_maker made;
    tapml_status status; // The first failure to read a key.
};

static const char *state_of(const struct gather *gather, size_t index)
{
    const struct report_instance *item = &gather->instances[index];
    const struct blame_row *blame =
        report_rows_blame(gather->rows, gather->rows->instances[index].instance);

    switch (gather->rows->places[index]) {
    case REPORT_BLAMED:
        break;
    case REPORT_UNSUPPORTED:
        return "unsupported";
    case REPORT_NOT_JUDGED:
        return "not judged";
    case REPORT_UNWANTED:
        return "source";
    case REPORT_ON_TARGET:
        return item->cases == item->not_compared ? "uncompared" : "right";
    }
    return strcmp(blame->kind, BLAME_ALONE) == 0 ? "wrong" : "together";
}

static void tally_verdicts(struct gather *gather)
{
    for (size_t i = 0; i < gather->rows->verdicts.count; i++) {
        const struct verdict *verdict = &gather->rows->verdicts.items[i];
        size_t op = 0;

        if (!table_find(&gather->op_of, verdict->instance, &op)) {
            continue;
        }
        struct report_instance *item = &gather->instances[op];

        item->cases++;
        item->failed += verdict_count_failed(verdict, 1);
        item->not_compared += verdict->kind == VERDICT_UNSUPPORTED ||
                              verdict->kind == VERDICT_SKIPPED || verdict->kind == VERDICT_STALE;
        item->replay_ns += verdict->time_ns;
        if (!isnan(verdict->margin) && verdict->kind != VERDICT_STALE) {
            item->margin =
                isnan(item->margin) ? verdict->margin : fmax(item->margin, verdict->margin);
        }
    }
}

static void put_noted(struct gather *gather, const char *name, const char *prefix)
{
    char key[128];

    (void)snprintf(key, sizeof(key), "%s%.100s", prefix, gather->rows->target.name);
    report_maker_text(&gather->made, name, metadata_get(gather->rows->store, key));
}

static void put_device(struct gather *gather)
{
    const struct target_row *target = &gather->rows->target;

    report_maker_text(&gather->made, "name", target->name);
    report_maker_text(&gather->made, "verdict", report_rows_verdict(gather->rows));
    report_maker_text(&gather->made, "backend", target->backend);
    report_maker_text(&gather->made, "component", target->component);
    report_maker_text(&gather->made, "device", target->device);
    report_maker_text(&gather->made, "device_name", target->device_name);
    report_maker_text(&gather->made, "driver", target->driver);
    report_maker_text(&gather->made, "plugin", target->plugin);
    report_maker_text(&gather->made, "plugin_version", target->plugin_version);
    report_maker_text(&gather->made, "build", target->build);
    report_maker_text(&gather->made, "activations", target->activations);
    report_maker_lines(&gather->made, "faults", target->faults);
    put_noted(gather, "observers", RUN_METADATA_OBSERVERS);
    put_noted(gather, "ring", RUN_METADATA_RING);
    put_noted(gather, "tuning", RUN_METADATA_TUNING);
    report_maker_lines(&gather->made, "goal", target->goal);
    report_maker_lines(&gather->made, "plan", gather->rows->offload.plan);
    report_maker_put(&gather->made, "finished_s", json_integer(gather->rows->offload.finished_s));
}

static size_t count_kind(const struct verdict *verdicts, size_t count, enum verdict_kind kind)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        found += verdicts[i].kind == kind;
    }
    return found;
}

static void put_counts(struct gather *gather)
{
    const struct report_rows *rows = gather->rows;
    const struct verdict_list *list = &rows->verdicts;
    struct report_maker part = report_maker_begin();

    report_maker_count(&part, "instances", rows->instance_count);
    report_maker_count(&part, "wanted", rows->wanted);
    report_maker_count(&part, "moved", rows->moved);
    report_maker_count(&part, "blamed", rows->blamed);
    report_maker_count(&part, "unsupported_instances", rows->unsupported);
    report_maker_count(&part, "cases", list->count);
    report_maker_count(&part, "passed", count_kind(list->items, list->count, VERDICT_PASS));
    report_maker_count(&part, "failed", count_kind(list->items, list->count, VERDICT_FAIL));
    report_maker_count(&part, "errors", count_kind(list->items, list->count, VERDICT_ERROR));
    report_maker_count(&part, "unsupported",
                       count_kind(list->items, list->count, VERDICT_UNSUPPORTED));
    report_maker_count(&part, "skipped", count_kind(list->items, list->count, VERDICT_SKIPPED));
    report_maker_count(&part, "not_run", rows->not_run);
    report_maker_count(&part, "stale", count_kind(list->items, list->count, VERDICT_STALE));
    report_maker_count(&part, "derived", list->derived_count);
    report_maker_count(&part, "derived_failed",
                       verdict_count_failed(list->derived, list->derived_count));
    report_maker_count(&part, "derived_not_judged",
                       count_kind(list->derived, list->derived_count, VERDICT_SKIPPED) +
                           count_kind(list->derived, list->derived_count, VERDICT_UNSUPPORTED));
    report_maker_part(&gather->made, "counts", &part);
}

static void put_end_to_end(struct gather *gather)
{
    const struct offloaded_row *offload = &gather->rows->offload;
    struct report_maker part = report_maker_begin();

    report_maker_put(&part, "agrees",
                     gather->rows->has_model ? json_boolean(offload->agrees) : json_null());
    report_maker_put(&part, "margin", report_maker_margin(offload->margin));
    report_maker_text(&part, "sentence", offload->sentence);
    report_maker_text(&part, "unexplained", offload->unexplained);
    report_maker_part(&gather->made, "end_to_end", &part);
}

// What it took to find what is blamed, and how sure that is.
static void put_search(struct gather *gather)
{
    const struct offloaded_row *offload = &gather->rows->offload;
    const struct offloaded_cost *cost = &offload->cost;
    struct report_maker part = report_maker_begin();

    report_maker_count(&part, "carving", cost->carving);
    report_maker_count(&part, "moves", cost->moves);
    report_maker_count(&part, "replays", cost->replays);
    report_maker_count(&part, "judged_runs", cost->looks);
    report_maker_count(&part, "plans", cost->search);
    report_maker_count(&part, "repeats", cost->repeats);
    report_maker_count(&part, "proof", cost->proof);
    report_maker_count(&part, "judged_anyway", cost->watched);
    report_maker_count(&part, "calibration", cost->calibrating);
    report_maker_count(&part, "checks", offload->checks);
    report_maker_count(&part, "proof_runs", offload->proof_runs);
    report_maker_put(&part, "proof_miss", report_maker_number(offload->proof_miss));
    report_maker_part(&gather->made, "search", &part);
}

// -- Ops ---------------------------------------------------------------------------------------

static void put_ops(struct gather *gather)
{
    json_t *array = json_array();

    for (size_t i = 0; i < gather->lines.count; i++) {
        const struct report_line *line = &gather->lines.items[i];
        const struct timing_row *timed = report_rows_time(gather->rows, line->op_name);
        const struct report_op op = {.line = *line,
                                     .margin = line->cases > 0 ? line->margin : NAN,
                                     .verdicts = &gather->rows->verdicts,
                                     .cases_source_ns = gather->source_ns[i],
                                     .timed = timed != NULL ? *timed : (struct timing_row){0}};
        const struct report_maker part = report_list_make(&report_items_ops, &op);

        report_maker_append(&gather->made, array, &part);
    }
    report_maker_put(&gather->made, "ops", array);
}

// -- Instances ---------------------------------------------------------------------------------

// What the cases say is known; this is what follows from it.
static void describe_instances(struct gather *gather)
{
    const struct report_rows *rows = gather->rows;

    for (size_t i = 0; i < rows->instance_count; i++) {
        struct report_instance *item = &gather->instances[i];

        item->instance = rows->instances[i].instance;
        item->op = rows->instances[i].op;
        item->state = state_of(gather, i);
        if (rows->places[i] == REPORT_UNSUPPORTED) {
            item->reason = report_rows_blame(rows, item->instance)->reason;
        } else if (rows->places[i] == REPORT_NOT_JUDGED) {
            item->reason = gather->not_judged;
        }
    }
}

static void put_instances(struct gather *gather)
{
    json_t *array = json_array();

    for (size_t i = 0; i < gather->rows->instance_count; i++) {
        const struct report_maker part =
            report_list_make(&report_items_instances, &gather->instances[i]);

        report_maker_append(&gather->made, array, &part);
    }
    report_maker_put(&gather->made, "instances", array);
}

static void put_grid(struct gather *gather)
{
    const struct report_rows *rows = gather->rows;
    struct report_grid_item *items = alloc_array(rows->instance_count + 1, sizeof(*items));

    if (items == NULL) {
        gather->made.failed = 1;
        return;
    }
    for (size_t i = 0; i < rows->instance_count; i++) {
        const struct report_instance *item = &gather->instances[i];

        items[i] = (struct report_grid_item){.instance = item->instance,
                                             .op = item->op,
                                             .state = item->state,
                                             .margin = item->margin};
    }
    const struct report_maker grid = report_grid_make(items, rows->instance_count, &gather->lines);

    report_maker_part(&gather->made, "grid", &grid);
    alloc_free(items);
}

// -- What is blamed -------------------------------------------------------------------------------

static struct report_maker make_case(struct gather *gather, struct report_case *item)
{
    const struct verdict *verdict = &item->verdict;
    char key[CARVED_KEY] = "";

    if (gather->status == TAPML_OK) {
        gather->status = carved_find_key(gather->rows->store, verdict->case_id, key);
    }
    if (verdict->result != NULL) {
        item->result = *verdict->result;
    }
    item->name = verdict_name(verdict->kind);
    item->freshness = verdict_freshness_name(verdict->freshness);
    item->key = key;
    return report_list_make(&report_items_cases, item);
}

// The same with the prompt and the step that it comes from.
static struct report_maker make_shown_case(struct gather *gather, const struct verdict *verdict)
{
    struct report_case item = {.verdict = *verdict};

    if (gather->status == TAPML_OK) {
        gather->status = carved_find_origin(gather->rows->store, verdict->case_id, &item.origin,
                                            &item.has_origin);
    }
    return make_case(gather, &item);
}

// Failed beats lost beats the rest, which passed when it was replayed. A stale result still shows
// what was wrong.
static int rank_of(const struct verdict *verdict)
{
    const enum verdict_kind kind =
        verdict->kind == VERDICT_STALE ? verdict->measured_kind : verdict->kind;

    return kind == VERDICT_FAIL ? 2 : kind == VERDICT_ERROR ? 1 : 0;
}

static const struct verdict *
find_worst(const struct verdict *verdicts, size_t count, const char *instance)
{
    const struct verdict *best = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct verdict *verdict = &verdicts[i];
        const int rank = rank_of(verdict);

        if (rank > 0 && strcmp(verdict->instance, instance) == 0 &&
            (best == NULL || rank > rank_of(best) ||
             (rank == rank_of(best) && verdict->margin > best->margin))) {
            best = verdict;
        }
    }
    return best;
}

// The case that shows the fault of a blamed instance best: a kept one, else a derived one, else
// NULL.
static const struct verdict *find_case(const struct gather *gather, const char *instance)
{
    const struct verdict_list *list = &gather->rows->verdicts;
    const struct verdict *kept = find_worst(list->items, list->count, instance);

    return kept != NULL ? kept : find_worst(list->derived, list->derived_count, instance);
}

static void put_bundle(struct gather *gather, struct report_maker *part, const char *instance)
{
    const struct bundled_row *bundle = report_rows_bundle(gather->rows, instance);
    struct report_maker item = report_maker_begin();

    if (bundle == NULL) {
        json_decref(item.object);
        return;
    }
    report_maker_text(&item, "file", bundle->file);
    report_maker_text(&item, "shape_class", bundle->shape_class);
    report_maker_text(&item, "command", bundle->command);
    report_maker_part(part, "bundle", &item);
}

static void put_blame(struct gather *gather, json_t *array, size_t index)
{
    const struct instance_row *row = &gather->rows->instances[index];
    const struct blame_row *blame = report_rows_blame(gather->rows, row->instance);
    const struct verdict *verdict = find_case(gather, row->instance);
    const int is_alone = strcmp(blame->kind, BLAME_ALONE) == 0;
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "instance", row->instance);
    report_maker_text(&part, "op", row->op);
    report_maker_put(&part, "alone", json_boolean(is_alone));
    report_maker_text(&part, "evidence", blame->evidence);
    report_maker_put(&part, "margin", report_maker_margin(blame->margin));
    report_maker_text(&part, "reason", blame->reason);
    report_maker_count(&part, "cases", gather->instances[index].cases);
    report_maker_count(&part, "failed", gather->instances[index].failed);
    report_maker_count(&part, "tries", blame->tried);
    report_maker_count(&part, "failed_tries", blame->failed);
    if (is_alone && verdict != NULL) {
        const struct report_maker item = make_shown_case(gather, verdict);

        report_maker_part(&part, "case", &item);
    }
    put_bundle(gather, &part, row->instance);
    report_maker_append(&gather->made, array, &part);
}

static void put_blamed(struct gather *gather)
{
    json_t *array = json_array();

    for (size_t i = 0; i < gather->rows->instance_count; i++) {
        if (gather->rows->places[i] == REPORT_BLAMED) {
            put_blame(gather, array, i);
        }
    }
    report_maker_put(&gather->made, "blamed", array);
}

static void
put_cases_of(struct gather *gather, const char *name, const struct verdict *verdicts, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        struct report_case item = {.verdict = verdicts[i]};
        const struct report_maker part = make_case(gather, &item);

        report_maker_append(&gather->made, array, &part);
    }
    report_maker_put(&gather->made, name, array);
}

static void put_cases(struct gather *gather)
{
    const struct verdict_list *list = &gather->rows->verdicts;

    put_cases_of(gather, "cases", list->items, list->count);
    put_cases_of(gather, "derived", list->derived, list->derived_count);
}

// -- NaN and infinity --------------------------------------------------------------------------

// The first element of a failed case that is not finite where the source's is; or NULL.
static const struct element *find_nonfinite(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->elements.count; i++) {
        const struct element *element = &verdict->elements.items[i];

        if (!isfinite(element->computed) && isfinite(element->expected)) {
            return element;
        }
    }
    return NULL;
}

// The case of the first instance in the model that has such an element.
static const struct verdict *find_first_nonfinite(const struct gather *gather)
{
    const struct verdict_list *list = &gather->rows->verdicts;
    const struct verdict *first = NULL;
    size_t first_instance = SIZE_MAX;

    for (size_t i = 0; i < list->count; i++) {
        size_t instance = 0;

        if (find_nonfinite(&list->items[i]) != NULL &&
            table_find(&gather->op_of, list->items[i].instance, &instance) &&
            instance < first_instance) {
            first = &list->items[i];
            first_instance = instance;
        }
    }
    return first;
}

// Every case has the source's inputs, so it is that op which makes it. A sentence, or "".
static void put_nonfinite(struct gather *gather)
{
    const struct verdict *first = find_first_nonfinite(gather);
    const struct element *element = first != NULL ? find_nonfinite(first) : NULL;
    struct text text;

    text_init(&text);
    if (element != NULL) {
        text_format(&text,
                    "%s first arises in '%s' (%s): element [%s] of its output '%s', where the "
                    "source has %.9g",
                    isnan(element->computed) ? "NaN"
                    : element->computed > 0  ? "infinity"
                                             : "-infinity",
                    first->instance, first->op_name, element->place, element->param,
                    element->expected);
    }
    report_maker_text(&gather->made, "nonfinite", text.data);
    gather->made.failed |= text.failed;
    text_release(&text);
}

// -- Coverage ----------------------------------------------------------------------------------

static int is_same(const struct report_uncovered *left, const struct report_uncovered *right)
{
    return strcmp(left->what, right->what) == 0 && strcmp(left->op, right->op) == 0 &&
           strcmp(left->reason, right->reason) == 0;
}

// Counts `entry` with those that say the same of the same op.
static void add_uncovered(struct gather *gather, struct report_uncovered entry)
{
    void *items = gather->uncovered;

    for (size_t i = 0; i < gather->uncovered_count; i++) {
        if (is_same(&gather->uncovered[i], &entry)) {
            gather->uncovered[i].count++;
            return;
        }
    }
    if (!alloc_grow(&items, &gather->uncovered_capacity, gather->uncovered_count, sizeof(entry))) {
        gather->made.failed = 1;
        return;
    }
    entry.count = 1;
    gather->uncovered = items;
    gather->uncovered[gather->uncovered_count++] = entry;
}

// What a case that was not compared is called; NULL: it was.
static const char *name_uncovered(enum verdict_kind kind, int is_kept)
{
    return kind == VERDICT_SKIPPED ? (is_kept ? "case skipped" : "derived case skipped")
           : kind == VERDICT_UNSUPPORTED
               ? (is_kept ? "case unsupported" : "derived case unsupported")
           : kind == VERDICT_STALE ? "case stale"
                                   : NULL;
}

static void add_uncovered_cases(struct gather *gather, const struct verdict *verdicts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct verdict *verdict = &verdicts[i];
        const int is_kept = verdict->label[0] == '\0';

        const char *what = name_uncovered(verdict->kind, is_kept);

        if (what != NULL) {
            add_uncovered(gather, (struct report_uncovered){.what = what,
                                                            .op = verdict->op_name,
                                                            .reason = verdict->reason,
                                                            .first = is_kept ? verdict->instance
                                                                             : verdict->label});
        }
    }
}

static void add_uncovered_instance(struct gather *gather, size_t index)
{
    const struct report_instance *item = &gather->instances[index];
    const enum report_place place = gather->rows->places[index];
    struct report_uncovered entry = {.op = item->op, .first = item->instance};

    if (place == REPORT_UNSUPPORTED) {
        entry.what = "operator unsupported";
        entry.reason = item->reason;
    } else if (place == REPORT_NOT_JUDGED) {
        entry.what = "operator not judged";
        entry.reason = item->reason;
    } else if (place == REPORT_UNWANTED) {
        entry.what = "operator not moved";
        entry.reason = "the plan of the run leaves it on the source";
    } else if (place == REPORT_ON_TARGET && item->cases == 0) {
        entry.what = "operator without a case";
        entry.reason = gather->rows->not_run == 0 ? "no call of it was recorded"
                                                  : "none of its cases was run, if it has some";
    } else {
        return;
    }
    add_uncovered(gather, entry);
}

// Everything that was not compared, with its reason: nothing is left out silently.
static void put_uncovered(struct gather *gather)
{
    const struct verdict_list *list = &gather->rows->verdicts;
    json_t *array = json_array();

    for (size_t i = 0; i < gather->rows->instance_count; i++) {
        add_uncovered_instance(gather, i);
    }
    add_uncovered_cases(gather, list->items, list->count);
    add_uncovered_cases(gather, list->derived, list->derived_count);
    for (size_t i = 0; i < gather->uncovered_count; i++) {
        const struct report_maker part =
            report_list_make(&report_items_uncovered, &gather->uncovered[i]);

        report_maker_append(&gather->made, array, &part);
    }
    report_maker_put(&gather->made, "not_compared", array);
}

// The attempts of the offload, in order.
static void put_steps(struct gather *gather)
{
    json_t *array = json_array();
    uint64_t time_ns = 0;

    for (size_t i = 0; i < gather->rows->step_count; i++) {
        const struct step_row *step = &gather->rows->steps[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "step", step->step);
        report_maker_text(&part, "verdict", step->verdict);
        report_maker_text(&part, "reason", step->reason);
        report_maker_put(&part, "margin", report_maker_margin(step->margin));
        report_maker_count(&part, "time_ns", step->time_ns);
        time_ns += step->time_ns;
        report_maker_append(&gather->made, array, &part);
    }
    report_maker_put(&gather->made, "steps", array);
    report_maker_count(&gather->made, "offload_ns", time_ns);
}

// -- The whole ---------------------------------------------------------------------------------

static tapml_status take_source_time(void *user, const char *op, uint64_t time_ns)
{
    struct gather *gather = user;
    size_t line = 0;

    if (table_find(&gather->lines.index_of, op, &line)) {
        gather->source_ns[line] = time_ns;
    }
    return TAPML_OK;
}

// The time that the source took for the very calls that the target replayed.
static tapml_status read_source_times(struct gather *gather)
{
    gather->source_ns = alloc_array(gather->lines.count + 1, sizeof(*gather->source_ns));
    return gather->source_ns != NULL
               ? carved_visit_times(gather->rows->store, take_source_time, gather)
               : status_no_memory();
}

static tapml_status begin(struct gather *gather)
{
    const struct report_rows *rows = gather->rows;

    gather->instances = alloc_array(rows->instance_count + 1, sizeof(*gather->instances));
    if (gather->instances == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < rows->instance_count; i++) {
        gather->instances[i].margin = NAN;
        TAPML_TRY(table_set(&gather->op_of, rows->instances[i].instance, i));
    }
    TAPML_TRY(report_lines_add_run(&gather->lines, rows));
    TAPML_TRY(report_lines_add_verdicts(&gather->lines, &rows->verdicts));
    return read_source_times(gather);
}

static void put_driver(struct gather *gather)
{
    const struct report_maker part = report_driver_make(gather->rows);

    report_maker_part(&gather->made, "driver_check", &part);
}

// A sentence, or "".
static void put_common(struct gather *gather)
{
    struct text common;

    text_init(&common);
    report_common_print(gather->rows, &common);
    report_maker_text(&gather->made, "common", common.data);
    gather->made.failed |= common.failed;
    text_release(&common);
}

static tapml_status gather_all(struct gather *gather)
{
    TAPML_TRY(begin(gather));
    tally_verdicts(gather);
    describe_instances(gather);
    put_device(gather);
    put_driver(gather);
    put_common(gather);
    put_nonfinite(gather);
    put_counts(gather);
    report_selection_put(gather->rows, &gather->made);
    put_end_to_end(gather);
    put_search(gather);
    put_blamed(gather);
    put_grid(gather);
    put_ops(gather);
    report_declared_put(gather->rows, &gather->lines, &gather->made);
    report_invariance_put(gather->rows, &gather->made);
    put_steps(gather);
    put_uncovered(gather);
    put_instances(gather);
    report_measures_put(&gather->rows->verdicts, &gather->made);
    put_cases(gather);
    TAPML_TRY(gather->status);
    return report_maker_finish(&gather->made);
}

tapml_status report_target_make(const struct report_rows *rows, json_t **out_object)
{
    struct gather gather = {.rows = rows, .made = report_maker_begin()};

    report_lines_init(&gather.lines);
    table_init(&gather.op_of);
    report_driver_print_reason(rows, gather.not_judged, sizeof(gather.not_judged));
    const tapml_status status = gather_all(&gather);

    table_release(&gather.op_of);
    report_lines_release(&gather.lines);
    alloc_free(gather.instances);
    alloc_free(gather.uncovered);
    alloc_free(gather.source_ns);
    if (status != TAPML_OK) {
        json_decref(gather.made.object);
        return status;
    }
    *out_object = gather.made.object;
    return TAPML_OK;
}
