// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/choices.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "run/expected.h"
#include "schema/catalogue.h"
#include "tensor/activation.h"
#include "tensor/convert.h"
#include "verify/recast.h"
#include "verify/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An op that chooses: the parameters with its scores and with what it has chosen.
struct chooser {
    uint32_t op, scores, indices;
    size_t width, count;  // Scores and chosen numbers of a token.
    double *known_scores; // Of f32, for each token up to `known_count`.
    int32_t *known;       // The numbers, which grow.
    int64_t known_count;
};

struct tie {
    uint32_t op;
    int64_t position;
    double error; // Of the row of scores.
};

struct choices {
    const struct graph *graph;
    struct replay *replay; // In f32.
    double tolerance;
    struct chooser *choosers;
    size_t chooser_count;
    struct tie *ties;
    size_t tie_count, tie_capacity;
    int64_t position;
    int is_plain;
};

static int is_score(const struct graph_op *op, uint32_t index)
{
    const tapml_param *param = op->op->params[index];
    const uint64_t others = TAPML_E_WEIGHT | TAPML_E_STATE_READ;

    return param->kind == TAPML_P_TENSOR_IN && (param->effects & others) == 0 &&
           compiled_takes(op->schema, index, TAPML_F32);
}

static int is_index(const struct graph_op *op, uint32_t index)
{
    return op->op->params[index]->kind == TAPML_P_TENSOR_OUT &&
           compiled_takes(op->schema, index, TAPML_I32);
}

static int is_chooser(const struct graph_op *op, struct chooser *out_chooser)
{
    int has_scores = 0, has_indices = 0;

    for (uint32_t i = 0; i < op->op->n_params; i++) {
        if (is_score(op, i) && !has_scores) {
            out_chooser->scores = i;
            has_scores = 1;
        }
        if (is_index(op, i) && !has_indices) {
            out_chooser->indices = i;
            has_indices = 1;
        }
    }
    return has_scores && has_indices;
}

static tapml_status find_choosers(struct choices *choices)
{
    const struct graph *graph = choices->graph;

    choices->choosers = alloc_array((size_t)graph->op_count + 1, sizeof(*choices->choosers));
    if (choices->choosers == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        struct chooser *chooser = &choices->choosers[choices->chooser_count];

        *chooser = (struct chooser){.op = i};
        choices->chooser_count += (size_t)is_chooser(&graph->ops[i], chooser);
    }
    return TAPML_OK;
}

tapml_status choices_create(const struct graph *graph,
                            const struct checkpoint *checkpoint,
                            struct backend *plain,
                            double tolerance,
                            struct choices **out_choices)
{
    struct choices *choices = alloc_new(sizeof(*choices));

    if (choices == NULL) {
        return status_no_memory();
    }
    choices->graph = graph;
    choices->tolerance = tolerance;
    tapml_status status = find_choosers(choices);

    if (status == TAPML_OK) {
        status = replay_create(plain, checkpoint, &choices->replay);
    }
    if (status != TAPML_OK) {
        choices_destroy(choices);
        return status;
    }
    *out_choices = choices;
    return TAPML_OK;
}

void choices_destroy(struct choices *choices)
{
    if (choices == NULL) {
        return;
    }
    for (size_t i = 0; i < choices->chooser_count; i++) {
        alloc_free(choices->choosers[i].known);
        alloc_free(choices->choosers[i].known_scores);
    }
    replay_destroy(choices->replay);
    alloc_free(choices->choosers);
    alloc_free(choices->ties);
    alloc_free(choices);
}

int choices_are_there(const struct choices *choices)
{
    return choices->chooser_count > 0;
}

static struct chooser *find(const struct choices *choices, uint32_t op)
{
    for (size_t i = 0; i < choices->chooser_count; i++) {
        if (choices->choosers[i].op == op) {
            return &choices->choosers[i];
        }
    }
    return NULL;
}

int choices_want(const struct choices *choices, uint32_t op, uint32_t param)
{
    const struct chooser *chooser = find(choices, op);
    const struct graph_op *item = chooser != NULL ? &choices->graph->ops[op] : NULL;

    return item != NULL && (param == chooser->indices || is_score(item, param));
}

void choices_begin(struct choices *choices, int is_plain)
{
    choices->is_plain = is_plain;
    choices->tie_count = 0;
    choices->position = 0;
    for (size_t i = 0; is_plain && i < choices->chooser_count; i++) {
        choices->choosers[i].known_count = 0;
    }
}

void choices_set_position(struct choices *choices, int64_t position)
{
    choices->position = position;
}

// -- What a call shows -------------------------------------------------------------------------

static int is_less(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;

    return (a > b) - (a < b);
}

// The chosen numbers of `rows` tokens, in `arena`, each row sorted: their order decides nothing.
static int32_t *sort_rows(const void *indices, size_t rows, size_t count, struct arena *arena)
{
    int32_t *sorted = arena_array(arena, rows * count + 1, sizeof(*sorted));

    if (sorted != NULL) {
        memcpy(sorted, indices, rows * count * sizeof(*sorted));
    }
    for (size_t row = 0; sorted != NULL && row < rows; row++) {
        qsort(sorted + row * count, count, sizeof(*sorted), is_less);
    }
    return sorted;
}

static float *widen(const struct case_argument *argument, size_t count, struct arena *arena)
{
    const struct activation_type *type = activation_type(activation_find(argument->dtype));
    float *values = arena_array(arena, count + 1, sizeof(*values));

    if (values != NULL) {
        type->to_f32(argument->before, count, values);
    }
    return values;
}

static tapml_status keep(
    struct chooser *chooser, int64_t position, size_t rows, const int32_t *ids, const float *scores)
{
    const size_t first = (size_t)position, all = first + rows;
    int32_t *known = alloc_array(all * chooser->count + 1, sizeof(*known));
    double *known_scores = alloc_array(all * chooser->width + 1, sizeof(*known_scores));

    if (known == NULL || known_scores == NULL || position > chooser->known_count) {
        alloc_free(known);
        alloc_free(known_scores);
        return position > chooser->known_count ? TAPML_OK : status_no_memory();
    }
    if (first > 0) {
        memcpy(known, chooser->known, first * chooser->count * sizeof(*known));
        memcpy(known_scores, chooser->known_scores, first * chooser->width * sizeof(*known_scores));
    }
    memcpy(known + first * chooser->count, ids, rows * chooser->count * sizeof(*known));
    for (size_t i = 0; i < rows * chooser->width; i++) {
        known_scores[first * chooser->width + i] = (double)scores[i];
    }
    alloc_free(chooser->known);
    alloc_free(chooser->known_scores);
    chooser->known = known;
    chooser->known_scores = known_scores;
    chooser->known_count = (int64_t)all;
    return TAPML_OK;
}

// What f32 chooses over the scores that the call had.
static tapml_status choose_again(const struct choices *choices,
                                 const struct chooser *chooser,
                                 const struct probe_call *call,
                                 size_t rows,
                                 struct arena *arena,
                                 int32_t **out_ids)
{
    const struct graph_op *op = &choices->graph->ops[chooser->op];
    const uint32_t dtype = call->arguments[chooser->scores].dtype;
    struct carved_case item = {.instance = call->instance,
                               .op_name = op->op->name,
                               .op_version = op->op->version,
                               .phase = "",
                               .shape_class = "",
                               .argument_count = op->op->n_params,
                               .is_derived = 1};
    struct replay_result result;

    *out_ids = NULL;
    item.arguments = arena_array(arena, item.argument_count + 1, sizeof(*item.arguments));
    if (item.arguments == NULL) {
        return status_no_memory();
    }
    memcpy(item.arguments, call->arguments, item.argument_count * sizeof(*item.arguments));
    TAPML_TRY(recast_widen_case(&item, activation_find(dtype), arena, &item));
    TAPML_TRY(replay_run(choices->replay, &item, op->schema, 0, &result));
    for (uint32_t i = 0; result.outcome == REPLAY_RAN && i < result.output_count; i++) {
        if (strcmp(result.outputs[i].param, op->op->params[chooser->indices]->name) == 0) {
            *out_ids = sort_rows(result.outputs[i].computed, rows, chooser->count, arena);
            return *out_ids != NULL ? TAPML_OK : status_no_memory();
        }
    }
    return TAPML_OK; // It cannot be told.
}

static tapml_status add_tie(struct choices *choices, const struct tie *tie)
{
    void *grown = choices->ties;

    if (!alloc_grow(&grown, &choices->tie_capacity, choices->tie_count, sizeof(struct tie))) {
        return status_no_memory();
    }
    choices->ties = grown;
    choices->ties[choices->tie_count++] = *tie;
    return TAPML_OK;
}

// The error of a row of scores against that of f32.
static double error_of(const struct chooser *chooser, int64_t position, const float *scores)
{
    return expected_row_error(scores, chooser->known_scores + (size_t)position * chooser->width,
                              (int64_t)chooser->width);
}

// Whether a token chose otherwise than in f32.
static int is_other(const struct chooser *chooser, int64_t position, const int32_t *ids)
{
    return position < chooser->known_count &&
           memcmp(ids, chooser->known + (size_t)position * chooser->count,
                  chooser->count * sizeof(*ids)) != 0;
}

// The rows of a call.
struct choice_rows {
    size_t rows;
    const int32_t *ids;  // Of each row the chosen numbers, sorted,
    const float *scores; // and its scores.
};

static tapml_status compare(struct choices *choices,
                            const struct chooser *chooser,
                            const struct probe_call *call,
                            const struct choice_rows *seen,
                            struct arena *arena)
{
    int32_t *again = NULL;

    for (size_t row = 0; row < seen->rows; row++) {
        const int64_t position = choices->position + (int64_t)row;
        const size_t at = row * chooser->count;

        if (!is_other(chooser, position, seen->ids + at)) {
            continue;
        }
        const struct tie tie = {chooser->op, position,
                                error_of(chooser, position, seen->scores + row * chooser->width)};

        if (!(tie.error <= choices->tolerance)) {
            continue;
        }
        if (again == NULL) {
            TAPML_TRY(choose_again(choices, chooser, call, seen->rows, arena, &again));
        }
        if (again != NULL &&
            memcmp(seen->ids + at, again + at, chooser->count * sizeof(*again)) == 0) {
            TAPML_TRY(add_tie(choices, &tie));
        }
    }
    return TAPML_OK;
}

static tapml_status see(struct choices *choices,
                        struct chooser *chooser,
                        const struct probe_call *call,
                        struct arena *arena)
{
    const struct case_argument *scores = &call->arguments[chooser->scores];
    const struct case_argument *indices = &call->arguments[chooser->indices];
    struct choice_rows seen = {.rows = (size_t)indices->shape[0]};

    chooser->count = indices->content_bytes / sizeof(int32_t) / seen.rows;
    chooser->width =
        scores->content_bytes / activation_type(activation_find(scores->dtype))->bytes / seen.rows;
    seen.ids = sort_rows(indices->after, seen.rows, chooser->count, arena);
    seen.scores = widen(scores, seen.rows * chooser->width, arena);
    if (seen.ids == NULL || seen.scores == NULL) {
        return status_no_memory();
    }
    return choices->is_plain ? keep(chooser, choices->position, seen.rows, seen.ids, seen.scores)
                             : compare(choices, chooser, call, &seen, arena);
}

tapml_status choices_see(struct choices *choices, uint32_t op, const struct probe_call *call)
{
    struct chooser *chooser = find(choices, op);

    if (chooser == NULL || call->arguments[chooser->scores].before == NULL ||
        call->arguments[chooser->indices].after == NULL ||
        call->arguments[chooser->indices].shape[0] < 1) {
        return TAPML_OK;
    }
    struct arena *arena = arena_create();

    if (arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = see(choices, chooser, call, arena);

    arena_destroy(arena);
    return status;
}

// -- What follows from it ----------------------------------------------------------------------

// Whether an op between two writes a state, by which later tokens see what is before it.
static int writes_state(const struct graph *graph, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const tapml_op *op = graph->ops[i].op;

        for (uint32_t k = 0; k < op->n_params; k++) {
            if ((op->params[k]->effects & TAPML_E_STATE_WRITE) != 0) {
                return 1;
            }
        }
    }
    return 0;
}

int choices_hide(const struct choices *choices, uint32_t value, int64_t position)
{
    const struct graph *graph = choices->graph;
    const struct graph_value *base =
        value < graph->value_count ? &graph->values[graph->values[value].base] : NULL;
    const uint32_t op = base != NULL && base->kind == GRAPH_COMPUTED ? base->producer : 0;

    for (size_t i = 0; i < choices->tie_count; i++) {
        const struct tie *tie = &choices->ties[i];

        if (tie->op < op && (tie->position == position ||
                             (tie->position < position && writes_state(graph, tie->op, op)))) {
            return 1;
        }
    }
    return 0;
}

static tapml_status
run(struct choices *choices, struct session *session, const struct choices_text *text)
{
    TAPML_TRY(session_begin(session, text->count));
    TAPML_TRY(session_step(session, text->ids, text->count, NULL, 0));
    for (int64_t step = 0; step + 1 < text->greedy_count; step++) {
        choices_set_position(choices, text->count + step);
        TAPML_TRY(session_step(session, &text->greedy[step], 1, NULL, 0));
    }
    return TAPML_OK;
}

tapml_status choices_learn(struct choices *choices,
                           const struct session_options *options,
                           const struct prompt_givens *givens,
                           const struct choices_text *text)
{
    struct session_options plain = *options;
    struct session *session = NULL;
    struct plan *plan = NULL;
    char rule[128];

    (void)snprintf(rule, sizeof(rule), "* -> %.100s", options->places[0]->settings.name);
    TAPML_TRY(plan_create(&plan));
    tapml_status status = plan_add(plan, rule, "plan");

    plain.place_count = 1;
    plain.plan = plan;
    choices_begin(choices, 1);
    if (status == TAPML_OK) {
        status = session_create(&plain, &session);
    }
    if (status == TAPML_OK) {
        status = session_give(session, givens);
    }
    if (status == TAPML_OK) {
        status = run(choices, session, text);
    }
    session_destroy(session);
    plan_destroy(plan);
    return status;
}

void choices_print(const struct choices *choices)
{
    if (choices->tie_count > 0) {
        const struct tie *tie = &choices->ties[0];

        (void)printf("%-16s %zu near tie%s of routing, the first one at %s, token %lld: its scores "
                     "differ by %.2e from those of f32\n",
                     "", choices->tie_count, choices->tie_count == 1 ? "" : "s",
                     choices->graph->ops[tie->op].instance, (long long)tie->position, tie->error);
    }
}
