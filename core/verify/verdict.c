// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/verdict.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "store/carved.h"
#include "store/limit.h"
#include "store/maker.h"
#include "verify/replay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const NAMES[] = {
    [VERDICT_PASS] = "pass",       [VERDICT_FAIL] = "fail",
    [VERDICT_ERROR] = "error",     [VERDICT_UNSUPPORTED] = "unsupported",
    [VERDICT_SKIPPED] = "skipped", [VERDICT_STALE] = "stale",
};

enum { NAME_COUNT = (int)(sizeof(NAMES) / sizeof(*NAMES)) };

const char *verdict_name(enum verdict_kind kind)
{
    return NAMES[kind];
}

const char *verdict_freshness_name(enum verdict_freshness freshness)
{
    static const char *const names[] = {
        [VERDICT_FRESH] = "fresh", [VERDICT_OUTDATED] = "stale", [VERDICT_INHERITED] = "inherited"};
    return names[freshness];
}

size_t verdict_count_failed(const struct verdict *verdicts, size_t count)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        failed += verdicts[i].kind == VERDICT_FAIL || verdicts[i].kind == VERDICT_ERROR;
    }
    return failed;
}

tapml_status verdict_find_kind(const char *name, enum verdict_kind *out_kind)
{
    for (int kind = 0; kind < NAME_COUNT; kind++) {
        if (strcmp(NAMES[kind], name) == 0) {
            *out_kind = (enum verdict_kind)kind;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID, "there is no verdict '%.30s'", name);
}

tapml_status
verdict_judge(struct verdict *io_verdict, const struct compare_limit *limits, struct arena *arena)
{
    const struct judgement judgement =
        judgement_make(io_verdict->errors, limits, io_verdict->error_count);
    const struct output_error *worst = &io_verdict->errors[judgement.worst];
    struct text reason;
    io_verdict->kind = judgement.kind;
    io_verdict->margin = judgement.margin;
    io_verdict->output = worst->param;
    io_verdict->reason = "";
    if (judgement.kind == VERDICT_PASS) {
        io_verdict->elements = (struct element_list){0};
        return TAPML_OK;
    }
    text_init(&reason);
    judgement_explain(worst, &limits[judgement.worst], io_verdict->observed, &reason);
    const tapml_status status = text_status(&reason);
    io_verdict->reason = status == TAPML_OK ? arena_text(arena, reason.data) : NULL;
    text_release(&reason);
    return status == TAPML_OK && !io_verdict->reason ? status_no_memory() : status;
}

// Where limits come from: the store, or all of its rows.
struct verdict_limits {
    struct store *store;
    const struct limit_row *rows; // NULL: the store is asked.
    size_t count;
};

// The limit of an output that was measured. Exact ones and those that have a margin need none.
static tapml_status find_limit(const struct verdict_limits *limits,
                               const struct verdict *verdict,
                               const struct output_error *error,
                               struct compare_limit *out_limit)
{
    struct limit_row row = {.op = verdict->op_name,
                            .version = verdict->op_version,
                            .shape_class = verdict->shape_class,
                            .param = error->param,
                            .calibration = "",
                            .oracle = verdict->oracle};
    int has = 0;
    *out_limit = (struct compare_limit){.class_ = COMPARE_EXACT};
    if (*error->class_ == '\0') {
        return TAPML_OK;
    }
    TAPML_TRY(compare_class_of(error->class_, &out_limit->class_));
    if (out_limit->class_ == COMPARE_EXACT) {
        return TAPML_OK;
    }
    if (limits->rows) {
        has = limit_search(limits->rows, limits->count, &row);
    } else {
        TAPML_TRY(limit_find(limits->store, &row, &has));
    }
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "the store has no limit of '%s' for case %lld",
                           error->param, (long long)verdict->case_id);
    }
    out_limit->ulp = row.ulp;
    out_limit->nmse = row.nmse;
    out_limit->row_error = row.row_error;
    return TAPML_OK;
}

static tapml_status
settle_by(const struct verdict_limits *source, struct verdict *io_verdict, struct arena *arena)
{
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    if (io_verdict->error_count == 0) {
        return TAPML_OK;
    }
    if (io_verdict->error_count > REPLAY_OUTPUTS_MAX) {
        return status_fail(TAPML_INVALID, "the result of case %lld has %zu outputs, at most %d fit",
                           (long long)io_verdict->case_id, io_verdict->error_count,
                           REPLAY_OUTPUTS_MAX);
    }
    for (size_t i = 0; i < io_verdict->error_count; i++) {
        TAPML_TRY(find_limit(source, io_verdict, &io_verdict->errors[i], &limits[i]));
    }
    return verdict_judge(io_verdict, limits, arena);
}

tapml_status verdict_settle(struct store *store, struct verdict *io_verdict, struct arena *arena)
{
    return settle_by(&(struct verdict_limits){.store = store}, io_verdict, arena);
}

// Takes what a row says; `*out_ran` says whether errors belong to it.
static tapml_status take_row(const struct result_row *row, struct verdict *io_verdict, int *out_ran)
{
    io_verdict->oracle = row->maker.oracle;
    io_verdict->observed = io_verdict->reason = row->reason;
    io_verdict->time_ns = row->time_ns;
    io_verdict->elements = (struct element_list){.beyond = row->beyond, .total = row->total};
    io_verdict->margin = io_verdict->cost = NAN;
    io_verdict->output = "";
    *out_ran = strcmp(row->outcome, RESULT_RAN) == 0;
    if (*out_ran) {
        return TAPML_OK;
    }
    const tapml_status status = verdict_find_kind(row->outcome, &io_verdict->kind);
    return status == TAPML_OK
               ? TAPML_OK
               : status_explain(status, "in the result of case %lld", (long long)row->case_id);
}

static void skip_without_errors(struct verdict *io_verdict)
{
    if (io_verdict->error_count == 0) {
        io_verdict->kind = VERDICT_SKIPPED;
        io_verdict->reason = "its errors are not known: the next start replays it";
    }
}

static tapml_status take_measures(struct store *store,
                                  const char *target,
                                  struct arena *arena,
                                  struct verdict *io_verdict)
{
    struct measured *measures = NULL;
    TAPML_TRY(measured_list(store, target, io_verdict->case_id, arena, &measures,
                            &io_verdict->measure_count));
    io_verdict->measures = measures;
    return TAPML_OK;
}

tapml_status verdict_take(struct store *store,
                          const char *target,
                          const struct result_row *row,
                          struct arena *arena,
                          struct verdict *io_verdict)
{
    struct output_error *errors = NULL;
    int has_run = 0;
    TAPML_TRY(take_row(row, io_verdict, &has_run));
    if (!has_run) {
        return TAPML_OK;
    }
    TAPML_TRY(
        output_error_list(store, target, row->case_id, arena, &errors, &io_verdict->error_count));
    io_verdict->errors = errors;
    TAPML_TRY(take_measures(store, target, arena, io_verdict));
    skip_without_errors(io_verdict);
    return TAPML_OK;
}

tapml_status verdict_take_elements(struct store *store,
                                   const char *target,
                                   struct arena *arena,
                                   struct verdict *io_verdict)
{
    return io_verdict->kind == VERDICT_FAIL
               ? element_read(store, target, io_verdict->case_id, arena, &io_verdict->elements)
               : TAPML_OK;
}

static tapml_status copy_texts(struct verdict *copy, struct arena *arena)
{
    copy->instance = arena_text(arena, copy->instance);
    copy->op_name = arena_text(arena, copy->op_name);
    copy->phase = arena_text(arena, copy->phase);
    copy->shape_class = arena_text(arena, copy->shape_class);
    copy->observed = arena_text(arena, copy->observed);
    copy->oracle = arena_text(arena, copy->oracle);
    copy->output = arena_text(arena, copy->output);
    copy->reason = arena_text(arena, copy->reason);
    return copy->instance && copy->op_name && copy->phase && copy->shape_class && copy->observed &&
                   copy->oracle && copy->output && copy->reason
               ? TAPML_OK
               : status_no_memory();
}

tapml_status
verdict_copy(const struct verdict *verdict, struct arena *arena, struct verdict *out_copy)
{
    struct verdict copy = *verdict;
    TAPML_TRY(copy_texts(&copy, arena));
    TAPML_TRY(output_error_copy(verdict->errors, verdict->error_count, arena, &copy.errors));
    TAPML_TRY(measured_copy(verdict->measures, verdict->measure_count, arena, &copy.measures));
    TAPML_TRY(element_copy(&verdict->elements, arena, &copy.elements));
    *out_copy = copy;
    return TAPML_OK;
}

// All results of a target, in a few statements instead of some for each result.
struct verdict_reading {
    struct store *store;
    const char *target;
    struct arena *arena;
    struct verdict_limits limits;
    struct output_error_group *groups; // By case.
    size_t group_count, at;            // The first group that is not before the case at hand.
    struct maker_row *makers;
    size_t maker_count;
    int has_measures;
};

// A result whose limits the store lacks, as one that came from another store may be, says nothing
// until the next start measures them.
static tapml_status settle_read(const struct verdict_reading *reading, struct verdict *verdict)
{
    const tapml_status status = settle_by(&reading->limits, verdict, reading->arena);
    if (status == TAPML_NOT_FOUND) {
        verdict->kind = VERDICT_SKIPPED;
        verdict->reason = "its limits are not known: the next start measures them";
        return TAPML_OK;
    }
    return status;
}

static void find_errors(struct verdict_reading *reading, struct verdict *verdict)
{
    while (reading->at < reading->group_count &&
           reading->groups[reading->at].case_id < verdict->case_id) {
        reading->at++;
    }
    if (reading->at < reading->group_count &&
        reading->groups[reading->at].case_id == verdict->case_id) {
        verdict->errors = reading->groups[reading->at].items;
        verdict->error_count = reading->groups[reading->at].count;
    }
}

// A store of an earlier version has margins alone.
static int has_errors(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->error_count; i++) {
        if (*verdict->errors[i].class_ != '\0') {
            return 1;
        }
    }
    return 0;
}

static const char *find_change(const struct result_maker *maker, const struct result_maker *last)
{
    return strcmp(maker->device, last->device) != 0                   ? "the device"
           : strcmp(maker->driver, last->driver) != 0                 ? "the driver"
           : strcmp(maker->implementation, last->implementation) != 0 ? "its code"
                                                                      : "an option";
}

// What was measured stays to be seen, and counts for nothing.
static tapml_status
make_stale(const struct verdict_reading *reading, const char *why, struct verdict *verdict)
{
    verdict->freshness = VERDICT_OUTDATED;
    verdict->kind = VERDICT_STALE;
    verdict->reason = arena_format(reading->arena, "%s %s: the next start replays it%s%s",
                                   verdict_name(verdict->measured_kind), why,
                                   *verdict->reason != '\0' ? "; " : "", verdict->reason);
    return verdict->reason ? TAPML_OK : status_no_memory();
}

static tapml_status
find_freshness(const struct verdict_reading *reading, int has_run, struct verdict *verdict)
{
    const struct result_maker *maker = &verdict->result->maker;
    const struct maker_row *last =
        maker_search(reading->makers, reading->maker_count, verdict->op_name, verdict->op_version);
    verdict->measured_kind = verdict->kind;
    if (has_run && !has_errors(verdict)) {
        return make_stale(reading, "by a host that kept no errors", verdict);
    }
    if (last && maker_differs(maker, &last->maker)) {
        char why[48];
        (void)snprintf(why, sizeof(why), "before %s changed", find_change(maker, &last->maker));
        return make_stale(reading, why, verdict);
    }
    verdict->has_stale_limits = has_run && last && strcmp(maker->oracle, last->maker.oracle) != 0;
    return TAPML_OK;
}

static tapml_status
read_one(struct verdict_reading *reading, const struct result_row *row, struct verdict *out_verdict)
{
    int has_run = 0;
    *out_verdict = (struct verdict){.case_id = row->case_id,
                                    .result = row,
                                    .source = "carved",
                                    .label = "",
                                    .instance = row->instance,
                                    .op_name = row->op,
                                    .op_version = row->version,
                                    .phase = row->phase,
                                    .shape_class = row->shape_class};
    TAPML_TRY(take_row(row, out_verdict, &has_run));
    if (has_run) {
        find_errors(reading, out_verdict);
        skip_without_errors(out_verdict);
    }
    if (has_run && reading->has_measures) {
        TAPML_TRY(take_measures(reading->store, reading->target, reading->arena, out_verdict));
    }
    TAPML_TRY(settle_read(reading, out_verdict));
    TAPML_TRY(verdict_take_elements(reading->store, reading->target, reading->arena, out_verdict));
    return find_freshness(reading, has_run, out_verdict);
}

static tapml_status begin_reading(struct verdict_reading *reading)
{
    struct limit_row *limits = NULL;
    TAPML_TRY(limit_list(reading->store, reading->arena, &limits, &reading->limits.count));
    reading->limits.rows = limits;
    TAPML_TRY(output_error_groups(reading->store, reading->target, reading->arena, &reading->groups,
                                  &reading->group_count));
    TAPML_TRY(maker_list(reading->store, reading->target, reading->arena, &reading->makers,
                         &reading->maker_count));
    return measured_has(reading->store, reading->target, &reading->has_measures);
}

// The first fresh verdict on each content key.
static tapml_status
find_fresh_keys(struct store *store, const struct verdict_list *list, struct table *out_keys)
{
    for (size_t i = 0; i < list->count; i++) {
        char key[CARVED_KEY];
        size_t earlier = 0;
        if (list->items[i].freshness != VERDICT_FRESH) {
            continue;
        }
        TAPML_TRY(carved_find_key(store, list->items[i].case_id, key));
        if (!table_find(out_keys, key, &earlier)) {
            TAPML_TRY(table_set(out_keys, key, i));
        }
    }
    return TAPML_OK;
}

static void take_over(const struct verdict *fresh, struct verdict *io_verdict)
{
    io_verdict->freshness = VERDICT_INHERITED;
    io_verdict->kind = io_verdict->measured_kind = fresh->kind;
    io_verdict->margin = fresh->margin;
    io_verdict->output = fresh->output;
    io_verdict->reason = fresh->reason;
    io_verdict->errors = fresh->errors;
    io_verdict->error_count = fresh->error_count;
    io_verdict->elements = fresh->elements;
    io_verdict->has_stale_limits = fresh->has_stale_limits;
}

// Cases with one key are the same test: what one of them says of the target, it says of all.
static tapml_status inherit(struct store *store, struct verdict_list *list, struct table *keys)
{
    TAPML_TRY(find_fresh_keys(store, list, keys));
    for (size_t i = 0; i < list->count; i++) {
        char key[CARVED_KEY];
        size_t fresh = 0;
        if (list->items[i].freshness != VERDICT_OUTDATED) {
            continue;
        }
        TAPML_TRY(carved_find_key(store, list->items[i].case_id, key));
        if (table_find(keys, key, &fresh)) {
            take_over(&list->items[fresh], &list->items[i]);
        }
    }
    return TAPML_OK;
}

static tapml_status inherit_if_stale(struct store *store, struct verdict_list *list)
{
    struct table keys;
    size_t stale = 0;
    for (size_t i = 0; i < list->count; i++) {
        stale += list->items[i].freshness == VERDICT_OUTDATED;
    }
    table_init(&keys);
    const tapml_status status = stale > 0 ? inherit(store, list, &keys) : TAPML_OK;
    table_release(&keys);
    return status;
}

static tapml_status read_results(struct store *store, const char *target, struct verdict_list *list)
{
    struct verdict_reading reading = {
        .store = store, .target = target, .arena = list->arena, .limits = {.store = store}};
    struct result_row *rows = NULL;
    size_t count = 0;
    TAPML_TRY(begin_reading(&reading));
    TAPML_TRY(result_list(store, target, list->arena, &rows, &count));
    list->items = arena_array(list->arena, count + 1, sizeof(*list->items));
    if (!list->items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(read_one(&reading, &rows[i], &list->items[list->count++]));
    }
    return inherit_if_stale(store, list);
}

tapml_status verdict_read(struct store *store, const char *target, struct verdict_list *out_list)
{
    struct verdict_list list = {.arena = arena_create()};
    const tapml_status status =
        list.arena ? read_results(store, target, &list) : status_no_memory();
    if (status != TAPML_OK) {
        verdict_list_release(&list);
        return status;
    }
    *out_list = list;
    return TAPML_OK;
}

void verdict_list_release(struct verdict_list *list)
{
    if (list) {
        alloc_free(list->derived);
        arena_destroy(list->arena);
        *list = (struct verdict_list){0};
    }
}
