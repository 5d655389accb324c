// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/examiner.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/stages.h"
#include "base/table.h"
#include "exec/persist.h"
#include "store/case.h"
#include "store/declaration.h"
#include "store/label.h"
#include "store/store.h"
#include "store/stored_case.h"
#include "verify/calibrator.h"
#include "verify/comparers.h"
#include "verify/defined_ops.h"
#include "verify/element_search.h"
#include "verify/explainer.h"
#include "verify/makers.h"

#include <math.h>
#include <string.h>

struct examiner {
    const struct verdict_options *options;
    struct replay *replay;
    struct calibrator *calibrator;
    struct makers *makers;
    struct explainer *explainer; // Made when something has failed.
    struct arena *texts;         // Of the verdict on a case that came alone.
    struct table hangs;          // Of ops: how often one has.
};

static tapml_status open_all(struct examiner *examiner)
{
    const struct verdict_options *options = examiner->options;
    TAPML_TRY(defined_ops_learn(options->store, options->registry));
    TAPML_TRY(replay_create(options->backend, options->checkpoint, &examiner->replay));
    TAPML_TRY(calibrator_create(options->registry, options->checkpoint, options->backend,
                                &examiner->calibrator));
    if (activation_is_reduced(options->activation)) {
        calibrator_set_activation(examiner->calibrator, options->activation);
    }
    calibrator_set_declares(examiner->calibrator,
                            options->declares ? options->declares : options->backend);
    const struct makers_options makers = {options->registry, options->backend, examiner->calibrator,
                                          options->faults, options->fault_count};
    return makers_create(&makers, &examiner->makers);
}

tapml_status examiner_create(const struct verdict_options *options, struct examiner **out_examiner)
{
    struct examiner *examiner = alloc_new(sizeof(*examiner));
    if (!examiner) {
        return status_no_memory();
    }
    examiner->options = options;
    table_init(&examiner->hangs);
    const tapml_status status = open_all(examiner);
    if (status != TAPML_OK) {
        examiner_destroy(examiner);
    } else {
        *out_examiner = examiner;
    }
    return status;
}

void examiner_destroy(struct examiner *examiner)
{
    if (examiner) {
        replay_destroy(examiner->replay);
        calibrator_destroy(examiner->calibrator);
        explainer_destroy(examiner->explainer);
        makers_destroy(examiner->makers);
        arena_destroy(examiner->texts);
        table_release(&examiner->hangs);
        alloc_free(examiner);
    }
}

const struct compiled_op *examiner_schema(const struct examiner *examiner,
                                          const struct carved_case *item)
{
    return catalogue_find(registry_catalogue(examiner->options->registry), item->op_name,
                          item->op_version);
}

tapml_status examiner_maker(struct examiner *examiner,
                            const char *op,
                            uint32_t version,
                            const struct result_maker **out_maker)
{
    return makers_find(examiner->makers, op, version, out_maker);
}

// -- Running a case ------------------------------------------------------------------------------

static tapml_status
set_reason(struct arena *arena, enum verdict_kind kind, const char *reason, struct verdict *verdict)
{
    verdict->kind = kind;
    verdict->observed = verdict->reason = arena_text(arena, reason);
    return verdict->reason ? TAPML_OK : status_no_memory();
}

static tapml_status find_elements(const struct examination *examination,
                                  struct arena *arena,
                                  struct verdict *io_verdict)
{
    uint32_t worst = 0;
    while (strcmp(examination->result.outputs[worst].param, io_verdict->output) != 0) {
        worst++;
        ASSERT(worst < examination->result.output_count); // It is one of them.
    }
    const struct replay_output *output = &examination->result.outputs[worst];
    return element_search_run(output, output_measure_argument(examination->item, output->param),
                              &examination->limits[worst], arena, &io_verdict->elements);
}

// Whether a target fails by values that are not finite, where those of an honest device are not
// finite either. What it wrote outside, or did not write, is a failure at any rate.
static tapml_status is_overflow(const struct examiner *examiner,
                                const struct examination *examination,
                                const struct verdict *verdict,
                                int *out_is_overflow)
{
    int has_non_finite = 0;
    *out_is_overflow = 0;
    for (size_t i = 0; i < verdict->error_count; i++) {
        if (verdict->errors[i].is_outside) {
            return TAPML_OK;
        }
        has_non_finite |= verdict->errors[i].non_finite > 0;
    }
    return verdict->kind == VERDICT_FAIL && has_non_finite
               ? calibrator_overflows(examiner->calibrator, examination->item, examination->schema,
                                      out_is_overflow)
               : TAPML_OK;
}

// Looks for a precision that explains a failure, as a sentence beside the errors.
static tapml_status explain(struct examiner *examiner,
                            const struct examination *examination,
                            struct arena *arena,
                            struct verdict *io_verdict)
{
    const struct verdict_options *options = examiner->options;
    const struct explainer_question question = {.item = examination->item,
                                                .schema = examination->schema,
                                                .outputs = examination->result.outputs,
                                                .output_count = examination->result.output_count};
    char text[EXPLAINER_TEXT];
    if (*io_verdict->observed != '\0' || activation_is_reduced(options->activation) ||
        activation_is_reduced(backend_info(options->backend)->activation)) {
        return TAPML_OK;
    }
    if (!examiner->explainer) {
        TAPML_TRY(explainer_create(options->registry, options->checkpoint, options->backend,
                                   &examiner->explainer));
    }
    TAPML_TRY(explainer_ask(examiner->explainer, &question, text));
    io_verdict->observed = arena_text(arena, text);
    return io_verdict->observed ? verdict_judge(io_verdict, examination->limits, arena)
                                : status_no_memory();
}

static tapml_status judge_all(struct examiner *examiner,
                              struct examination *examination,
                              struct arena *arena,
                              struct verdict *io_verdict)
{
    const struct replay_result *result = &examination->result;
    const struct result_maker *maker = NULL;
    int overflows = 0;
    if (result->output_count == 0) {
        return set_reason(arena, VERDICT_SKIPPED, "has no output to compare", io_verdict);
    }
    struct output_error *errors = arena_array(arena, result->output_count, sizeof(*errors));
    if (!errors) {
        return status_no_memory();
    }
    TAPML_TRY(output_measure_all(&(struct output_measure){examiner->options, examiner->calibrator},
                                 examination, arena, errors));
    TAPML_TRY(examiner_maker(examiner, examination->item->op_name, examination->item->op_version,
                             &maker));
    io_verdict->errors = errors;
    io_verdict->error_count = result->output_count;
    io_verdict->oracle = arena_text(arena, maker->oracle);
    io_verdict->observed = arena_text(arena, result->reason);
    io_verdict->time_ns = result->time_ns;
    io_verdict->cost = examination->cost;
    if (!io_verdict->oracle || !io_verdict->observed) {
        return status_no_memory();
    }
    TAPML_TRY(verdict_judge(io_verdict, examination->limits, arena));
    TAPML_TRY(comparers_measure(
        examination->is_derived ? NULL : examiner->options->comparers,
        &(struct comparers_question){examination->item, examination->schema, result}, arena,
        &io_verdict->measures, &io_verdict->measure_count));
    TAPML_TRY(is_overflow(examiner, examination, io_verdict, &overflows));
    if (overflows) {
        io_verdict->error_count = io_verdict->measure_count = 0; // They say nothing of the target.
        io_verdict->margin = io_verdict->cost = NAN;
        io_verdict->output = io_verdict->oracle = "";
        return set_reason(arena, VERDICT_SKIPPED, calibrator_overflow_reason(), io_verdict);
    }
    if (io_verdict->kind == VERDICT_FAIL) {
        TAPML_TRY(explain(examiner, examination, arena, io_verdict));
    }
    return io_verdict->kind == VERDICT_FAIL ? find_elements(examination, arena, io_verdict)
                                            : TAPML_OK;
}

static tapml_status judge_outputs(struct examiner *examiner,
                                  struct examination *examination,
                                  struct arena *arena,
                                  struct verdict *io_verdict)
{
    const enum stages_kind before = stages_enter(STAGES_COMPARE);
    const tapml_status status = judge_all(examiner, examination, arena, io_verdict);
    stages_return(before, 0);
    return status;
}

size_t examiner_hangs(const struct examiner *examiner, const char *op_name)
{
    size_t count = 0;
    return table_find(&examiner->hangs, op_name, &count) ? count : 0;
}

// Gives back the failure, whose message stays unless there is no memory.
static tapml_status note_hang(struct examiner *examiner, const char *op_name)
{
    TAPML_TRY(table_set(&examiner->hangs, op_name, examiner_hangs(examiner, op_name) + 1));
    return TAPML_DEADLINE;
}

static tapml_status replay(struct examiner *examiner, struct examination *examination)
{
    struct persist persist;
    tapml_status status = TAPML_OK;
    persist_begin(&persist, examiner->options->backend);
    do {
        status = replay_run(examiner->replay, examination->item, examination->schema,
                            examination->is_timed, &examination->result);
    } while (persist_again(&persist, &status));
    return status == TAPML_DEADLINE ? note_hang(examiner, examination->item->op_name) : status;
}

static tapml_status judge_result(struct examiner *examiner,
                                 struct examination *examination,
                                 struct arena *arena,
                                 struct verdict *io_verdict)
{
    switch (examination->result.outcome) {
    case REPLAY_RAN:
        break;
    case REPLAY_UNSUPPORTED:
        return set_reason(arena, VERDICT_UNSUPPORTED, examination->result.reason, io_verdict);
    case REPLAY_SKIPPED:
        return set_reason(arena, VERDICT_SKIPPED, examination->result.reason, io_verdict);
    }
    return judge_outputs(examiner, examination, arena, io_verdict);
}

static tapml_status run(struct examiner *examiner,
                        struct examination *examination,
                        struct arena *arena,
                        struct verdict *io_verdict)
{
    const tapml_status status = replay(examiner, examination);
    if (status != TAPML_OK && status_ends_all(status)) {
        return status;
    }
    if (status != TAPML_OK) {
        io_verdict->failure = status;
        return set_reason(arena, VERDICT_ERROR, status_message(), io_verdict);
    }
    return judge_result(examiner, examination, arena, io_verdict);
}

// Tells the observer of a case that was tried.
static tapml_status observe(const struct examiner *examiner,
                            const struct examination *examination,
                            const struct verdict *verdict,
                            tapml_status status)
{
    const struct verdict_options *options = examiner->options;
    if (status == TAPML_OK && options->observe) {
        options->observe(options->user, examination, verdict);
    }
    return status;
}

tapml_status examiner_try(struct examiner *examiner,
                          struct examination *examination,
                          struct arena *arena,
                          struct verdict *io_verdict)
{
    io_verdict->oracle = io_verdict->observed = "";
    io_verdict->failure = TAPML_OK;
    const tapml_status status =
        examination->schema ? run(examiner, examination, arena, io_verdict)
                            : set_reason(arena, VERDICT_SKIPPED,
                                         "no plugin that was opened knows its op", io_verdict);
    return observe(examiner, examination, io_verdict, status);
}

tapml_status examiner_judge(struct examiner *examiner,
                            struct examination *examination,
                            struct arena *arena,
                            struct verdict *io_verdict)
{
    io_verdict->oracle = io_verdict->observed = "";
    io_verdict->failure = TAPML_OK;
    return observe(examiner, examination, io_verdict,
                   judge_result(examiner, examination, arena, io_verdict));
}

tapml_status examiner_expect(struct examiner *examiner,
                             struct carved_case *item,
                             struct examination *io_examination,
                             struct arena *arena,
                             const char **out_refusal)
{
    const enum stages_kind before = stages_enter(STAGES_CALIBRATE);
    const tapml_status status =
        calibrator_expect(examiner->calibrator, item, io_examination->schema, arena,
                          io_examination->limits, out_refusal);
    stages_return(before, 0);
    return status;
}

tapml_status
examiner_name(struct arena *arena, const struct carved_case *item, struct verdict *io_verdict)
{
    io_verdict->instance = arena_text(arena, item->instance);
    io_verdict->op_name = arena_text(arena, item->op_name);
    io_verdict->op_version = item->op_version;
    io_verdict->phase = arena_text(arena, item->phase);
    io_verdict->shape_class = arena_text(arena, item->shape_class);
    return io_verdict->instance && io_verdict->op_name && io_verdict->phase &&
                   io_verdict->shape_class
               ? TAPML_OK
               : status_no_memory();
}

// -- What the store has --------------------------------------------------------------------------

// Whether a result has errors of the class that the op has today. One of an earlier version of the
// store has none.
static tapml_status
has_errors(struct examiner *examiner, const struct verdict *verdict, int *out_has)
{
    const struct carved_case item = {.op_name = verdict->op_name,
                                     .op_version = verdict->op_version};
    const struct compiled_op *schema = examiner_schema(examiner, &item);
    enum compare_class class_ = COMPARE_EXACT;
    *out_has = verdict->error_count > 0 && schema != NULL;
    if (!*out_has) {
        return TAPML_OK;
    }
    TAPML_TRY(calibrator_class(examiner->calibrator, schema, &class_));
    for (size_t i = 0; i < verdict->error_count; i++) {
        const char *name = verdict->errors[i].class_;
        *out_has &= strcmp(name, compare_class_name(class_)) == 0 ||
                    (class_ == COMPARE_ELEMENTWISE && // Of an output in fewer bits than f32.
                     strcmp(name, compare_class_name(COMPARE_REDUCTION)) == 0);
    }
    return TAPML_OK;
}

static tapml_status give_limits(struct examiner *examiner,
                                const struct carved_case *item,
                                const struct verdict *verdict,
                                struct compare_limit *limits)
{
    struct store *store = examiner->options->store;
    const struct compiled_op *schema = examiner_schema(examiner, item);
    TAPML_TRY(calibrator_limits(examiner->calibrator, store, item, schema, limits));
    const struct judgement first = judgement_make(verdict->errors, limits, verdict->error_count);
    return first.margin > 1 && isfinite(first.margin)
               ? calibrator_widen(examiner->calibrator, store, item, schema, limits)
               : TAPML_OK;
}

// Measures limits that the store lacks on the case itself, and judges by them.
static tapml_status calibrate(struct examiner *examiner,
                              const struct result_maker *maker,
                              struct arena *arena,
                              struct verdict *io_verdict)
{
    const struct verdict_options *options = examiner->options;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX] = {{0}};
    struct carved_case item;
    struct arena *own = arena_create();
    if (!own) {
        return status_no_memory();
    }
    tapml_status status = stored_case_load(options->store, io_verdict->case_id, own, &item);
    if (status == TAPML_OK) {
        status = give_limits(examiner, &item, io_verdict, limits);
    }
    arena_destroy(own);
    TAPML_TRY(status);
    io_verdict->oracle = arena_text(arena, maker->oracle);
    if (!io_verdict->oracle) {
        return status_no_memory();
    }
    TAPML_TRY(
        result_set_oracle(options->store, options->target, io_verdict->case_id, maker->oracle));
    return verdict_judge(io_verdict, limits, arena);
}

static tapml_status settle(struct examiner *examiner,
                           const struct result_maker *maker,
                           struct arena *arena,
                           struct verdict *io_verdict)
{
    if (strcmp(io_verdict->oracle, maker->oracle) == 0) {
        const tapml_status status = verdict_settle(examiner->options->store, io_verdict, arena);
        if (status != TAPML_NOT_FOUND) {
            return status;
        }
    }
    return calibrate(examiner, maker, arena, io_verdict);
}

tapml_status examiner_find(struct examiner *examiner,
                           struct arena *arena,
                           struct verdict *io_verdict,
                           int *out_has)
{
    const struct verdict_options *options = examiner->options;
    const struct result_maker *maker = NULL;
    struct verdict found = *io_verdict;
    struct result_row row;
    TAPML_TRY(examiner_maker(examiner, found.op_name, found.op_version, &maker));
    const tapml_status status =
        result_find(options->store, options->target, found.case_id, maker, arena, &row);
    *out_has = status == TAPML_OK;
    if (!*out_has) {
        return status == TAPML_NOT_FOUND ? TAPML_OK : status;
    }
    TAPML_TRY(verdict_take(options->store, options->target, &row, arena, &found));
    if (strcmp(row.outcome, RESULT_RAN) == 0) {
        TAPML_TRY(has_errors(examiner, &found, out_has));
        *out_has = *out_has && comparers_have(options->comparers, found.measures,
                                              found.measure_count, found.error_count);
        if (!*out_has) {
            return TAPML_OK;
        }
        TAPML_TRY(settle(examiner, maker, arena, &found));
    }
    *io_verdict = found;
    return verdict_take_elements(options->store, options->target, arena, io_verdict);
}

tapml_status examiner_has(struct examiner *examiner, const struct verdict *verdict, int *out_has)
{
    const struct verdict_options *options = examiner->options;
    const struct result_maker *maker = NULL;
    struct result_row row;
    struct arena *arena = arena_create();
    *out_has = 0;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = examiner_maker(examiner, verdict->op_name, verdict->op_version, &maker);
    if (status == TAPML_OK) {
        status = result_find(options->store, options->target, verdict->case_id, maker, arena, &row);
        *out_has = status == TAPML_OK;
    }
    arena_destroy(arena);
    return status == TAPML_NOT_FOUND ? TAPML_OK : status;
}

// Notes what the declaration of an op costs on a case.
static tapml_status note_cost(struct examiner *examiner, const struct verdict *verdict)
{
    const struct carved_case item = {.op_name = verdict->op_name,
                                     .op_version = verdict->op_version};
    const struct compiled_op *schema = examiner_schema(examiner, &item);
    char form[ARITHMETIC_TEXT];
    if (!schema || verdict->error_count == 0 || isnan(verdict->cost)) {
        return TAPML_OK;
    }
    arithmetic_describe(calibrator_form(examiner->calibrator, schema->op), form);
    return *form == '\0'
               ? TAPML_OK
               : declaration_note(examiner->options->store,
                                  &(struct declaration){.target = examiner->options->target,
                                                        .op = verdict->op_name,
                                                        .version = verdict->op_version,
                                                        .form = form,
                                                        .cost = verdict->cost});
}

tapml_status examiner_write(struct examiner *examiner, const struct verdict *verdict)
{
    const struct verdict_options *options = examiner->options;
    const struct result_row item = {
        .case_id = verdict->case_id,
        .outcome = verdict->error_count > 0 ? RESULT_RAN : verdict_name(verdict->kind),
        .reason = verdict->observed,
        .time_ns = verdict->time_ns,
        .beyond = verdict->elements.beyond,
        .total = verdict->elements.total};
    const struct result_maker *known = NULL;
    TAPML_TRY(examiner_maker(examiner, verdict->op_name, verdict->op_version, &known));
    struct result_maker maker = *known;
    maker.oracle = verdict->oracle; // Of what the source says of a call it is the source's.
    TAPML_TRY(result_write(options->store, options->target, &item, &maker));
    TAPML_TRY(note_cost(examiner, verdict));
    TAPML_TRY(output_error_write(options->store, options->target, verdict->case_id, verdict->errors,
                                 verdict->error_count));
    TAPML_TRY(measured_write(options->store, options->target, verdict->case_id, verdict->measures,
                             verdict->measure_count));
    return element_write(options->store, options->target, verdict->case_id, &verdict->elements);
}

// -- Cases that come one by one ------------------------------------------------------------------

// Judges a case, with texts that take the place of those of the last one.
static tapml_status
examine_one(struct examiner *examiner, struct examination *examination, struct verdict *out_verdict)
{
    struct verdict verdict = {.source = "carved",
                              .label = "",
                              .observed = "",
                              .oracle = "",
                              .margin = NAN,
                              .cost = NAN,
                              .output = "",
                              .reason = ""};
    struct arena *texts = arena_create();
    if (!texts) {
        return status_no_memory();
    }
    arena_destroy(examiner->texts);
    examiner->texts = texts;
    examination->schema = examiner_schema(examiner, examination->item);
    tapml_status status = examiner_name(texts, examination->item, &verdict);
    if (status == TAPML_OK) {
        status = examiner_try(examiner, examination, texts, &verdict);
    }
    *out_verdict = verdict;
    return status;
}

tapml_status examiner_case(struct examiner *examiner,
                           const struct carved_case *item,
                           struct verdict *out_verdict)
{
    struct examination examination = {.item = item};
    return examine_one(examiner, &examination, out_verdict);
}

tapml_status
examiner_computed(struct examiner *examiner, struct carved_case *item, struct verdict *out_verdict)
{
    struct examination examination = {.item = item, .is_computed = 1};
    uint32_t output = 0;
    TAPML_TRY(examine_one(examiner, &examination, out_verdict));
    for (uint32_t i = 0; out_verdict->kind == VERDICT_FAIL && i < item->argument_count; i++) {
        if (case_is_output(&item->arguments[i])) {
            const void *right = examination.right[output++];
            ASSERT(right); // It was compared.

            // The caller's to give: it may change the case.
            memcpy((void *)(uintptr_t)item->arguments[i].after, right,
                   item->arguments[i].content_bytes);
        }
    }
    return TAPML_OK;
}

static tapml_status keep_case(struct examiner *examiner,
                              const struct carved_case *item,
                              const struct verdict *verdict,
                              int64_t *out_id)
{
    struct store *store = examiner->options->store;
    struct verdict kept = *verdict;
    int has = 0;
    TAPML_TRY(label_find(store, item, &kept.case_id, &has));
    if (!has) {
        TAPML_TRY(stored_case_add(store, item));
        TAPML_TRY(label_find(store, item, &kept.case_id, &has));
    }
    *out_id = kept.case_id;
    return examiner_write(examiner, &kept);
}

tapml_status examiner_keep(struct examiner *examiner,
                           const struct carved_case *item,
                           const struct verdict *verdict,
                           int64_t *out_case_id)
{
    struct store *store = examiner->options->store;
    TAPML_TRY(store_begin(store));
    tapml_status status = keep_case(examiner, item, verdict, out_case_id);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

struct replay *examiner_replay(const struct examiner *examiner)
{
    return examiner->replay;
}

uint64_t examiner_executions(const struct examiner *examiner)
{
    return replay_executions(examiner->replay);
}

uint64_t examiner_calibrations(const struct examiner *examiner)
{
    return calibrator_executions(examiner->calibrator) +
           (examiner->explainer ? explainer_executions(examiner->explainer) : 0);
}
