// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_search.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "choose/plan_model.h"
#include "exec/space.h"

#include <math.h>
#include <string.h>

enum {
    LOOKS_MOST = 2000,   // Of a round.
    STARTS = 3,          // Plans from which a round begins to move units.
    EDITS_FROM = 8,      // Trials from which two are kept for the edits that matter.
    SHARE_OF_BUILDS = 5, // Of the trials, those of plans that were built,
    SHARE_OF_MOVES = 8,  // and of a round of moves.
    LAST_MOST = 4        // Plans that are measured longer at the end.
};

static const double GAIN = 1e-3;     // Of a score, less than which is no reason for a move.
static const double OPTIMISM = 0.5;  // Spreads by which a plan may be better than predicted.
static const double ALIKE = 0.01;    // Of a value: plans nearer than that tell the same.
static const double KL_NOISE = 0.02; // What divergences are off their sum, of the first.

struct plan_searching {
    const struct plan_search_input *input;
    struct arena *arena;
    struct plan_pool pool;
    struct plan_trial **measured;
    size_t measured_count;
    const struct plan_trial *widest; // precision: all reduced.
    double *guesses, *spreads;
    struct plan_model model;
    struct plan_model_input fitted; // What the model borrows.
    const double **rows;
    double *values, *noises;
    struct plan_search search;
};

// -- What a plan is worth ----------------------------------------------------------------------

uint32_t plan_search_wide(const struct plan_search_input *input, const uint8_t *places)
{
    uint32_t wide = 0;
    for (uint32_t i = 0; i < input->question->n_ops; i++) {
        wide += !input->is_reduced[places[i]];
    }
    return wide;
}

uint64_t plan_search_away(const struct plan_search_input *input, const struct plan_trial *trial)
{
    uint64_t bytes = 0;
    for (uint32_t i = 1; i < input->question->n_places; i++) {
        bytes += trial->look.bytes[i];
    }
    return bytes;
}

// The smaller the better, of a plan whose value is `value`.
static double
score_of(const struct plan_searching *searching, const struct plan_trial *trial, double value)
{
    const struct plan_search_input *input = searching->input;
    const double all = (double)input->question->n_ops;
    switch (input->objective) {
    case PLAN_LATENCY:
        break;
    case PLAN_MEMORY:
        return value <= searching->search.limit
                   ? (double)plan_search_away(input, trial) + value * 1e-12
                   : 1e18 * value / searching->search.limit;
    case PLAN_PRECISION:
        return value <= input->bound
                   ? (double)plan_search_wide(input, trial->places) + value / input->bound / 2
                   : all * (1 + value / input->bound);
    }
    return value;
}

static double predicted_score(const struct plan_searching *searching,
                              const struct plan_trial *trial)
{
    const double *columns = trial->look.columns;
    const double mean = fmax(plan_model_predict(&searching->model, columns), 0);
    const double spread = searching->input->objective == PLAN_LATENCY
                              ? OPTIMISM * plan_model_spread(&searching->model, columns)
                              : 0;
    return score_of(searching, trial, mean - spread);
}

static double known_score(const struct plan_searching *searching, const struct plan_trial *trial)
{
    return isfinite(trial->value)  ? score_of(searching, trial, trial->value)
           : trial->failed != NULL ? INFINITY
                                   : predicted_score(searching, trial);
}

// -- The predictor -----------------------------------------------------------------------------

static double noise_of(const struct plan_searching *searching, const struct plan_trial *trial)
{
    const double share = searching->input->noise * trial->value;
    const double measured = isfinite(trial->spread) ? trial->spread / 2 : 0;
    return searching->input->objective == PLAN_PRECISION
               ? share + KL_NOISE * searching->widest->value + 1e-12
               : fmax(fmax(share, measured), 1e-9);
}

static tapml_status fit(struct plan_searching *searching)
{
    size_t count = 0;
    for (size_t i = 0; i < searching->measured_count; i++) {
        const struct plan_trial *trial = searching->measured[i];
        if (isfinite(trial->value)) {
            searching->rows[count] = trial->look.columns;
            searching->values[count] = trial->value;
            searching->noises[count++] = noise_of(searching, trial);
        }
    }
    plan_columns_guess(searching->input->columns, searching->rows, searching->values, count,
                       searching->guesses, searching->spreads);
    searching->fitted = (struct plan_model_input){.width = searching->input->columns->width,
                                                  .guesses = searching->guesses,
                                                  .spreads = searching->spreads,
                                                  .rows = searching->rows,
                                                  .values = searching->values,
                                                  .noises = searching->noises,
                                                  .count = count};
    return plan_model_fit(&searching->fitted, searching->arena, &searching->model);
}

// -- Measuring ---------------------------------------------------------------------------------

static void find_limit(struct plan_searching *searching)
{
    double least = INFINITY;
    for (size_t i = 0; i < searching->measured_count; i++) {
        const double value = searching->measured[i]->value;
        least = isfinite(value) && value < least ? value : least;
    }
    searching->search.limit = least * (1 + searching->input->slack);
}

static tapml_status
measure(struct plan_searching *searching, struct plan_trial **trials, size_t count, size_t chunks)
{
    const struct plan_search_calls *calls = &searching->input->calls;
    const int is_last = chunks != searching->input->chunks;
    if (count == 0) {
        return TAPML_OK;
    }
    searching->search.rounds++;
    for (size_t i = 0; !is_last && i < count; i++) {
        trials[i]->round = searching->search.rounds;
        trials[i]->predicted =
            fmax(plan_model_predict(&searching->model, trials[i]->look.columns), 0);
        searching->measured[searching->measured_count++] = trials[i];
    }
    TAPML_TRY(calls->measure(calls->user, trials, count, chunks));
    find_limit(searching);
    return TAPML_OK;
}

static size_t left_of(const struct plan_searching *searching)
{
    const size_t all = searching->input->trials;
    const size_t kept = all >= EDITS_FROM ? PLAN_EDITS : 0;
    return all - kept > searching->measured_count ? all - kept - searching->measured_count : 0;
}

// -- The first round ---------------------------------------------------------------------------

// All on one place: nothing else tells a place from another as well.
static int is_end(const struct plan_built *built)
{
    return strcmp(built->builder, "source") == 0 || strcmp(built->builder, "all") == 0;
}

// Of what was built the ends, or the best of the rest.
static tapml_status measure_builds(struct plan_searching *searching, int are_ends, size_t share)
{
    const struct plan_builds *builds = &searching->input->builds;
    const size_t left = left_of(searching), most = share < left ? share : left;
    struct plan_scored *scored = arena_array(searching->arena, builds->count + 1, sizeof(*scored));
    struct plan_trial **chosen = arena_array(searching->arena, builds->count + 1, sizeof(*chosen));
    size_t count = 0, taken = 0;
    if (!scored || !chosen) {
        return status_no_memory();
    }
    TAPML_TRY(fit(searching));
    for (size_t i = 0; i < builds->count; i++) {
        const struct plan_built *built = &builds->items[i];
        struct plan_trial *trial = NULL;
        if (is_end(built) == are_ends) {
            TAPML_TRY(
                plan_pool_look(&searching->pool, built->places, built->builder, NULL, &trial));
        }
        if (trial && plan_pool_can_measure(trial)) {
            scored[count] = (struct plan_scored){predicted_score(searching, trial), count, trial};
            count++;
        }
    }
    plan_pool_sort(scored, count);
    while (taken < count && taken < most) {
        chosen[taken] = scored[taken].trial;
        taken++;
    }
    return measure(searching, chosen, taken, searching->input->chunks);
}

// -- Moves -------------------------------------------------------------------------------------

static tapml_status try_move(struct plan_searching *searching,
                             const struct plan_unit *unit,
                             uint8_t place,
                             uint8_t *scratch,
                             struct plan_trial **io_at)
{
    const struct plan_trial *at = *io_at;
    const uint32_t count = searching->input->question->n_ops;
    struct plan_trial *moved = NULL;
    memcpy(scratch, at->places, count);
    if (plan_units_move(searching->input->question, unit, place, scratch) == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(plan_pool_look(&searching->pool, scratch, at->name, at, &moved));
    const double old = known_score(searching, at), score = known_score(searching, moved);
    if (!moved->is_too_large && moved->failed == NULL && score < old - GAIN * fabs(old)) {
        *io_at = moved;
    }
    return TAPML_OK;
}

// Moves units as long as one of them makes the plan better.
static tapml_status descend(struct plan_searching *searching,
                            struct plan_trial *at,
                            size_t looks_most,
                            uint8_t *scratch)
{
    const struct plan_units *units = &searching->input->units;
    const struct plan_trial *before = NULL;
    while (before != at && searching->pool.count < looks_most) {
        before = at;
        for (size_t i = 0; i < units->count && searching->pool.count < looks_most; i++) {
            for (uint8_t place = 0; place < searching->input->question->n_places; place++) {
                TAPML_TRY(try_move(searching, &units->items[i], place, scratch, &at));
            }
        }
    }
    return TAPML_OK;
}

// The best plans that are known.
static size_t find_starts(struct plan_searching *searching, struct plan_trial **out_starts)
{
    size_t count = 0;
    double last = -INFINITY;
    for (; count < STARTS; count++) {
        struct plan_trial *best = NULL;
        double least = INFINITY;
        for (size_t i = 0; i < searching->pool.count; i++) {
            const double score = known_score(searching, searching->pool.items[i]);
            if (score < least && score > last && !searching->pool.items[i]->is_too_large) {
                least = score;
                best = searching->pool.items[i];
            }
        }
        if (!best) {
            break;
        }
        out_starts[count] = best;
        last = least;
    }
    return count;
}

// Whether two plans differ in nothing that the predictor could learn from.
static int is_alike(const struct plan_searching *searching,
                    const struct plan_trial *a,
                    const struct plan_trial *b)
{
    double apart = 0, value = 0;
    for (size_t i = 0; i < searching->input->columns->width; i++) {
        const double weight = fabs(searching->model.weights[i]) + searching->spreads[i];
        apart += weight * fabs(a->look.columns[i] - b->look.columns[i]);
        value += searching->model.weights[i] * a->look.columns[i];
    }
    return apart < ALIKE * fabs(value);
}

static int is_new(const struct plan_searching *searching,
                  const struct plan_trial *trial,
                  struct plan_trial *const *chosen,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_alike(searching, trial, chosen[i])) {
            return 0;
        }
    }
    for (size_t i = 0; i < searching->measured_count; i++) {
        if (is_alike(searching, trial, searching->measured[i])) {
            return 0;
        }
    }
    return 1;
}

static tapml_status choose(struct plan_searching *searching,
                           size_t most,
                           struct plan_trial **out_chosen,
                           size_t *out_count)
{
    struct plan_scored *scored = alloc_array(searching->pool.count + 1, sizeof(*scored));
    size_t count = 0, taken = 0;
    if (!scored) {
        return status_no_memory();
    }
    for (size_t i = 0; i < searching->pool.count; i++) {
        if (plan_pool_can_measure(searching->pool.items[i])) {
            scored[count] = (struct plan_scored){
                predicted_score(searching, searching->pool.items[i]), i, searching->pool.items[i]};
            count++;
        }
    }
    plan_pool_sort(scored, count);
    for (size_t i = 0; i < count && taken < most; i++) {
        if (is_new(searching, scored[i].trial, out_chosen, taken)) {
            out_chosen[taken++] = scored[i].trial;
        }
    }
    alloc_free(scored);
    *out_count = taken;
    return TAPML_OK;
}

static tapml_status
measure_moves(struct plan_searching *searching, uint8_t *scratch, size_t *out_count)
{
    const size_t share = searching->input->trials / SHARE_OF_MOVES + 1;
    const size_t left = left_of(searching), most = share < left ? share : left;
    struct plan_trial *starts[STARTS];
    struct plan_trial **chosen = arena_array(searching->arena, most + 1, sizeof(*chosen));
    if (!chosen) {
        return status_no_memory();
    }
    TAPML_TRY(fit(searching));
    const size_t count = find_starts(searching, starts);
    const size_t before = searching->pool.count;
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(descend(searching, starts[i], before + (i + 1) * LOOKS_MOST / STARTS, scratch));
    }
    TAPML_TRY(choose(searching, most, chosen, out_count));
    return measure(searching, chosen, *out_count, searching->input->chunks);
}

static tapml_status measure_all_moves(struct plan_searching *searching, uint8_t *scratch)
{
    size_t count = 1;
    while (count > 0 && left_of(searching) > 0) {
        TAPML_TRY(measure_moves(searching, scratch, &count));
    }
    return TAPML_OK;
}

// -- Precision ---------------------------------------------------------------------------------

// All on a place of reduced activations, as far as it may run there: what diverges most.
static tapml_status measure_widest(struct plan_searching *searching, uint8_t *scratch)
{
    const tapml_policy_ops *question = searching->input->question;
    struct plan_trial *widest = NULL;
    for (uint32_t i = 0; i < question->n_ops; i++) {
        scratch[i] = 0;
        for (uint8_t place = 1; place < question->n_places; place++) {
            if (searching->input->is_reduced[place] && question->ops[i]->may_run[place]) {
                scratch[i] = place;
                break;
            }
        }
    }
    TAPML_TRY(plan_pool_look(&searching->pool, scratch, "all", NULL, &widest));
    if (widest->is_too_large) {
        return TAPML_OK;
    }
    searching->widest = widest;
    TAPML_TRY(fit(searching));
    return measure(searching, &widest, 1, searching->input->chunks);
}

// Each kind alone in reduced activations: what it adds.
static tapml_status measure_ones(struct plan_searching *searching, uint8_t *scratch)
{
    const struct plan_search_input *input = searching->input;
    const size_t most = left_of(searching) / 2;
    struct plan_trial **chosen = arena_array(searching->arena, most + 1, sizeof(*chosen));
    size_t count = 0;
    if (!chosen) {
        return status_no_memory();
    }
    for (size_t i = 0; i < input->units.count && count < most; i++) {
        const struct plan_unit *unit = &input->units.items[i];
        struct plan_trial *trial = NULL;
        memset(scratch, 0, input->question->n_ops);
        for (uint32_t k = 0; k < unit->count; k++) {
            scratch[unit->ops[k]] = searching->widest->places[unit->ops[k]];
        }
        if (unit->is_kind && plan_search_wide(input, scratch) < input->question->n_ops) {
            TAPML_TRY(plan_pool_look(&searching->pool, scratch, "one", NULL, &trial));
            if (plan_pool_can_measure(trial)) {
                chosen[count++] = trial;
            }
        }
    }
    return measure(searching, chosen, count, input->chunks);
}

static tapml_status begin_precision(struct plan_searching *searching, uint8_t *scratch)
{
    TAPML_TRY(measure_widest(searching, scratch));
    if (!searching->widest || !isfinite(searching->widest->value)) {
        return TAPML_OK;
    }
    TAPML_TRY(fit(searching));
    return searching->widest->value > searching->input->bound ? measure_ones(searching, scratch)
                                                              : TAPML_OK;
}

// -- The end -----------------------------------------------------------------------------------

static int is_met(const struct plan_searching *searching, const struct plan_trial *trial)
{
    switch (searching->input->objective) {
    case PLAN_LATENCY:
        break;
    case PLAN_MEMORY:
        return trial->value <= searching->search.limit;
    case PLAN_PRECISION:
        return trial->value <= searching->input->bound;
    }
    return isfinite(trial->value);
}

// Of those measured on most chunks: a plan that was behind is not the best by luck.
static void find_best(struct plan_searching *searching)
{
    struct plan_search *search = &searching->search;
    size_t chunks = 0;
    search->best = NULL;
    for (size_t i = 0; i < searching->measured_count; i++) {
        struct plan_trial *trial = searching->measured[i];
        const int is_more = trial->chunks > chunks;
        if (!is_met(searching, trial) || trial->chunks < chunks) {
            continue;
        }
        if (!search->best || is_more ||
            score_of(searching, trial, trial->value) <
                score_of(searching, search->best, search->best->value)) {
            search->best = trial;
            chunks = trial->chunks;
        }
    }
}

static tapml_status sort_measured(struct plan_searching *searching)
{
    const size_t count = searching->measured_count;
    struct plan_scored *scored = alloc_array(count + 1, sizeof(*scored));
    if (!scored) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        struct plan_trial *trial = searching->measured[i];
        scored[i] =
            (struct plan_scored){isfinite(trial->value) ? trial->value : INFINITY, i, trial};
    }
    plan_pool_sort(scored, count);
    for (size_t i = 0; i < count; i++) {
        searching->measured[i] = scored[i].trial;
    }
    alloc_free(scored);
    return TAPML_OK;
}

// The best few once more, on more chunks.
static tapml_status measure_last(struct plan_searching *searching)
{
    const struct plan_search_input *input = searching->input;
    struct plan_trial *last[LAST_MOST];
    size_t count = 0;
    if (input->chunks_last > input->chunks) {
        double before = -INFINITY;
        while (count < LAST_MOST) {
            struct plan_trial *best = NULL;
            double least = INFINITY;
            for (size_t i = 0; i < searching->measured_count; i++) {
                struct plan_trial *trial = searching->measured[i];
                const double score =
                    isfinite(trial->value) ? score_of(searching, trial, trial->value) : INFINITY;
                if (score < least && score > before) {
                    least = score;
                    best = trial;
                }
            }
            if (!best) {
                break;
            }
            last[count++] = best;
            before = least;
        }
        TAPML_TRY(measure(searching, last, count, input->chunks_last));
    }
    find_best(searching);
    return TAPML_OK;
}

// -- Edits that matter -------------------------------------------------------------------------

static tapml_status measure_edits(struct plan_searching *searching)
{
    struct plan_search *search = &searching->search;
    struct plan_trial *trials[PLAN_EDITS];
    size_t count = 0;
    for (size_t i = 0; i < search->edits.count; i++) {
        if (plan_pool_can_measure(search->edits.items[i].trial) &&
            searching->measured_count + count < searching->input->trials) {
            trials[count++] = search->edits.items[i].trial;
        }
    }
    TAPML_TRY(measure(searching, trials, count, searching->input->chunks));
    plan_edits_settle(&search->edits, search->best);
    return TAPML_OK;
}

static tapml_status find_edits(struct plan_searching *searching)
{
    const struct plan_trial *best = searching->search.best;
    if (!best || !(best->value > 0)) {
        return TAPML_OK;
    }
    TAPML_TRY(fit(searching));
    TAPML_TRY(plan_edits_find(&searching->pool, &searching->input->units, &searching->model, best,
                              &searching->search.edits));
    return measure_edits(searching);
}

// An edited plan may be better yet, where it was measured on as many chunks as the best: then the
// edits that matter are those of that one.
static tapml_status find_all_edits(struct plan_searching *searching)
{
    const struct plan_trial *before = NULL;
    do {
        before = searching->search.best;
        TAPML_TRY(find_edits(searching));
        find_best(searching);
    } while (searching->search.best != before);
    return TAPML_OK;
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status correlate(struct plan_searching *searching)
{
    double *numbers = alloc_array(2 * searching->measured_count + 1, sizeof(*numbers));
    double *values = numbers ? numbers + searching->measured_count : NULL;
    size_t count = 0;
    if (!numbers) {
        return status_no_memory();
    }
    for (size_t i = 0; i < searching->measured_count; i++) {
        if (isfinite(searching->measured[i]->value)) {
            numbers[count] = searching->measured[i]->predicted;
            values[count++] = searching->measured[i]->value;
        }
    }
    const tapml_status status =
        plan_model_correlate(numbers, values, count, &searching->search.correlation);
    alloc_free(numbers);
    return status;
}

static tapml_status name_edited(struct plan_searching *searching)
{
    for (size_t i = 0; i < searching->measured_count; i++) {
        struct plan_trial *trial = searching->measured[i];
        if (trial->edits > 0) {
            trial->name = arena_format(searching->arena, "%s, %u edit%s", trial->name, trial->edits,
                                       trial->edits == 1 ? "" : "s");
        }
        if (!trial->name) {
            return status_no_memory();
        }
    }
    return TAPML_OK;
}

static tapml_status search(struct plan_searching *searching, uint8_t *scratch)
{
    TAPML_TRY(searching->input->objective == PLAN_PRECISION ? begin_precision(searching, scratch)
                                                            : TAPML_OK);
    if (searching->input->objective != PLAN_PRECISION) {
        TAPML_TRY(measure_builds(searching, 1, searching->input->trials));
        TAPML_TRY(measure_builds(searching, 0, searching->input->trials / SHARE_OF_BUILDS));
    }
    if (searching->measured_count > 0) {
        TAPML_TRY(measure_all_moves(searching, scratch));
        TAPML_TRY(measure_last(searching));
        TAPML_TRY(find_all_edits(searching));
    }
    TAPML_TRY(sort_measured(searching));
    TAPML_TRY(correlate(searching));
    return name_edited(searching);
}

static tapml_status begin(struct plan_searching *searching)
{
    const struct plan_search_input *input = searching->input;
    const size_t most = input->trials + 1;
    searching->measured = arena_array(searching->arena, most, sizeof(struct plan_trial *));
    searching->rows = arena_array(searching->arena, most, sizeof(double *));
    searching->values = arena_array(searching->arena, most, sizeof(double));
    searching->noises = arena_array(searching->arena, most, sizeof(double));
    searching->guesses = arena_array(searching->arena, input->columns->width + 1, sizeof(double));
    searching->spreads = arena_array(searching->arena, input->columns->width + 1, sizeof(double));
    if (!searching->measured || !searching->rows || !searching->values || !searching->noises ||
        !searching->guesses || !searching->spreads) {
        return status_no_memory();
    }
    plan_columns_guess(input->columns, NULL, NULL, 0, searching->guesses, searching->spreads);
    return plan_pool_init(&searching->pool,
                          &(struct plan_pool_input){.question = input->question,
                                                    .width = input->columns->width,
                                                    .guesses = input->columns->guesses,
                                                    .memory_bytes = input->memory_bytes,
                                                    .look = input->calls.look,
                                                    .user = input->calls.look_user},
                          searching->arena);
}

tapml_status plan_search_run(const struct plan_search_input *input,
                             struct arena *arena,
                             struct plan_search *out_search)
{
    struct plan_searching searching = {.input = input, .arena = arena};
    uint8_t *scratch = arena_array(arena, (size_t)input->question->n_ops + 1, 1);
    ASSERT(input->trials > 0 && input->question->n_places <= SPACE_PLACES_MAX);
    tapml_status status = scratch ? begin(&searching) : status_no_memory();
    if (status == TAPML_OK) {
        status = search(&searching, scratch);
    }
    searching.search.looked = searching.pool.count;
    searching.search.too_large = searching.pool.too_large;
    plan_pool_release(&searching.pool);
    if (status == TAPML_OK) {
        searching.search.measured = searching.measured;
        searching.search.measured_count = searching.measured_count;
        *out_search = searching.search;
    }
    return status;
}
