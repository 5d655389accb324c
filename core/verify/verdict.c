// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/verdict.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "store/limit.h"
#include "verify/replay.h"

#include <math.h>
#include <string.h>

static const char *const NAMES[] = {
    [VERDICT_PASS] = "pass",       [VERDICT_FAIL] = "fail",
    [VERDICT_ERROR] = "error",     [VERDICT_UNSUPPORTED] = "unsupported",
    [VERDICT_SKIPPED] = "skipped",
};

enum { NAME_COUNT = (int)(sizeof(NAMES) / sizeof(*NAMES)) };

const char *verdict_name(enum verdict_kind kind)
{
    return NAMES[kind];
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

// The limit of an output that was measured. Exact ones and those that have a margin need none.
static tapml_status find_limit(struct store *store,
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
    TAPML_TRY(limit_find(store, &row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "the store has no limit of '%s' for case %lld",
                           error->param, (long long)verdict->case_id);
    }
    out_limit->ulp = row.ulp;
    out_limit->nmse = row.nmse;
    out_limit->row_error = row.row_error;
    return TAPML_OK;
}

tapml_status verdict_settle(struct store *store, struct verdict *io_verdict, struct arena *arena)
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
        TAPML_TRY(find_limit(store, io_verdict, &io_verdict->errors[i], &limits[i]));
    }
    return verdict_judge(io_verdict, limits, arena);
}

tapml_status verdict_take(struct store *store,
                          const char *target,
                          const struct result_row *row,
                          struct arena *arena,
                          struct verdict *io_verdict)
{
    struct output_error *errors = NULL;
    struct measured *measures = NULL;
    io_verdict->oracle = row->maker.oracle;
    io_verdict->observed = io_verdict->reason = row->reason;
    io_verdict->time_ns = row->time_ns;
    io_verdict->elements = (struct element_list){.beyond = row->beyond, .total = row->total};
    io_verdict->margin = io_verdict->cost = NAN;
    io_verdict->output = "";
    if (strcmp(row->outcome, RESULT_RAN) != 0) {
        const tapml_status status = verdict_find_kind(row->outcome, &io_verdict->kind);
        return status == TAPML_OK
                   ? TAPML_OK
                   : status_explain(status, "in the result of case %lld", (long long)row->case_id);
    }
    TAPML_TRY(
        output_error_list(store, target, row->case_id, arena, &errors, &io_verdict->error_count));
    io_verdict->errors = errors;
    TAPML_TRY(
        measured_list(store, target, row->case_id, arena, &measures, &io_verdict->measure_count));
    io_verdict->measures = measures;
    if (io_verdict->error_count == 0) {
        io_verdict->kind = VERDICT_SKIPPED;
        io_verdict->reason = "its errors are not known: the next start replays it";
    }
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

// A result whose limits the store lacks, as one that came from another store may be, says nothing
// until the next start measures them.
static tapml_status settle_read(struct store *store, struct verdict *verdict, struct arena *arena)
{
    const tapml_status status = verdict_settle(store, verdict, arena);
    if (status == TAPML_NOT_FOUND) {
        verdict->kind = VERDICT_SKIPPED;
        verdict->reason = "its limits are not known: the next start measures them";
        return TAPML_OK;
    }
    return status;
}

static tapml_status read_one(struct store *store,
                             const char *target,
                             const struct result_row *row,
                             struct arena *arena,
                             struct verdict *out_verdict)
{
    *out_verdict = (struct verdict){.case_id = row->case_id,
                                    .result = row,
                                    .source = "carved",
                                    .label = "",
                                    .instance = row->instance,
                                    .op_name = row->op,
                                    .op_version = row->version,
                                    .phase = row->phase,
                                    .shape_class = row->shape_class};
    TAPML_TRY(verdict_take(store, target, row, arena, out_verdict));
    TAPML_TRY(settle_read(store, out_verdict, arena));
    return verdict_take_elements(store, target, arena, out_verdict);
}

static tapml_status read_results(struct store *store, const char *target, struct verdict_list *list)
{
    struct result_row *rows = NULL;
    size_t count = 0;
    TAPML_TRY(result_list(store, target, list->arena, &rows, &count));
    list->items = arena_array(list->arena, count + 1, sizeof(*list->items));
    if (!list->items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(read_one(store, target, &rows[i], list->arena, &list->items[list->count++]));
    }
    return TAPML_OK;
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
