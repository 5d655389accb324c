// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/ranking.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "choose/choice.h"
#include "exec/place.h"
#include "run/forgetting.h"
#include "store/store.h"
#include "verify/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PILOT = 4, // Cases of each arm that measure what a case takes, where that is not known,
    SLICE = 16 // and those of each arm between two looks at the clock.
};

static const double SECOND_NS = 1e9;

// A case on a target.
struct ranking_pair {
    uint32_t target, index;
};

struct ranking_place {
    int64_t id;
    uint32_t index; // Of its case.
};

// What is known of a pair.
struct ranking_fact {
    double value;        // NaN: it has none.
    double predicted_ns; // NaN: nothing is known.
    double time_ns;      // Of its verdict.
    int is_known;        // A fresh result was there.
    int is_judged;       // Its verdict was taken, with
    enum verdict_kind kind;
};

struct ranking_work {
    const struct ranking_options *options;
    struct arena *arena;
    struct ranking ranking;
    struct case_choice choice;    // All cases in their balanced order.
    struct ranking_place *places; // Sorted by id.
    struct ranking_fact *facts;   // targets x cases
    struct ranking_pair **pairs;  // Of each arm, in the order in which they are taken.
    int *has_forgotten;           // The steps of each target.
    uint64_t deadline_ns;         // 0: there is none.
};

static struct ranking_fact *fact_of(const struct ranking_work *work, struct ranking_pair pair)
{
    return &work->facts[(size_t)pair.target * work->choice.count + pair.index];
}

static const char *target_name(const struct ranking_work *work, size_t target)
{
    return work->options->targets[target]->settings.name;
}

// -- Arms --------------------------------------------------------------------------------------

static const char *arm_name(const struct ranking_work *work, struct ranking_pair pair)
{
    const struct place *place = work->options->targets[pair.target];
    switch (work->options->over) {
    case RANKING_TARGETS:
        return place->settings.name;
    case RANKING_BACKENDS:
        return backend_info(place->backend)->component;
    case RANKING_OPS:
        break;
    }
    return work->choice.cases[pair.index].op;
}

// The number of the arm of a name; where there is none, that of the next one.
static size_t find_arm(struct ranking *ranking, const char *name)
{
    size_t arm = 0;
    while (arm < ranking->race.arm_count && strcmp(ranking->arms[arm].name, name) != 0) {
        arm++;
    }
    return arm;
}

// Numbers of arms of all pairs in the balanced order, targets within a case in turn; counts them.
static tapml_status name_arms(struct ranking_work *work, uint32_t *out_arms)
{
    struct ranking *ranking = &work->ranking;
    const size_t targets = work->options->target_count;
    for (size_t i = 0; i < work->choice.count * targets; i++) {
        const struct ranking_pair pair = {(uint32_t)(i % targets), work->choice.order[i / targets]};
        const char *name = arm_name(work, pair);
        const size_t arm = find_arm(ranking, name);
        if (arm == ranking->race.arm_count) {
            ranking->arms[arm].name = arena_text(work->arena, name);
            if (!ranking->arms[arm].name) {
                return status_no_memory();
            }
            ranking->race.arm_count++;
        }
        out_arms[i] = (uint32_t)arm;
        ranking->race.arms[arm].count++;
    }
    return TAPML_OK;
}

static tapml_status make_arms(struct ranking_work *work)
{
    struct ranking *ranking = &work->ranking;
    const size_t targets = work->options->target_count;
    const size_t all = work->choice.count * targets;
    const size_t most = work->options->over == RANKING_OPS ? work->choice.count : targets;
    uint32_t *arms = arena_array(work->arena, all + 1, sizeof(*arms));
    size_t *filled = arena_array(work->arena, most + 1, sizeof(*filled)); // Pairs so far.
    ranking->arms = arena_array(work->arena, most + 1, sizeof(*ranking->arms));
    ranking->race.arms = arena_array(work->arena, most + 1, sizeof(*ranking->race.arms));
    ranking->order = arena_array(work->arena, most + 1, sizeof(*ranking->order));
    work->pairs = arena_array(work->arena, most + 1, sizeof(*work->pairs));
    if (!arms || !filled || !ranking->arms || !ranking->race.arms || !ranking->order ||
        !work->pairs) {
        return status_no_memory();
    }
    TAPML_TRY(name_arms(work, arms));
    for (size_t i = 0; i < ranking->race.arm_count; i++) {
        ranking->arms[i].race = &ranking->race.arms[i];
        work->pairs[i] =
            arena_array(work->arena, ranking->race.arms[i].count + 1, sizeof(*work->pairs[i]));
        if (!work->pairs[i]) {
            return status_no_memory();
        }
    }
    for (size_t i = 0; i < all; i++) {
        work->pairs[arms[i]][filled[arms[i]]++] =
            (struct ranking_pair){(uint32_t)(i % targets), work->choice.order[i / targets]};
    }
    return TAPML_OK;
}

// -- Verdicts ----------------------------------------------------------------------------------

static int by_id(const void *a, const void *b)
{
    const struct ranking_place *one = a, *other = b;
    return one->id < other->id ? -1 : one->id > other->id;
}

static const struct ranking_place *find_place(const struct ranking_work *work, int64_t id)
{
    return bsearch(&(struct ranking_place){.id = id}, work->places, work->choice.count,
                   sizeof(*work->places), by_id);
}

static double value_of(enum ranking_by by, const struct verdict *verdict)
{
    const int is_wrong = verdict_count_failed(verdict, 1) > 0;
    if (!is_wrong && verdict->kind != VERDICT_PASS) {
        return NAN;
    }
    if (by == RANKING_FAILURES) {
        return is_wrong ? 1 : 0;
    }
    if (by == RANKING_TIME) {
        return verdict->time_ns > 0 ? (double)verdict->time_ns : NAN;
    }
    const double unknown = is_wrong ? RANKING_MARGIN_MOST : 0; // Nothing was compared.
    return isnan(verdict->margin) ? unknown : fmin(verdict->margin, RANKING_MARGIN_MOST);
}

static void take_verdict(struct ranking_work *work, uint32_t target, const struct verdict *verdict)
{
    const struct ranking_place *place = find_place(work, verdict->case_id);
    if (!place) {
        return; // Somebody added it meanwhile.
    }
    struct ranking_fact *fact = fact_of(work, (struct ranking_pair){target, place->index});
    fact->value = value_of(work->options->by, verdict);
    fact->time_ns = (double)verdict->time_ns;
    fact->is_judged = 1;
    fact->kind = verdict->kind;
}

// Predicts the times of all cases on a target, from those of its results or, before there are
// enough, from those of the source. `*io_is_of_targets` is cleared then.
static tapml_status
predict_times(const struct ranking_work *work, uint32_t target, int *io_is_of_targets)
{
    struct arena *arena = arena_create();
    struct case_choice times;
    if (!arena) {
        return status_no_memory();
    }
    const tapml_status status =
        choice_make(work->options->store,
                    &(struct choice_options){.settings = {.order = CHOICE_CARVED},
                                             .target = target_name(work, target)},
                    arena, &times);
    for (size_t i = 0; status == TAPML_OK && i < work->choice.count; i++) {
        ASSERT(times.count == work->choice.count);
        struct ranking_fact *fact = fact_of(work, (struct ranking_pair){target, (uint32_t)i});
        fact->value = fact->is_judged ? fact->value : NAN;
        fact->predicted_ns = fact->is_judged   ? fact->time_ns
                             : times.has_times ? times.times.times_ns[i]
                                               : NAN;
    }
    *io_is_of_targets &= status == TAPML_OK && times.has_times && times.is_of_target;
    arena_destroy(arena);
    return status;
}

// The results that the store has.
static tapml_status read_known(struct ranking_work *work, uint32_t target)
{
    struct verdict_list list;
    TAPML_TRY(verdict_read(work->options->store, target_name(work, target), &list));
    for (size_t i = 0; i < list.count; i++) {
        const struct ranking_place *place = find_place(work, list.items[i].case_id);
        if (place && list.items[i].freshness == VERDICT_FRESH) {
            take_verdict(work, target, &list.items[i]);
            fact_of(work, (struct ranking_pair){target, place->index})->is_known = 1;
        }
    }
    verdict_list_release(&list);
    return TAPML_OK;
}

struct ranking_progress {
    const struct ranking_work *work;
    size_t done;
};

static tapml_status show(void *user, size_t done, size_t all)
{
    const struct ranking_progress *progress = user;
    const struct ranking_options *options = progress->work->options;
    (void)all;
    return options->progress(options->user, progress->done + done,
                             progress->work->ranking.race.budget);
}

// New results make steps of the offload begin anew that knew fewer failures.
static tapml_status forget_steps(struct ranking_work *work, uint32_t target)
{
    struct store *store = work->options->store;
    if (work->has_forgotten[target]) {
        return TAPML_OK;
    }
    work->has_forgotten[target] = 1;
    TAPML_TRY(store_begin(store));
    tapml_status status = forgetting_steps(store, target_name(work, target));
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status
judge_ids(struct ranking_work *work, uint32_t target, const int64_t *ids, size_t count, size_t done)
{
    const struct ranking_options *options = work->options;
    struct ranking_progress progress = {work, done};
    struct verdict_list list;
    const tapml_status status =
        verdicts_make(&(struct verdict_options){.registry = options->registry,
                                                .store = options->store,
                                                .target = target_name(work, target),
                                                .backend = options->targets[target]->backend,
                                                .checkpoint = options->checkpoint,
                                                .refuted = options->refuted,
                                                .ids = ids,
                                                .id_count = count,
                                                .progress = options->progress ? show : NULL,
                                                .user = &progress},
                      &list);
    if (status != TAPML_OK) {
        return status_explain(status, "target '%s'", target_name(work, target));
    }
    for (size_t i = 0; i < list.count; i++) {
        take_verdict(work, target, &list.items[i]);
    }
    work->ranking.spent.replays += list.replayed;
    verdict_list_release(&list);
    return TAPML_OK;
}

// Judges pairs, those of each target at once.
static tapml_status
judge(struct ranking_work *work, const struct ranking_pair *pairs, size_t count, size_t done)
{
    struct arena *arena = arena_create();
    int64_t *ids = arena ? arena_array(arena, count + 1, sizeof(*ids)) : NULL;
    tapml_status status = ids ? TAPML_OK : status_no_memory();
    for (uint32_t t = 0; status == TAPML_OK && t < work->options->target_count; t++) {
        size_t id_count = 0;
        int is_new = 0;
        for (size_t i = 0; i < count; i++) {
            if (pairs[i].target == t) {
                ids[id_count++] = work->choice.cases[pairs[i].index].id;
                is_new |= !fact_of(work, pairs[i])->is_known;
            }
        }
        status = is_new ? forget_steps(work, t) : TAPML_OK;
        if (status == TAPML_OK && id_count > 0) {
            status = judge_ids(work, t, ids, id_count, done);
        }
        done += id_count;
    }
    arena_destroy(arena);
    return status;
}

// -- The race ----------------------------------------------------------------------------------

// Lists what the arms take up to their goals, in turn, and counts it; at most `most` of each arm.
static size_t list_round(const struct ranking_work *work, size_t most, struct ranking_pair *out)
{
    const struct race *race = &work->ranking.race;
    size_t count = 0;
    for (size_t depth = 0, before = SIZE_MAX; depth < most && before != count; depth++) {
        before = count;
        for (size_t i = 0; i < race->arm_count; i++) {
            const struct race_arm *arm = &race->arms[i];
            if (arm->taken + depth < arm->goal) {
                out[count++] = work->pairs[i][arm->taken + depth];
            }
        }
    }
    return count;
}

static void take_pair(struct ranking_work *work, size_t arm, struct ranking_pair pair)
{
    struct ranking_fact *fact = fact_of(work, pair);
    struct ranking_arm *named = &work->ranking.arms[arm];
    const int is_wrong = fact->kind == VERDICT_FAIL || fact->kind == VERDICT_ERROR;
    race_take(&work->ranking.race, arm, fact->value);
    named->failed += fact->is_judged && is_wrong;
    named->unsupported += fact->is_judged && !is_wrong && fact->kind != VERDICT_PASS;
    if (!fact->is_known) {
        work->ranking.spent.seconds += fact->time_ns / SECOND_NS;
        fact->is_known = 1;
    }
}

// Judges up to the goals, at most `most` cases of each arm, and takes what came of it.
static tapml_status run_slice(struct ranking_work *work, size_t most, struct ranking_pair *scratch)
{
    struct race *race = &work->ranking.race;
    const size_t count = list_round(work, most, scratch);
    TAPML_TRY(judge(work, scratch, count, race->spent));
    for (size_t i = 0; i < race->arm_count; i++) {
        struct race_arm *arm = &race->arms[i];
        for (size_t n = 0; n < most && arm->taken < arm->goal; n++) {
            take_pair(work, i, work->pairs[i][arm->taken]);
        }
    }
    return TAPML_OK;
}

static int is_round_over(const struct race *race)
{
    for (size_t i = 0; i < race->arm_count; i++) {
        if (race->arms[i].taken < race->arms[i].goal) {
            return 0;
        }
    }
    return 1;
}

static tapml_status run_round(struct ranking_work *work, struct ranking_pair *scratch)
{
    struct ranking *ranking = &work->ranking;
    while (!is_round_over(&ranking->race)) {
        ranking->is_out_of_time = work->deadline_ns > 0 && clock_now_ns() > work->deadline_ns;
        if (ranking->is_out_of_time) {
            return TAPML_OK;
        }
        TAPML_TRY(run_slice(work, work->deadline_ns > 0 ? SLICE : SIZE_MAX, scratch));
    }
    return TAPML_OK;
}

static size_t count_all(const struct ranking_work *work)
{
    return work->choice.count * work->options->target_count;
}

static struct ranking_pair *scratch_of(const struct ranking_work *work)
{
    return arena_array(work->arena, count_all(work) + 1, sizeof(struct ranking_pair));
}

// -- Cost --------------------------------------------------------------------------------------

// Takes what is known of the goals of a race without replaying; adds what the rest would cost.
// Returns the replays.
static size_t
take_known(const struct ranking_work *work, struct race *copy, struct ranking_cost *cost)
{
    size_t replays = 0;
    for (size_t i = 0; i < copy->arm_count; i++) {
        while (copy->arms[i].taken < copy->arms[i].goal) {
            const struct ranking_fact *fact = fact_of(work, work->pairs[i][copy->arms[i].taken]);
            race_take(copy, i, fact->is_known ? fact->value : NAN);
            replays += !fact->is_known;
            cost->seconds += fact->is_known ? 0 : fact->predicted_ns / SECOND_NS;
        }
    }
    cost->replays += replays;
    return replays;
}

// What `cases` that nobody knows by now cost: as much as all that were not taken do in the mean.
static struct ranking_cost
cost_of_any(const struct ranking_work *work, const struct race *copy, size_t cases)
{
    double all = 0, unknown = 0, seconds = 0;
    for (size_t i = 0; i < copy->arm_count; i++) {
        for (size_t n = copy->arms[i].taken; n < copy->arms[i].count; n++) {
            const struct ranking_fact *fact = fact_of(work, work->pairs[i][n]);
            all++;
            unknown += !fact->is_known;
            seconds += fact->is_known ? 0 : fact->predicted_ns / SECOND_NS;
        }
    }
    const double share = all > 0 ? fmin((double)cases / all, 1) : 0;
    return (struct ranking_cost){(size_t)(share * unknown + 0.5), share * seconds};
}

// Runs the race as far as it is known, without replaying. Which arms a halving goes on with is not
// known once a value is missing; the other methods take the same cases whatever comes out.
static void predict(struct ranking_work *work, struct race *copy)
{
    struct ranking_cost *cost = &work->ranking.predicted;
    *cost = (struct ranking_cost){.replays = 0};
    while (race_next(copy)) {
        if (take_known(work, copy, cost) > 0 && copy->method == RACE_HALVING) {
            const struct ranking_cost rest = cost_of_any(work, copy, copy->budget - copy->spent);
            cost->replays += rest.replays;
            cost->seconds += rest.seconds;
            return;
        }
    }
}

// Judges the first cases of each arm, which the race takes first anyway: then what cases take on
// the targets is known. `*out_count` is how many they are.
static tapml_status
run_pilot(struct ranking_work *work, struct ranking_pair *scratch, size_t *out_count)
{
    struct race *race = &work->ranking.race;
    for (size_t i = 0; i < race->arm_count; i++) {
        race->arms[i].goal = race->arms[i].count;
    }
    *out_count = list_round(work, PILOT, scratch);
    for (size_t i = 0; i < race->arm_count; i++) {
        race->arms[i].goal = 0;
    }
    return judge(work, scratch, *out_count, 0);
}

// How many cases a budget in seconds is.
static tapml_status measure_budget(struct ranking_work *work, struct ranking_pair *scratch)
{
    struct race *race = &work->ranking.race;
    const double seconds = work->options->budget.amount;
    const uint64_t begin_ns = clock_now_ns();
    size_t count = 0;
    work->deadline_ns = begin_ns + (uint64_t)(seconds * SECOND_NS);
    race->budget = count_all(work);
    TAPML_TRY(run_pilot(work, scratch, &count));
    const double took = (double)(clock_now_ns() - begin_ns) / SECOND_NS;
    if (work->ranking.spent.replays > 0) {
        const double each = took / (double)work->ranking.spent.replays;
        const double cases = (double)count + fmax(seconds - took, 0) / each;
        race->budget = cases < (double)race->budget ? (size_t)cases : race->budget;
    }
    return TAPML_OK;
}

static tapml_status predict_all(const struct ranking_work *work, int *out_is_of_targets)
{
    *out_is_of_targets = 1;
    for (uint32_t t = 0; t < work->options->target_count; t++) {
        TAPML_TRY(predict_times(work, t, out_is_of_targets));
    }
    return TAPML_OK;
}

// Predicts what each case takes, from a sample where the targets have not run enough yet and the
// budget is well beyond such a sample.
static tapml_status price(struct ranking_work *work, struct ranking_pair *scratch)
{
    const struct race *race = &work->ranking.race;
    int is_of_targets = 0;
    size_t count = 0;
    TAPML_TRY(predict_all(work, &is_of_targets));
    if (is_of_targets || work->deadline_ns > 0 || race->budget < 2 * PILOT * race->arm_count) {
        return TAPML_OK;
    }
    TAPML_TRY(run_pilot(work, scratch, &count));
    return predict_all(work, &is_of_targets);
}

static void explain(const struct ranking_work *work)
{
    const struct ranking *ranking = &work->ranking;
    char seconds[64] = "a time that is not known";
    if (!isnan(ranking->predicted.seconds)) {
        (void)snprintf(seconds, sizeof(seconds), "%.3g s of calls", ranking->predicted.seconds);
    }
    log_say("rank: %s, %zu arms, at most %zu of %zu cases in %zu rounds; predicted are %zu replays "
            "and %s",
            race_method_name(ranking->race.method), ranking->race.arm_count, ranking->race.budget,
            count_all(work), ranking->race.rounds, ranking->predicted.replays, seconds);
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status read_cases(struct ranking_work *work)
{
    const size_t targets = work->options->target_count;
    // Without a target: what has run on one must not change the order.
    TAPML_TRY(choice_make(
        work->options->store,
        &(struct choice_options){.settings = {.order = CHOICE_BALANCE}, .target = "", .keep = 1},
        work->arena, &work->choice));
    const size_t count = work->choice.count;
    work->places = arena_array(work->arena, count + 1, sizeof(*work->places));
    work->facts = arena_array(work->arena, count * targets + 1, sizeof(*work->facts));
    work->has_forgotten = arena_array(work->arena, targets + 1, sizeof(*work->has_forgotten));
    if (!work->places || !work->facts || !work->has_forgotten) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        work->places[i] = (struct ranking_place){work->choice.cases[i].id, (uint32_t)i};
    }
    qsort(work->places, count, sizeof(*work->places), by_id);
    for (uint32_t t = 0; t < targets; t++) {
        TAPML_TRY(read_known(work, t));
    }
    return make_arms(work);
}

static tapml_status begin(struct ranking_work *work, struct ranking_pair *scratch)
{
    const struct ranking_options *options = work->options;
    struct race *race = &work->ranking.race;
    race->method = options->method;
    race->is_of_failures = options->by == RANKING_FAILURES;
    race->most = options->by == RANKING_TIME     ? INFINITY
                 : options->by == RANKING_MARGIN ? RANKING_MARGIN_MOST
                                                 : 1;
    if (options->budget.kind == BUDGET_SECONDS) {
        TAPML_TRY(measure_budget(work, scratch));
    } else if (options->budget.kind != BUDGET_ALL) {
        race->budget = budget_cases(&options->budget, count_all(work));
    }
    race_begin(race);
    TAPML_TRY(price(work, scratch));
    struct race copy = *race;
    copy.arms = arena_array(work->arena, race->arm_count + 1, sizeof(*copy.arms));
    if (!copy.arms) {
        return status_no_memory();
    }
    memcpy(copy.arms, race->arms, race->arm_count * sizeof(*copy.arms));
    predict(work, &copy);
    if (options->explains) {
        explain(work);
    }
    return TAPML_OK;
}

tapml_status ranking_make(const struct ranking_options *options,
                          struct arena *arena,
                          struct ranking *out_ranking)
{
    struct ranking_work work = {.options = options, .arena = arena};
    ASSERT(options->target_count > 0);
    TAPML_TRY(read_cases(&work));
    struct ranking_pair *scratch = scratch_of(&work);
    if (!scratch) {
        return status_no_memory();
    }
    TAPML_TRY(begin(&work, scratch));
    while (!work.ranking.is_out_of_time && race_next(&work.ranking.race)) {
        TAPML_TRY(run_round(&work, scratch));
    }
    race_sort(&work.ranking.race, work.ranking.order);
    *out_ranking = work.ranking;
    return TAPML_OK;
}
