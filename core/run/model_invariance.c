// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/model_invariance.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "config/run_config.h"
#include "exec/persist.h"
#include "exec/place.h"
#include "exec/plan.h"
#include "run/log_softmax.h"
#include "run/model_division.h"
#include "run/progress.h"
#include "run/setup.h"
#include "store/invariant.h"
#include "store/store.h"
#include "store/target.h"
#include "verify/invariance_rows.h"
#include "verify/row_bits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RULES = 1, PHASE_TEXT = 160, PARTS_LEAST = 2 }; // Another number makes every row anew.

// Two runs may each lie as far from the source as the judge allows, on different sides. Near 0 the
// root of a divergence is a distance: twice of that is four times of this.
static const double SIDES = 4;

struct model_work {
    const struct model_invariance_options *options;
    struct arena *arena;
    struct place *noted; // The target, with its bits noted.
    struct row_bits *bits;
    struct session *session;
    const struct judge_prompt *prompt;
    int64_t count, width; // Tokens that are run, and logits of each.
    int64_t size;         // Of the calls that are tried.
    struct progress progress;
    size_t done;
};

// Logits of all tokens of a run, and what its ops have left.
struct model_run {
    float *logits;
    struct row_bits_run bits;
};

static void release_run(struct model_run *run)
{
    alloc_free(run->logits);
    row_bits_run_release(&run->bits);
    *run = (struct model_run){.logits = NULL};
}

static tapml_status make_run(const struct model_work *work, struct model_run *out_run)
{
    *out_run = (struct model_run){
        .logits = alloc_array((size_t)(work->count * work->width), sizeof(float))};
    return out_run->logits != NULL ? TAPML_OK : status_no_memory();
}

// The tokens of the prompt from `begin` on, as one call of the model.
static tapml_status
run_call(const struct model_work *work, int64_t begin, int64_t count, struct model_run *run)
{
    const float *logits = NULL;
    int64_t shape[TAPML_MAX_RANK] = {0};
    uint32_t rank = 0;

    row_bits_note(work->bits, &run->bits);
    row_bits_tokens(work->bits, begin, count);
    TAPML_TRY(session_step(work->session, work->prompt->ids + begin, count, NULL, 0));
    TAPML_TRY(session_output(work->session, "logits", &logits, shape, &rank));
    if (rank != 2 || shape[0] != count || shape[1] != work->width) {
        return status_fail(TAPML_INVALID,
                           "expected logits of %" PRId64 " tokens, found rank %u with %" PRId64
                           " rows",
                           count, rank, shape[0]);
    }
    memcpy(run->logits + begin * work->width, logits,
           (size_t)(count * work->width) * sizeof(*logits));
    return TAPML_OK;
}

// Tokens `begin` .. `end` - 1 in calls of `size`.
static tapml_status run_calls(
    const struct model_work *work, int64_t begin, int64_t end, int64_t size, struct model_run *run)
{
    for (int64_t at = begin; at < end; at += size) {
        TAPML_TRY(run_call(work, at, at + size < end ? size : end - at, run));
    }
    return TAPML_OK;
}

static tapml_status run_whole(const struct model_work *work, int64_t size, struct model_run *run)
{
    TAPML_TRY(session_begin(work->session, work->count));
    return run_calls(work, 0, work->count, size, run);
}

// -- Findings ------------------------------------------------------------------------------------

// The largest divergence of the logits of a token; infinite where one is not finite.
static double
find_distance(const struct model_work *work, const float *one, const float *other, int64_t begin)
{
    double largest = 0;

    for (int64_t i = begin; i < work->count; i++) {
        struct log_softmax base, computed;

        if (log_softmax_make(one + i * work->width, work->width, &base) != TAPML_OK ||
            log_softmax_make(other + i * work->width, work->width, &computed) != TAPML_OK) {
            return INFINITY;
        }
        largest = fmax(largest, log_softmax_divergence(&base, &computed));
    }
    return largest;
}

static tapml_status describe(const struct model_work *work,
                             const struct model_run *one,
                             const struct model_run *other,
                             int64_t begin,
                             struct invariance_finding *io_finding)
{
    struct row_bits_difference first;

    if (row_bits_compare(&one->bits, &other->bits, begin, &first)) {
        io_finding->instance = arena_text(work->arena, first.instance);
        io_finding->shape = arena_format(work->arena, "%s, token %" PRId64, first.op, first.token);
    } else { // What differs first is an op of the source.
        io_finding->instance = arena_text(work->arena, "the source");
        io_finding->shape = arena_text(work->arena, "on what it was given");
    }
    return io_finding->instance != NULL && io_finding->shape != NULL ? TAPML_OK
                                                                     : status_no_memory();
}

// Compares the logits of tokens from `begin` on, in a run in calls of `size`, with those of `one`.
static tapml_status note(const struct model_work *work,
                         const struct model_run *one,
                         const struct model_run *other,
                         int64_t begin,
                         uint64_t size,
                         struct invariance_finding *io_finding)
{
    const size_t at = (size_t)(begin * work->width);

    if (other->bits.count == 0) {
        io_finding->reason = "no op of the model runs there";
        return TAPML_OK;
    }
    const size_t bytes = (size_t)((work->count - begin) * work->width) * sizeof(float);
    const int is_equal = memcmp(one->logits + at, other->logits + at, bytes) == 0;
    const double distance = is_equal ? 0 : find_distance(work, one->logits, other->logits, begin);
    const double limit = SIDES * judge_distance_limit(work->options->judge->judge);
    const enum invariance_kind kind = is_equal            ? INVARIANCE_EQUAL
                                      : distance <= limit ? INVARIANCE_WITHIN
                                                          : INVARIANCE_WRONG;

    io_finding->tried++;
    io_finding->margin = fmax(isnan(io_finding->margin) ? 0 : io_finding->margin, distance / limit);
    if (kind < io_finding->kind || (kind == io_finding->kind && size >= io_finding->size)) {
        return TAPML_OK;
    }
    io_finding->kind = kind;
    io_finding->size = is_equal ? 0 : size;
    if (kind == INVARIANCE_WRONG) {
        io_finding->reason = arena_format(
            work->arena, "KL divergence %.3g of the logits, limit %.3g", distance, limit);
    }
    return io_finding->reason == NULL ? status_no_memory()
           : is_equal                 ? TAPML_OK
                                      : describe(work, one, other, begin, io_finding);
}

// -- Axes ----------------------------------------------------------------------------------------

static tapml_status try_chunk(const struct model_work *work,
                              const struct model_run *whole,
                              int64_t size,
                              struct invariance_finding *io_finding)
{
    struct model_run run;

    TAPML_TRY(make_run(work, &run));
    tapml_status status = run_whole(work, size, &run);

    if (status == TAPML_OK) {
        status = note(work, whole, &run, 0, (uint64_t)size, io_finding);
    }
    release_run(&run);
    return status;
}

static tapml_status try_chunks(struct model_work *work, struct invariance_finding *io_finding)
{
    struct model_run whole;

    TAPML_TRY(make_run(work, &whole));
    work->size = work->count;
    tapml_status status = run_whole(work, work->count, &whole);

    for (size_t i = 0; status == TAPML_OK && invariance_rows_chunks[i] > 0; i++) {
        if (invariance_rows_chunks[i] < work->count) {
            work->size = invariance_rows_chunks[i];
            status = try_chunk(work, &whole, work->size, io_finding);
        }
    }
    release_run(&whole);
    return status;
}

// The last `count` tokens at once; then they are dropped, and come one at a time. Where states
// cannot go back, the tokens in front of them are run again.
static tapml_status run_drafted(const struct model_work *work,
                                int64_t count,
                                struct model_run *drafted,
                                struct model_run *single)
{
    const int64_t first = work->count - count;

    TAPML_TRY(session_begin(work->session, work->count));
    TAPML_TRY(first > 0 ? run_call(work, 0, first, drafted) : TAPML_OK);
    TAPML_TRY(run_call(work, first, count, drafted));
    const tapml_status status = session_rewind(work->session, first);

    if (status == TAPML_UNIMPLEMENTED) {
        TAPML_TRY(session_begin(work->session, work->count));
        TAPML_TRY(first > 0 ? run_call(work, 0, first, single) : TAPML_OK);
    } else {
        TAPML_TRY(status);
    }
    return run_calls(work, first, work->count, 1, single);
}

static tapml_status
try_drafted(const struct model_work *work, int64_t count, struct invariance_finding *io_finding)
{
    struct model_run drafted, single;

    TAPML_TRY(make_run(work, &drafted));
    tapml_status status = make_run(work, &single);

    if (status == TAPML_OK) {
        status = run_drafted(work, count, &drafted, &single);
        status = status == TAPML_OK ? note(work, &single, &drafted, work->count - count,
                                           (uint64_t)count, io_finding)
                                    : status;
        release_run(&single);
    }
    release_run(&drafted);
    return status;
}

static tapml_status try_verify(struct model_work *work, struct invariance_finding *io_finding)
{
    for (int64_t count = INVARIANCE_DRAFTED_LEAST;
         count <= INVARIANCE_DRAFTED_MOST && count <= work->count; count++) {
        work->size = count;
        TAPML_TRY(try_drafted(work, count, io_finding));
    }
    return TAPML_OK;
}

// -- Rows ----------------------------------------------------------------------------------------

// Of the prompts without anything beside their ids the longest; NULL: there is none.
static void choose_prompt(struct model_work *work)
{
    const struct run_judge *judge = work->options->judge;
    const int64_t capacity = judge->from.config->capacity;

    for (size_t i = 0; i < judge->from.prompts->count; i++) {
        const struct judge_prompt *prompt = &judge->prompts[i];

        if (prompt->given.count == 0 && prompt->count >= INVARIANCE_DRAFTED_LEAST &&
            (work->prompt == NULL || prompt->count > work->prompt->count)) {
            work->prompt = prompt;
        }
    }
    if (work->prompt != NULL) {
        work->count = work->prompt->count < MODEL_INVARIANCE_TOKENS ? work->prompt->count
                                                                    : MODEL_INVARIANCE_TOKENS;
        work->count = work->count < capacity ? work->count : capacity;
    }
}

static tapml_status open_session(struct model_work *work)
{
    const struct run_judge *judge = work->options->judge;
    const struct place_link link = row_bits_link(&work->bits);
    struct place *target = work->options->target;
    struct plan *plan = NULL;

    TAPML_TRY(place_wrap(target, &target->settings, &link, 1, &work->noted));
    struct place *const places[] = {judge->from.setup->places[0], work->noted};

    TAPML_TRY(plan_parse(work->options->plan, "the plan of the offload", &plan));
    const tapml_status status =
        session_create(&(struct session_options){.model = judge->from.setup->model,
                                                 .places = places,
                                                 .place_count = 2,
                                                 .plan = plan,
                                                 .capacity = judge->from.config->capacity,
                                                 .chunk = work->count},
                       &work->session);

    plan_destroy(plan);
    return status;
}

static tapml_status
leave_out(const struct model_work *work, const char *reason, struct invariance_finding *out_finding)
{
    *out_finding = invariance_trial_none();
    out_finding->reason = arena_text(work->arena, reason);
    return out_finding->reason != NULL ? TAPML_OK : status_no_memory();
}

// A call of a model that fails is wrong.
static tapml_status take_failure(const struct model_work *work,
                                 const struct model *model,
                                 const struct session *session,
                                 struct invariance_finding *finding)
{
    const struct graph *graph = model_graph(model);
    const uint32_t op = session_failed_op(session);
    const char *instance = op != GRAPH_NONE ? graph->ops[op].instance : "the model";
    const char *name = op != GRAPH_NONE ? graph->ops[op].op->name : "it names no operator";

    finding->kind = INVARIANCE_WRONG;
    finding->size = (uint64_t)work->size;
    finding->reason = arena_text(work->arena, status_message());
    finding->instance = arena_text(work->arena, instance);
    finding->shape = arena_text(work->arena, name);
    return finding->reason != NULL && finding->instance != NULL && finding->shape != NULL
               ? TAPML_OK
               : status_no_memory();
}

// -- Divided -------------------------------------------------------------------------------------

static tapml_status try_divided(const struct model_work *work,
                                const struct model_run *whole,
                                const struct model_division *division,
                                struct invariance_finding *io_finding)
{
    struct model_work divided = *work;
    struct model_run run;

    divided.session = division->session;
    divided.bits = division->bits;
    TAPML_TRY(make_run(work, &run));
    tapml_status status = run_whole(&divided, work->count, &run);

    if (status == TAPML_OK) {
        status = note(work, whole, &run, 0, PARTS_LEAST, io_finding);
        if (io_finding->kind > INVARIANCE_EQUAL) { // Parts have names of their own.
            io_finding->instance = work->options->judge->from.config->sharding.mesh;
            io_finding->shape = "[shard]";
        }
    } else if (!status_ends_all(status)) {
        status = take_failure(work, division->model, division->session, io_finding);
    }
    release_run(&run);
    return status;
}

static tapml_status try_parts(struct model_work *work, struct invariance_finding *io_finding)
{
    const struct run_judge *judge = work->options->judge;
    const char *target = work->options->target->settings.name;
    struct model_division division = {.model = NULL};
    struct model_run whole;

    if (!model_division_has(judge->from.config, target)) {
        return leave_out(work,
                         judge->from.config->sharding.mesh == NULL
                             ? "there is no [shard] that says how the model is divided"
                             : "it is no place of the mesh in [shard]",
                         io_finding);
    }
    TAPML_TRY(make_run(work, &whole));
    work->size = PARTS_LEAST;
    tapml_status status = run_whole(work, work->count, &whole);

    if (status == TAPML_OK) {
        status =
            model_division_open(&(struct model_division_options){.judge = judge,
                                                                 .target = work->options->target,
                                                                 .plan = work->options->plan,
                                                                 .chunk = work->count},
                                &division);
        status = status == TAPML_OK        ? try_divided(work, &whole, &division, io_finding)
                 : status_ends_all(status) ? status
                                           : leave_out(work, status_message(), io_finding);
    }
    model_division_close(&division);
    release_run(&whole);
    return status;
}

// -- An axis -------------------------------------------------------------------------------------

// That somebody kills a process says nothing about the model: the axis is tried again.
static tapml_status
run_axis(struct model_work *work, enum invariance_axis axis, struct invariance_finding *out_finding)
{
    struct persist persist;
    tapml_status status = TAPML_OK;

    session_persist(work->session, &persist);
    do {
        *out_finding = invariance_trial_none();
        status = axis == INVARIANCE_CHUNK    ? try_chunks(work, out_finding)
                 : axis == INVARIANCE_VERIFY ? try_verify(work, out_finding)
                                             : try_parts(work, out_finding);
    } while (persist_again(&persist, &status));
    return status == TAPML_OK || status_ends_all(status)
               ? status
               : take_failure(work, work->options->judge->from.setup->model, work->session,
                              out_finding);
}

static tapml_status
try_axis(struct model_work *work, enum invariance_axis axis, struct invariance_finding *out_finding)
{
    if (work->prompt == NULL || work->width == 0) {
        return leave_out(work,
                         work->width == 0 ? "the model has no logits"
                                          : "there is no prompt of two tokens of text",
                         out_finding);
    }
    if (work->session == NULL) {
        const tapml_status status = open_session(work);

        if (status != TAPML_OK) {
            place_destroy(work->noted);
            work->noted = NULL;
            return status_ends_all(status) ? status
                                           : leave_out(work, status_message(), out_finding);
        }
    }
    return run_axis(work, axis, out_finding);
}

static tapml_status
find_basis(const struct model_work *work, enum invariance_axis axis, const char **out_basis)
{
    const struct run_judge *judge = work->options->judge;
    const struct sharding_options *sharding = &judge->from.config->sharding;
    char id[HASH_TEXT] = "", digest[HASH_TEXT];
    struct target_row target;
    struct text text;

    TAPML_TRY(
        target_find(judge->from.store, work->options->target->settings.name, work->arena, &target));
    if (work->prompt != NULL) {
        hash_text(work->prompt->id, id);
    }
    text_init(&text);
    text_format(&text, "%s %d %s|%s|%s|%s|%s|%.17g", TAPML_VERSION, RULES,
                invariance_axis_name(axis), target.identity, target.implementations, id,
                work->options->plan, judge_distance_limit(judge->judge));
    if (axis == INVARIANCE_PARTS && sharding->mesh != NULL) {
        text_format(&text, "|%s|%s|%s|%s", sharding->mesh,
                    sharding->plan != NULL ? sharding->plan : "",
                    sharding->column != NULL ? sharding->column : "",
                    sharding->row != NULL ? sharding->row : "");
    }
    const tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        hash_text(hash_bytes(text.data, text.length), digest);
        *out_basis = arena_text(work->arena, digest);
    }
    text_release(&text);
    return status == TAPML_OK && *out_basis == NULL ? status_no_memory() : status;
}

static tapml_status
find_row(const struct model_work *work, enum invariance_axis axis, const char *basis, int *out_has)
{
    struct invariant_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(invariant_list(work->options->judge->from.store, work->options->target->settings.name,
                             work->arena, &rows, &count));
    *out_has = 0;
    for (size_t i = 0; i < count; i++) {
        *out_has |= strcmp(rows[i].op, MODEL_INVARIANCE_OP) == 0 &&
                    strcmp(rows[i].axis, invariance_axis_name(axis)) == 0 &&
                    strcmp(rows[i].basis, basis) == 0;
    }
    return TAPML_OK;
}

static tapml_status write_row(const struct model_work *work,
                              enum invariance_axis axis,
                              const struct invariance_finding *finding,
                              const char *basis)
{
    struct store *store = work->options->judge->from.store;

    TAPML_TRY(store_begin(store));
    tapml_status status = invariant_write(
        store, work->options->target->settings.name,
        &(struct invariant_row){.op = MODEL_INVARIANCE_OP,
                                .axis = invariance_axis_name(axis),
                                .verdict = invariance_trial_kind_name(finding->kind),
                                .size = finding->size,
                                .tried = finding->tried,
                                .instance = finding->instance,
                                .shape = finding->shape,
                                .margin = finding->margin,
                                .reason = finding->reason,
                                .basis = basis});

    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status judge_axis(struct model_work *work, enum invariance_axis axis)
{
    struct invariance_finding finding;
    const char *basis = NULL;
    int has = 0;

    if ((work->options->settings.axes & 1U << axis) == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(find_basis(work, axis, &basis));
    TAPML_TRY(find_row(work, axis, basis, &has));
    if (has) {
        return TAPML_OK;
    }
    TAPML_TRY(try_axis(work, axis, &finding));
    TAPML_TRY(write_row(work, axis, &finding, basis));
    progress_end(&work->progress, "the whole model, %s: %s", invariance_axis_name(axis),
                 invariance_trial_kind_name(finding.kind));
    work->done++;
    return TAPML_OK;
}

static tapml_status judge_axes(struct model_work *work)
{
    char phase[PHASE_TEXT];

    work->arena = arena_create();
    if (work->arena == NULL) {
        return status_no_memory();
    }
    choose_prompt(work);
    work->width = setup_vocabulary(work->options->judge->from.setup);
    (void)snprintf(phase, sizeof(phase), "invariance on %s", work->options->target->settings.name);
    progress_begin(&work->progress, phase, 0);
    work->progress.lock = work->options->judge->from.lock;
    TAPML_TRY(judge_axis(work, INVARIANCE_CHUNK));
    TAPML_TRY(judge_axis(work, INVARIANCE_VERIFY));
    return judge_axis(work, INVARIANCE_PARTS);
}

tapml_status model_invariance_judge(const struct model_invariance_options *options)
{
    struct model_work work = {.options = options};
    const tapml_status status = judge_axes(&work);

    session_destroy(work.session);
    place_destroy(work.noted);
    arena_destroy(work.arena);
    return status;
}
