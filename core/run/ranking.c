// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/ranking.h"

#include "base/arena.h"
#include "base/assert.h"
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

// A case on a target.
struct ranking_pair {
    uint32_t target, index;
};

struct ranking_place {
    int64_t id;
    uint32_t index; // Of its case.
};

// What is known of a pair beside its fact in the contest.
struct ranking_fact {
    int is_judged; // Its verdict was taken, with
    enum verdict_kind kind;
};

struct ranking_work {
    const struct ranking_options *options;
    struct arena *arena;
    struct ranking ranking;
    struct case_choice choice;    // All cases in their balanced order.
    struct ranking_place *places; // Sorted by id.
    struct ranking_fact *facts;   // targets x cases, as those of the contest.
    int *has_forgotten;           // The steps of each target.
};

static size_t number_of(const struct ranking_work *work, struct ranking_pair pair)
{
    return (size_t)pair.target * work->choice.count + pair.index;
}

static struct ranking_pair pair_of(const struct ranking_work *work, size_t number)
{
    return (struct ranking_pair){(uint32_t)(number / work->choice.count),
                                 (uint32_t)(number % work->choice.count)};
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
    while (arm < ranking->contest.race.arm_count && strcmp(ranking->arms[arm].name, name) != 0) {
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
        if (arm == ranking->contest.race.arm_count) {
            ranking->arms[arm].name = arena_text(work->arena, name);
            if (!ranking->arms[arm].name) {
                return status_no_memory();
            }
            ranking->contest.race.arm_count++;
        }
        out_arms[i] = (uint32_t)arm;
        ranking->contest.race.arms[arm].count++;
    }
    return TAPML_OK;
}

static tapml_status make_arms(struct ranking_work *work)
{
    struct ranking *ranking = &work->ranking;
    struct contest *contest = &ranking->contest;
    const size_t targets = work->options->target_count;
    const size_t all = work->choice.count * targets;
    const size_t most = work->options->over == RANKING_OPS ? work->choice.count : targets;
    uint32_t *arms = arena_array(work->arena, all + 1, sizeof(*arms));
    size_t *filled = arena_array(work->arena, most + 1, sizeof(*filled)); // Pairs so far.
    ranking->arms = arena_array(work->arena, most + 1, sizeof(*ranking->arms));
    contest->race.arms = arena_array(work->arena, most + 1, sizeof(*contest->race.arms));
    contest->picks = arena_array(work->arena, most + 1, sizeof(*contest->picks));
    if (!arms || !filled || !ranking->arms || !contest->race.arms || !contest->picks) {
        return status_no_memory();
    }
    TAPML_TRY(name_arms(work, arms));
    for (size_t i = 0; i < contest->race.arm_count; i++) {
        ranking->arms[i].race = &contest->race.arms[i];
        contest->picks[i] =
            arena_array(work->arena, contest->race.arms[i].count + 1, sizeof(*contest->picks[i]));
        if (!contest->picks[i]) {
            return status_no_memory();
        }
    }
    for (size_t i = 0; i < all; i++) {
        contest->picks[arms[i]][filled[arms[i]]++] = number_of(
            work, (struct ranking_pair){(uint32_t)(i % targets), work->choice.order[i / targets]});
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
    const size_t number = number_of(work, (struct ranking_pair){target, place->index});
    struct contest_fact *fact = &work->ranking.contest.facts[number];
    fact->value = value_of(work->options->by, verdict);
    fact->time_ns = (double)verdict->time_ns;
    work->facts[number] = (struct ranking_fact){.is_judged = 1, .kind = verdict->kind};
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
        const size_t number = number_of(work, (struct ranking_pair){target, (uint32_t)i});
        const int is_judged = work->facts[number].is_judged;
        struct contest_fact *fact = &work->ranking.contest.facts[number];
        fact->value = is_judged ? fact->value : NAN;
        fact->predicted_ns = is_judged         ? fact->time_ns
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
            const struct ranking_pair pair = {target, place->index};
            work->ranking.contest.facts[number_of(work, pair)].is_known = 1;
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
                             progress->work->ranking.contest.race.budget);
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
    work->ranking.contest.spent.runs += list.replayed;
    verdict_list_release(&list);
    return TAPML_OK;
}

// Judges pairs, those of each target at once.
static tapml_status judge(void *user, const size_t *numbers, size_t count, size_t done)
{
    struct ranking_work *work = user;
    struct arena *arena = arena_create();
    int64_t *ids = arena ? arena_array(arena, count + 1, sizeof(*ids)) : NULL;
    tapml_status status = ids ? TAPML_OK : status_no_memory();
    for (uint32_t t = 0; status == TAPML_OK && t < work->options->target_count; t++) {
        size_t id_count = 0;
        int is_new = 0;
        for (size_t i = 0; i < count; i++) {
            const struct ranking_pair pair = pair_of(work, numbers[i]);
            if (pair.target == t) {
                ids[id_count++] = work->choice.cases[pair.index].id;
                is_new |= !work->ranking.contest.facts[numbers[i]].is_known;
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

static void take_pair(void *user, size_t arm, size_t number)
{
    struct ranking_work *work = user;
    const struct ranking_fact *fact = &work->facts[number];
    struct ranking_arm *named = &work->ranking.arms[arm];
    const int is_wrong = fact->kind == VERDICT_FAIL || fact->kind == VERDICT_ERROR;
    named->failed += fact->is_judged && is_wrong;
    named->unsupported += fact->is_judged && !is_wrong && fact->kind != VERDICT_PASS;
}

static tapml_status predict_all(void *user, int *out_is_of_targets)
{
    const struct ranking_work *work = user;
    *out_is_of_targets = 1;
    for (uint32_t t = 0; t < work->options->target_count; t++) {
        TAPML_TRY(predict_times(work, t, out_is_of_targets));
    }
    return TAPML_OK;
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
    work->ranking.contest.facts =
        arena_array(work->arena, count * targets + 1, sizeof(*work->ranking.contest.facts));
    work->has_forgotten = arena_array(work->arena, targets + 1, sizeof(*work->has_forgotten));
    if (!work->places || !work->facts || !work->ranking.contest.facts || !work->has_forgotten) {
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

static void set_contest(struct ranking_work *work)
{
    const struct ranking_options *options = work->options;
    struct contest *contest = &work->ranking.contest;
    contest->race.method = options->method;
    contest->race.is_of_failures = options->by == RANKING_FAILURES;
    contest->race.most = options->by == RANKING_TIME     ? INFINITY
                         : options->by == RANKING_MARGIN ? RANKING_MARGIN_MOST
                                                         : 1;
    contest->budget = options->budget;
    contest->pilot = PILOT;
    contest->slice = SLICE;
    contest->explains = options->explains;
    contest->runs = "replays";
    contest->calls = (struct contest_calls){judge, predict_all, take_pair, work};
}

tapml_status ranking_make(const struct ranking_options *options,
                          struct arena *arena,
                          struct ranking *out_ranking)
{
    struct ranking_work work = {.options = options, .arena = arena};
    ASSERT(options->target_count > 0);
    TAPML_TRY(read_cases(&work));
    set_contest(&work);
    TAPML_TRY(contest_run(&work.ranking.contest, arena));
    *out_ranking = work.ranking;
    return TAPML_OK;
}
