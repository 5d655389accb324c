// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_target.h"

#include "base/alloc.h"
#include "report/report_lines.h"
#include "report/report_maker.h"
#include "store/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// -- One target --------------------------------------------------------------------------------

// What the cases say of one instance.
struct tally {
    size_t cases, failed, not_compared;
    double margin; // The worst; NaN where nothing was compared.
    uint64_t replay_ns;
};

struct gather {
    const struct report_target *target;
    struct verdict_list kept; // As the store has them: with what was kept in watched runs.
    struct report_lines lines;
    enum report_place *places; // One for each op of the graph, as `tallies`.
    struct tally *tallies;
    struct table op_of;  // Instance to op of the graph.
    uint64_t *source_ns; // One for each line: the kept cases on the source.
    struct report_maker made;
};

static const char *state_of(const struct gather *gather, uint32_t op)
{
    const struct tally *tally = &gather->tallies[op];

    switch (gather->places[op]) {
    case REPORT_ACCUSED:
        break;
    case REPORT_REFUSED:
        return "refused";
    case REPORT_UNWANTED:
        return "source";
    case REPORT_ON_TARGET:
        return tally->cases == tally->not_compared ? "uncompared" : "right";
    }
    const struct finding *finding =
        findings_find(gather->target->findings, gather->target->graph->ops[op].instance);

    return finding != NULL && strcmp(finding->kind, "alone") == 0 ? "wrong" : "together";
}

static void tally_verdicts(struct gather *gather)
{
    const struct verdict_list *list = &gather->kept;

    for (size_t i = 0; i < list->count; i++) {
        const struct verdict *verdict = &list->items[i];
        size_t op = 0;

        if (!table_find(&gather->op_of, verdict->instance, &op)) {
            continue;
        }
        struct tally *tally = &gather->tallies[op];

        tally->cases++;
        tally->failed += verdict_count_failed(verdict, 1);
        tally->not_compared +=
            verdict->kind == VERDICT_UNSUPPORTED || verdict->kind == VERDICT_SKIPPED;
        tally->replay_ns += verdict->time_ns;
        if (!isnan(verdict->margin)) {
            tally->margin =
                isnan(tally->margin) ? verdict->margin : fmax(tally->margin, verdict->margin);
        }
    }
}

static void put_device(struct gather *gather)
{
    const struct report_target *target = gather->target;

    report_maker_text(&gather->made, "name", target->name);
    report_maker_text(&gather->made, "verdict", target->is_wrong ? "wrong" : "right");
    report_maker_text(&gather->made, "backend", target->backend);
    report_maker_text(&gather->made, "component", target->info->component);
    report_maker_text(&gather->made, "device", target->info->device);
    report_maker_text(&gather->made, "device_name", target->info->device_name);
    report_maker_text(&gather->made, "driver", target->info->driver);
    report_maker_text(&gather->made, "plugin", target->info->plugin);
    report_maker_text(&gather->made, "plugin_version", target->info->plugin_version);
    report_maker_text(&gather->made, "build", target->info->build_id);
    report_maker_text(&gather->made, "activations", target->info->is_narrow ? "f16" : "f32");
    report_maker_text(&gather->made, "faults", target->faults);
    report_maker_put(&gather->made, "finished_s", json_integer(target->findings->finished_s));
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
    const struct verdict_list *list = &gather->kept;
    const struct verdict_list *derived = gather->target->verdicts;
    const struct loop_result *result = gather->target->result;
    struct report_maker part = report_maker_begin();

    report_maker_count(&part, "instances", gather->target->graph->op_count);
    report_maker_count(&part, "wanted", result->wanted_count);
    report_maker_count(&part, "moved", result->moved_count - result->refused_count);
    report_maker_count(&part, "accused", result->accused_count);
    report_maker_count(&part, "refused", result->refused_count);
    report_maker_count(&part, "cases", list->count);
    report_maker_count(&part, "passed", count_kind(list->items, list->count, VERDICT_PASS));
    report_maker_count(&part, "failed", count_kind(list->items, list->count, VERDICT_FAIL));
    report_maker_count(&part, "errors", count_kind(list->items, list->count, VERDICT_ERROR));
    report_maker_count(&part, "unsupported",
                       count_kind(list->items, list->count, VERDICT_UNSUPPORTED));
    report_maker_count(&part, "skipped", count_kind(list->items, list->count, VERDICT_SKIPPED));
    report_maker_count(&part, "derived", derived->derived_count);
    report_maker_count(&part, "derived_failed",
                       verdict_count_failed(derived->derived, derived->derived_count));
    report_maker_count(
        &part, "derived_not_judged",
        count_kind(derived->derived, derived->derived_count, VERDICT_SKIPPED) +
            count_kind(derived->derived, derived->derived_count, VERDICT_UNSUPPORTED));
    report_maker_part(&gather->made, "counts", &part);
}

static void put_end_to_end(struct gather *gather)
{
    const struct judge_result *judged = &gather->target->result->judged;
    struct report_maker part = report_maker_begin();

    report_maker_put(&part, "agrees", json_boolean(judged->agrees));
    report_maker_put(&part, "margin", report_maker_margin(judged->margin));
    report_maker_text(&part, "sentence", judged->sentence);
    report_maker_text(&part, "unexplained", gather->target->result->unexplained);
    report_maker_part(&gather->made, "end_to_end", &part);
}

// -- Ops ---------------------------------------------------------------------------------------

static void
put_found(struct report_maker *line, const struct verdict_list *list, const char *op_name)
{
    struct report_maker part = report_maker_begin();

    for (size_t i = 0; i < list->derived_count; i++) {
        struct report_derived derived;
        struct report_maker kind = report_maker_begin();

        if (strcmp(list->derived[i].op_name, op_name) != 0 ||
            !report_lines_derived(list, i, &derived)) {
            json_decref(kind.object);
            continue;
        }
        report_maker_count(&kind, "cases", derived.cases);
        report_maker_count(&kind, "failed", derived.failed);
        report_maker_count(&kind, "not_judged", derived.not_judged);
        report_maker_put(&kind, "margin", report_maker_margin(derived.margin));
        report_maker_part(&part, derived.source, &kind);
    }
    report_maker_part(line, "derived", &part);
}

static void put_ops(struct gather *gather)
{
    json_t *array = json_array();

    for (size_t i = 0; i < gather->lines.count; i++) {
        const struct report_line *line = &gather->lines.items[i];
        const struct finding_time *timed = findings_time(gather->target->findings, line->op_name);
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "op", line->op_name);
        report_maker_text(&part, "class", line->op != NULL ? line->op->tolerance : "");
        report_maker_count(&part, "instances", line->instances);
        report_maker_count(&part, "moved", line->moved);
        report_maker_count(&part, "cases", line->cases);
        report_maker_count(&part, "passed", line->passed);
        report_maker_count(&part, "failed", line->failed);
        report_maker_count(&part, "unsupported", line->unsupported);
        report_maker_count(&part, "skipped", line->skipped);
        report_maker_put(&part, "margin",
                         line->cases > 0 ? report_maker_margin(line->margin) : json_null());
        put_found(&part, gather->target->verdicts, line->op_name);
        report_maker_count(&part, "source_ns", line->source_ns);
        report_maker_count(&part, "source_calls", line->source_calls);
        report_maker_count(&part, "cases_source_ns", gather->source_ns[i]);
        report_maker_count(&part, "cases_target_ns", line->target_ns);
        report_maker_count(&part, "run_ns", timed != NULL ? timed->time_ns : 0);
        report_maker_count(&part, "run_calls", timed != NULL ? timed->calls : 0);
        report_maker_count(&part, "run_launches", timed != NULL ? timed->launches : 0);
        report_maker_append(&gather->made, array, &part);
    }
    report_maker_put(&gather->made, "ops", array);
}

// -- The plan ----------------------------------------------------------------------------------

// The group of an instance is its layer: up to the first part that ends in a number, else the first
// part, else "".
static size_t group_length(const char *instance)
{
    const char *slash = strchr(instance, '/');

    for (const char *at = instance; slash != NULL; at = slash + 1, slash = strchr(at, '/')) {
        const char *dot = memchr(at, '.', (size_t)(slash - at));

        if (dot != NULL && strspn(dot + 1, "0123456789") == (size_t)(slash - dot - 1)) {
            return (size_t)(slash - instance);
        }
    }
    return strcspn(instance, "/") == strlen(instance) ? 0 : strcspn(instance, "/");
}

static void put_instances(struct gather *gather)
{
    const struct graph *graph = gather->target->graph;
    json_t *array = json_array();

    for (uint32_t i = 0; i < graph->op_count; i++) {
        const struct tally *tally = &gather->tallies[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "instance", graph->ops[i].instance);
        report_maker_text(&part, "op", graph->ops[i].op->name);
        report_maker_text(&part, "state", state_of(gather, i));
        report_maker_put(&part, "margin", report_maker_margin(tally->margin));
        report_maker_count(&part, "cases", tally->cases);
        report_maker_count(&part, "failed", tally->failed);
        report_maker_count(&part, "not_compared", tally->not_compared);
        report_maker_count(&part, "replay_ns", tally->replay_ns);
        report_maker_append(&gather->made, array, &part);
    }
    report_maker_put(&gather->made, "instances", array);
}

// From what one looks at first to what is of no concern.
static const char *const states[] = {"wrong",      "together", "refused",
                                     "uncompared", "right",    "source"};

size_t report_target_rank(const char *state)
{
    size_t rank = 0;

    while (strcmp(states[rank], state) != 0) {
        rank++;
    }
    return rank;
}

// The ops of one group and kind as one cell: the most telling state, the worst margin.
struct cell {
    uint32_t instances;
    size_t rank;
    double margin;
};

static void put_cell(struct report_maker *made, json_t *cells, const struct cell *cell)
{
    struct report_maker part = report_maker_begin();

    if (cell->instances == 0) {
        json_decref(part.object);
        made->failed |= json_array_append_new(cells, json_null()) != 0;
        return;
    }
    report_maker_text(&part, "state", states[cell->rank]);
    report_maker_put(&part, "margin", report_maker_margin(cell->margin));
    report_maker_count(&part, "instances", cell->instances);
    report_maker_append(made, cells, &part);
}

static void add_to_cell(const struct gather *gather, uint32_t op, struct cell *cell)
{
    const size_t rank = report_target_rank(state_of(gather, op));
    const double margin = gather->tallies[op].margin;

    cell->rank = cell->instances == 0 || rank < cell->rank ? rank : cell->rank;
    if (!isnan(margin)) {
        cell->margin =
            cell->instances == 0 || isnan(cell->margin) ? margin : fmax(cell->margin, margin);
    } else if (cell->instances == 0) {
        cell->margin = NAN;
    }
    cell->instances++;
}

// One row of the grid: the ops `begin` .. `end` of the graph.
static void put_row(struct gather *gather, json_t *rows, uint32_t begin, uint32_t end)
{
    const struct graph *graph = gather->target->graph;
    const char *instance = graph->ops[begin].instance;
    const size_t length = group_length(instance);
    struct cell *cells = alloc_array(gather->lines.count + 1, sizeof(*cells));
    json_t *array = json_array();
    char name[256];
    struct report_maker part = report_maker_begin();

    if (length > 0 || end - begin == 1) {
        (void)snprintf(name, sizeof(name), "%.*s", length > 0 ? (int)length : 120, instance);
    } else {
        (void)snprintf(name, sizeof(name), "%.60s .. %.60s", instance,
                       graph->ops[end - 1].instance);
    }
    report_maker_text(&part, "name", name);
    gather->made.failed |= cells == NULL;
    for (uint32_t i = begin; cells != NULL && i < end; i++) {
        size_t line = 0;

        (void)table_find(&gather->lines.index_of, graph->ops[i].op->name, &line);
        add_to_cell(gather, i, &cells[line]);
    }
    for (size_t i = 0; cells != NULL && i < gather->lines.count; i++) {
        put_cell(&gather->made, array, &cells[i]);
    }
    alloc_free(cells);
    report_maker_put(&part, "cells", array);
    report_maker_append(&gather->made, rows, &part);
}

// Layers in the order of the graph; ops that stand outside of any, one after the other, share a
// row.
static void put_grid(struct gather *gather)
{
    const struct graph *graph = gather->target->graph;
    json_t *columns = json_array();
    json_t *rows = json_array();
    struct report_maker part = report_maker_begin();
    uint32_t begin = 0;

    for (size_t i = 0; i < gather->lines.count; i++) {
        gather->made.failed |=
            json_array_append_new(columns, report_maker_string(gather->lines.items[i].op_name)) !=
            0;
    }
    for (uint32_t i = 1; i <= graph->op_count; i++) {
        const char *first = graph->ops[begin].instance;
        const size_t length = group_length(first);

        if (i == graph->op_count || group_length(graph->ops[i].instance) != length ||
            strncmp(graph->ops[i].instance, first, length) != 0) {
            put_row(gather, rows, begin, i);
            begin = i;
        }
    }
    report_maker_put(&part, "columns", columns);
    report_maker_put(&part, "rows", rows);
    report_maker_part(&gather->made, "grid", &part);
}

// -- Accusations -------------------------------------------------------------------------------

static json_t *make_elements(struct gather *gather, const struct element_list *list)
{
    json_t *array = json_array();

    for (size_t i = 0; i < list->count; i++) {
        const struct element *element = &list->items[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "param", element->param);
        report_maker_text(&part, "place", element->place);
        report_maker_put(&part, "expected", report_maker_number(element->expected));
        report_maker_put(&part, "computed", report_maker_number(element->computed));
        report_maker_put(&part, "difference",
                         report_maker_number(fabs(element->expected - element->computed)));
        report_maker_put(&part, "allowed", report_maker_number(element->allowed));
        report_maker_append(&gather->made, array, &part);
    }
    return array;
}

static struct report_maker make_case(struct gather *gather, const struct verdict *verdict)
{
    struct report_maker part = report_maker_begin();

    report_maker_count(&part, "id", (uint64_t)verdict->case_id);
    report_maker_text(&part, "instance", verdict->instance);
    report_maker_text(&part, "op", verdict->op_name);
    report_maker_text(&part, "source", verdict->source);
    report_maker_text(&part, "label", verdict->label);
    report_maker_text(&part, "phase", verdict->phase);
    report_maker_text(&part, "shape_class", verdict->shape_class);
    report_maker_text(&part, "verdict", verdict_name(verdict->kind));
    report_maker_put(&part, "margin", report_maker_margin(verdict->margin));
    report_maker_text(&part, "output", verdict->output);
    report_maker_text(&part, "reason", verdict->reason);
    if (verdict->label[0] == '\0') { // Derived cases are timed anew at each start.
        report_maker_count(&part, "time_ns", verdict->time_ns);
    }
    if (verdict->elements.total > 0) {
        report_maker_count(&part, "beyond", verdict->elements.beyond);
        report_maker_count(&part, "elements", verdict->elements.total);
        report_maker_put(&part, "values", make_elements(gather, &verdict->elements));
    }
    return part;
}

// Which prompt and step a case comes from.
static tapml_status put_origin(struct report_maker *part, struct store *store, int64_t case_id)
{
    struct row row;
    int has = 0;

    TAPML_TRY(row_begin(store,
                        "SELECT prompt.position, step, tokens FROM \"case\""
                        " JOIN prompt ON prompt.hash = \"case\".prompt WHERE id = ?",
                        "reading for the report", &row));
    row_put_i64(&row, case_id);
    TAPML_TRY(row_next(&row, &has));
    if (has) {
        report_maker_count(part, "prompt", (uint64_t)row_i64(&row, 0));
        report_maker_count(part, "step", (uint64_t)row_i64(&row, 1));
        report_maker_count(part, "tokens", (uint64_t)row_i64(&row, 2));
        row_end(&row);
    }
    return TAPML_OK;
}

// Failed beats lost beats the rest, which passed when it was replayed.
static int rank_of_kind(enum verdict_kind kind)
{
    return kind == VERDICT_FAIL ? 2 : kind == VERDICT_ERROR ? 1 : 0;
}

static const struct verdict *
find_worst(const struct verdict *verdicts, size_t count, const char *instance)
{
    const struct verdict *best = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct verdict *verdict = &verdicts[i];
        const int rank = rank_of_kind(verdict->kind);

        if (rank > 0 && strcmp(verdict->instance, instance) == 0 &&
            (best == NULL || rank > rank_of_kind(best->kind) ||
             (rank == rank_of_kind(best->kind) && verdict->margin > best->margin))) {
            best = verdict;
        }
    }
    return best;
}

// The case that shows the fault of an accused best: a kept one, else a derived one, else NULL.
static const struct verdict *find_case(const struct gather *gather,
                                       const struct loop_accusation *accused)
{
    const char *instance = gather->target->graph->ops[accused->op].instance;
    const struct verdict_list *derived = gather->target->verdicts;
    const struct verdict *kept = find_worst(gather->kept.items, gather->kept.count, instance);

    return kept != NULL ? kept : find_worst(derived->derived, derived->derived_count, instance);
}

static tapml_status put_accused(struct gather *gather)
{
    const struct report_target *target = gather->target;
    const struct loop_result *result = target->result;
    json_t *array = json_array();
    tapml_status status = TAPML_OK;

    for (size_t i = 0; status == TAPML_OK && i < result->accused_count; i++) {
        const struct loop_accusation *accused = &result->accused[i];
        const struct graph_op *op = &target->graph->ops[accused->op];
        const struct verdict *verdict = find_case(gather, accused);
        const struct tally *tally = &gather->tallies[accused->op];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "instance", op->instance);
        report_maker_text(&part, "op", op->op->name);
        report_maker_put(&part, "alone", json_boolean(accused->is_alone));
        report_maker_put(&part, "margin", report_maker_margin(accused->margin));
        report_maker_text(&part, "reason", accused->reason);
        report_maker_count(&part, "cases", tally->cases);
        report_maker_count(&part, "failed", tally->failed);
        report_maker_count(&part, "tries", accused->tried);
        report_maker_count(&part, "failed_tries", accused->failed);
        if (accused->is_alone && verdict != NULL) {
            struct report_maker item = make_case(gather, verdict);

            status = put_origin(&item, target->store, verdict->case_id);
            report_maker_part(&part, "case", &item);
        }
        report_maker_append(&gather->made, array, &part);
    }
    report_maker_put(&gather->made, "accused", array);
    return status;
}

static void put_cases(struct gather *gather)
{
    const struct verdict_list *list = gather->target->verdicts;
    const struct verdict_list *cases = &gather->kept;
    json_t *kept = json_array();
    json_t *derived = json_array();

    for (size_t i = 0; i < cases->count; i++) {
        struct report_maker part = make_case(gather, &cases->items[i]);

        report_maker_append(&gather->made, kept, &part);
    }
    for (size_t i = 0; i < list->derived_count; i++) {
        struct report_maker part = make_case(gather, &list->derived[i]);

        report_maker_append(&gather->made, derived, &part);
    }
    report_maker_put(&gather->made, "cases", kept);
    report_maker_put(&gather->made, "derived", derived);
}

// -- Coverage ----------------------------------------------------------------------------------

// Whether an entry says the same of the same op; then it counts `instance` too.
static int is_counted(json_t *array, const char *what, const char *op, const json_t *reason)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *entry = json_array_get(array, i);
        const char *known = json_string_value(json_object_get(entry, "what"));

        if (strcmp(known, what) == 0 &&
            strcmp(json_string_value(json_object_get(entry, "op")), op) == 0 &&
            json_equal(json_object_get(entry, "reason"), reason)) {
            const json_int_t count = json_integer_value(json_object_get(entry, "count"));

            return json_object_set_new(entry, "count", json_integer(count + 1)) == 0;
        }
    }
    return 0;
}

static void add_uncovered(struct gather *gather,
                          json_t *array,
                          const char *what,
                          const char *op,
                          const char *reason,
                          const char *first)
{
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "what", what);
    report_maker_text(&part, "op", op);
    report_maker_count(&part, "count", 1);
    report_maker_text(&part, "reason", reason);
    report_maker_text(&part, "first", first);
    if (!part.failed && is_counted(array, what, op, json_object_get(part.object, "reason"))) {
        json_decref(part.object);
        return;
    }
    report_maker_append(&gather->made, array, &part);
}

static void add_uncovered_cases(struct gather *gather,
                                json_t *array,
                                const struct verdict *verdicts,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct verdict *verdict = &verdicts[i];
        const int is_kept = verdict->label[0] == '\0';

        if (verdict->kind == VERDICT_UNSUPPORTED || verdict->kind == VERDICT_SKIPPED) {
            add_uncovered(gather, array,
                          verdict->kind == VERDICT_SKIPPED
                              ? (is_kept ? "case skipped" : "derived case skipped")
                              : (is_kept ? "case refused" : "derived case refused"),
                          verdict->op_name, verdict->reason,
                          is_kept ? verdict->instance : verdict->label);
        }
    }
}

// Everything that was not compared, with its reason: nothing is left out silently.
static void put_uncovered(struct gather *gather)
{
    const struct report_target *target = gather->target;
    json_t *array = json_array();

    for (uint32_t i = 0; i < target->graph->op_count; i++) {
        const struct graph_op *op = &target->graph->ops[i];
        const struct finding *finding = findings_find(target->findings, op->instance);

        if (gather->places[i] == REPORT_REFUSED && finding != NULL) {
            add_uncovered(gather, array, "operator refused", op->op->name, finding->reason,
                          op->instance);
        }
        if (gather->places[i] == REPORT_UNWANTED) {
            add_uncovered(gather, array, "operator not moved", op->op->name,
                          "the plan of the run leaves it on the source", op->instance);
        }
        if (gather->places[i] == REPORT_ON_TARGET && gather->tallies[i].cases == 0) {
            add_uncovered(gather, array, "operator without a case", op->op->name,
                          "no call of it was recorded", op->instance);
        }
    }
    add_uncovered_cases(gather, array, gather->kept.items, gather->kept.count);
    add_uncovered_cases(gather, array, target->verdicts->derived, target->verdicts->derived_count);
    report_maker_put(&gather->made, "not_compared", array);
}

// The attempts of the offload, in order.
static tapml_status put_steps(struct gather *gather)
{
    json_t *array = json_array();
    struct row row;
    int has = 0;
    uint64_t time_ns = 0;

    report_maker_put(&gather->made, "steps", array);
    TAPML_TRY(row_begin(gather->target->store,
                        "SELECT step, verdict, reason, margin, time_ns FROM ledger"
                        " WHERE target = ? ORDER BY id",
                        "reading for the report", &row));
    row_put_text(&row, gather->target->name);
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "step", row_text(&row, 0));
        report_maker_text(&part, "verdict", row_text(&row, 1));
        report_maker_text(&part, "reason", row_text(&row, 2));
        report_maker_put(&part, "margin", report_maker_margin(row_f64(&row, 3)));
        report_maker_count(&part, "time_ns", (uint64_t)row_i64(&row, 4));
        time_ns += (uint64_t)row_i64(&row, 4);
        report_maker_append(&gather->made, array, &part);
        TAPML_TRY(row_next(&row, &has));
    }
    report_maker_count(&gather->made, "offload_ns", time_ns);
    return TAPML_OK;
}

// -- The whole ---------------------------------------------------------------------------------

// The time that the source took for the very calls that the target replayed.
static tapml_status read_source_times(struct gather *gather)
{
    struct row row;
    int has = 0;

    gather->source_ns = alloc_array(gather->lines.count + 1, sizeof(*gather->source_ns));
    if (gather->source_ns == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(row_begin(gather->target->store,
                        "SELECT op, total(call.time_ns) FROM \"case\""
                        " JOIN call USING (instance, prompt, step, part) GROUP BY op",
                        "reading for the report", &row));
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        size_t line = 0;

        if (table_find(&gather->lines.index_of, row_text(&row, 0), &line)) {
            gather->source_ns[line] = (uint64_t)row_i64(&row, 1);
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}

static tapml_status begin(struct gather *gather)
{
    const struct report_target *target = gather->target;
    const uint32_t op_count = target->graph->op_count;

    gather->places = alloc_array((size_t)op_count + 1, sizeof(*gather->places));
    gather->tallies = alloc_array((size_t)op_count + 1, sizeof(*gather->tallies));
    if (gather->places == NULL || gather->tallies == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < op_count; i++) {
        gather->tallies[i].margin = NAN;
        TAPML_TRY(table_set(&gather->op_of, target->graph->ops[i].instance, i));
    }
    TAPML_TRY(report_lines_add_run(&gather->lines,
                                   &(struct report_lines_run){.graph = target->graph,
                                                              .store = target->store,
                                                              .target = target->name,
                                                              .result = target->result,
                                                              .findings = target->findings},
                                   gather->places));
    TAPML_TRY(verdict_read(target->store, target->name, &gather->kept));
    TAPML_TRY(report_lines_add_verdicts(&gather->lines,
                                        &(struct verdict_list){
                                            .items = gather->kept.items,
                                            .count = gather->kept.count,
                                            .derived = target->verdicts->derived,
                                            .derived_count = target->verdicts->derived_count,
                                        }));
    return read_source_times(gather);
}

static tapml_status gather_all(struct gather *gather)
{
    TAPML_TRY(begin(gather));
    tally_verdicts(gather);
    put_device(gather);
    put_counts(gather);
    put_end_to_end(gather);
    TAPML_TRY(put_accused(gather));
    put_grid(gather);
    put_ops(gather);
    TAPML_TRY(put_steps(gather));
    put_uncovered(gather);
    put_instances(gather);
    put_cases(gather);
    return report_maker_finish(&gather->made);
}

tapml_status report_target_make(const struct report_target *target, json_t **out_object)
{
    struct gather gather = {.target = target, .made = report_maker_begin()};

    report_lines_init(&gather.lines);
    table_init(&gather.op_of);
    const tapml_status status = gather_all(&gather);

    table_release(&gather.op_of);
    report_lines_release(&gather.lines);
    alloc_free(gather.places);
    alloc_free(gather.tallies);
    alloc_free(gather.source_ns);
    verdict_list_release(&gather.kept);
    if (status != TAPML_OK) {
        json_decref(gather.made.object);
        return status;
    }
    *out_object = gather.made.object;
    return TAPML_OK;
}
