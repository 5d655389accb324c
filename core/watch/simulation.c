// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/simulation.h"

#include "base/arena.h"
#include "base/assert.h"
#include "watch/regret.h"
#include "watch/sampling.h"
#include "watch/trigger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What the simulated host knows of a case.
struct case_state {
    int is_alive, is_stale;
    int is_doubted; // It is stale since samples of others had moved, and no row says what it was.
    int is_known;   // It was judged; `known` is how.
    enum turning_rank known;
    int64_t judged, turns;
    double since_s;
    size_t next;    // Its first event that does not hold yet,
    size_t settled; // and the first of which it is not settled whether it was found.
};

// What became of a regression, of all of its cases together.
struct end {
    int is_known[SIMULATION_ENDS];
    size_t look; // Of its being found first,
    double at_s;
};

struct group_sum {
    int64_t judged, turns;
    double since_s; // INFINITY: nothing of it is stale.
};

// A case in the order of its target.
struct queued {
    size_t place, index;
};

// The order of the cases of a target, which stays as long as the failures that it was made for.
struct placement {
    int is_made;
    double *failures; // Of each group.
    size_t *places;   // Of each case.
};

struct simulating {
    const struct recorded *recorded;
    const struct simulation_policy *policy;
    struct arena *arena;
    struct simulation out;
    struct case_state *cases;
    struct end *ends;
    struct group_sum *groups;
    size_t stale; // Cases.

    struct queued *queue;       // The stale cases of a target.
    double *failures, *counted; // Of each group: the share that has failed, and of how many.
    struct placement *placed;   // Of each target.

    struct text fired;
    size_t look; // Now.
    double now_s;
    struct trigger_facts facts;
    struct sampling *samplings; // Of each target.
};

// -- What becomes of a case --------------------------------------------------------------------

static void set_stale(struct simulating *simulating, struct case_state *state)
{
    if (!state->is_stale) {
        state->is_stale = 1;
        state->since_s = simulating->now_s;
        simulating->stale++;
    }
}

static void set_fresh(struct simulating *simulating, struct case_state *state)
{
    simulating->stale -= state->is_stale != 0;
    state->is_stale = state->is_doubted = 0;
}

static void
end_one(struct simulating *simulating, const struct recorded_event *event, enum simulation_end how)
{
    if (event->regression == RECORDED_NONE) {
        return;
    }
    struct end *end = &simulating->ends[event->regression];

    if (how == SIMULATION_FOUND && !end->is_known[how]) {
        end->look = simulating->look;
        end->at_s = simulating->now_s;
    }
    end->is_known[how] = 1;
}

// Settles the regressions of a case up to now: what it is now says whether they are found. A
// `how` that is not SIMULATION_FOUND is said of all.
static void settle(struct simulating *simulating,
                   const struct recorded_case *item,
                   struct case_state *state,
                   enum simulation_end how)
{
    const struct recorded_event *events = &simulating->recorded->events[item->event_begin];

    for (; state->settled < state->next; state->settled++) {
        const struct recorded_event *event = &events[state->settled];
        const int is_mended = events[state->next - 1].after < event->after;

        end_one(simulating, event, how == SIMULATION_FOUND && is_mended ? SIMULATION_MISSED : how);
    }
}

// A case has run; `is_anew` if it was stale, and no sample.
static void judge(struct simulating *simulating, size_t index, int is_anew)
{
    const struct recorded_case *item = &simulating->recorded->cases[index];
    const struct recorded_event *events = &simulating->recorded->events[item->event_begin];
    struct case_state *state = &simulating->cases[index];
    const struct recorded_event *last = state->next > 0 ? &events[state->next - 1] : NULL;
    const int is_unknown = last == NULL || last->look > simulating->look || state->is_doubted;

    state->judged += is_anew;
    set_fresh(simulating, state);
    if (is_unknown) {
        simulating->out.unknown++;
        settle(simulating, item, state, SIMULATION_UNKNOWN);
        return;
    }
    settle(simulating, item, state, SIMULATION_FOUND);
    state->turns += state->is_known && state->known != last->after;
    state->known = last->after;
    state->is_known = 1;
}

// A case of which an event begins to hold.
static void begin_event(struct simulating *simulating, size_t index, size_t case_index)
{
    const struct recorded_case *item = &simulating->recorded->cases[case_index];
    const struct recorded_event *event = &simulating->recorded->events[index];
    struct case_state *state = &simulating->cases[case_index];

    if (event->cause == RECORDED_GONE) {
        settle(simulating, item, state, SIMULATION_MISSED);
        set_fresh(simulating, state);
        *state = (struct case_state){.next = index - item->event_begin + 1};
        state->settled = state->next;
        return;
    }
    if (!state->is_alive && *event->row->before != '\0') { // Its first rows are pruned.
        state->known = turning_rank(event->row->before);
        state->is_known = 1;
    }
    state->is_alive = 1;
    state->is_doubted = 0;
    state->next = index - item->event_begin + 1;
    if (event->cause == RECORDED_NEW || event->cause == RECORDED_CHANGE) {
        set_stale(simulating, state);
    } else if (event->cause == RECORDED_RUN) { // For nothing, whoever watches.
        settle(simulating, item, state, SIMULATION_FOUND);
        state->known = event->after;
        state->is_known = 1;
    }
}

// -- Samples -----------------------------------------------------------------------------------

static int is_on(const struct simulating *simulating, enum watch_trigger trigger)
{
    return (simulating->policy->settings.is_on & 1U << trigger) != 0;
}

static size_t case_of(const struct recorded *recorded, size_t event)
{
    size_t low = 0, high = recorded->case_count - 1; // The last whose events begin at it or before.

    while (low < high) {
        const size_t middle = (low + high + 1) / 2;

        if (recorded->cases[middle].event_begin <= event) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static void take_sample(struct simulating *simulating, size_t event_index)
{
    const struct recorded *recorded = simulating->recorded;
    const size_t index = case_of(recorded, event_index);
    const struct looked_row *row = recorded->events[event_index].row;
    struct sampling *sampling =
        &simulating->samplings[recorded->groups[recorded->cases[index].group].target];

    if (isnan(row->drift)) {
        return;
    }
    sampling->cases[sampling->replayed++] =
        (struct sampling_case){row->key, row->op, row->drift, row->time_ratio};
    simulating->out.sampled++;
    simulating->out.seconds += recorded->cases[index].cost_s;
    if (!simulating->cases[index].is_stale) {
        judge(simulating, index, 0);
    }
}

// The samples of the recorded look are those of the simulated one.
static tapml_status sample(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;
    const struct recorded_look *look = &recorded->looks[simulating->look];
    const int64_t before = simulating->out.sampled;

    for (size_t i = 0; i < recorded->target_count; i++) {
        struct sampling *sampling = &simulating->samplings[i];

        *sampling = (struct sampling){.cases = arena_array(simulating->arena, look->onset_count + 1,
                                                           sizeof(*sampling->cases))};
        if (sampling->cases == NULL) {
            return status_no_memory();
        }
    }
    for (size_t i = 0; i < look->onset_count; i++) {
        take_sample(simulating, look->onsets[i]);
    }
    for (size_t i = 0; i < recorded->target_count; i++) {
        struct sampling *sampling = &simulating->samplings[i];

        TAPML_TRY(sampling_sum(sampling, simulating->arena));
        for (size_t op = 0; op < sampling->op_count; op++) {
            simulating->facts.drift = fmax(simulating->facts.drift, sampling->ops[op].drift);
            simulating->facts.performance =
                fmax(simulating->facts.performance, sampling->ops[op].performance);
        }
    }
    simulating->out.unsampled += simulating->out.sampled == before;
    return TAPML_OK;
}

static int has_moved(const struct simulating *simulating, const struct recorded_group *group)
{
    const struct sampling *sampling = &simulating->samplings[group->target];
    const struct watch_settings *settings = &simulating->policy->settings;

    for (size_t i = 0; i < sampling->op_count; i++) {
        const struct sampling_op *op = &sampling->ops[i];

        if (strcmp(op->op, group->op) == 0) {
            return (is_on(simulating, WATCH_DRIFT) && op->drift > settings->drift) ||
                   (is_on(simulating, WATCH_PERFORMANCE) &&
                    op->performance > settings->performance);
        }
    }
    return 0;
}

// What the samples say of other cases of their ops makes these stale.
static void forget_moved(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;

    for (size_t i = 0; i < recorded->case_count; i++) {
        struct case_state *state = &simulating->cases[i];

        if (state->is_alive && !state->is_stale &&
            has_moved(simulating, &recorded->groups[recorded->cases[i].group])) {
            set_stale(simulating, state);
            state->is_doubted =
                recorded->events[recorded->cases[i].event_begin + state->next - 1].onset <
                simulating->look;
        }
    }
}

// -- Triggers ----------------------------------------------------------------------------------

static void sum_groups(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;

    for (size_t i = 0; i < recorded->group_count; i++) {
        simulating->groups[i] = (struct group_sum){.since_s = INFINITY};
    }
    for (size_t i = 0; i < recorded->case_count; i++) {
        const struct case_state *state = &simulating->cases[i];
        struct group_sum *group = &simulating->groups[recorded->cases[i].group];

        if (!state->is_alive || !state->is_known) {
            continue; // What nobody has watched has no past.
        }
        group->judged += state->judged;
        group->turns += state->turns;
        group->since_s = state->is_stale ? fmin(group->since_s, state->since_s) : group->since_s;
    }
}

static void find_regret(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;

    sum_groups(simulating);
    simulating->facts.regret_s = simulating->facts.cost_s = 0;
    for (size_t i = 0; i < recorded->group_count; i++) {
        const struct group_sum *group = &simulating->groups[i];

        simulating->facts.regret_s += isfinite(group->since_s)
                                          ? regret_risk(group->judged, group->turns) *
                                                fmax(simulating->now_s - group->since_s, 0)
                                          : 0;
    }
    for (size_t i = 0; i < recorded->case_count; i++) {
        if (simulating->cases[i].is_stale) {
            simulating->facts.cost_s += recorded->cases[i].cost_s;
            simulating->facts.regret_s =
                simulating->cases[i].is_known ? simulating->facts.regret_s : INFINITY;
        }
    }
}

// The time from which on the regret exceeds the cost, if nothing changes.
static double find_patience(struct simulating *simulating)
{
    double risk = 0, shifted = 0;

    find_regret(simulating);
    for (size_t i = 0; i < simulating->recorded->group_count; i++) {
        const struct group_sum *group = &simulating->groups[i];

        if (isfinite(group->since_s)) {
            const double own = regret_risk(group->judged, group->turns);

            risk += own;
            shifted += own * group->since_s;
        }
    }
    return risk > 0 ? (simulating->facts.cost_s + shifted) / risk : INFINITY;
}

static int decide(struct simulating *simulating)
{
    if (simulating->policy->is_everything) {
        return 1;
    }
    if (is_on(simulating, WATCH_COST)) {
        find_regret(simulating);
    }
    simulating->facts.all = simulating->recorded->looks[simulating->look].everything;
    simulating->facts.stale = (int64_t)simulating->stale;
    text_clear(&simulating->fired);
    return trigger_decide(&simulating->policy->settings, &simulating->facts, &simulating->fired);
}

// -- Running -----------------------------------------------------------------------------------

// As a look counts the failures of an op (commands/watch_look.c): of its cases, those that had
// failed when they were seen last, or have turned before.
static void count_failures(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;
    double *counts = simulating->counted;

    for (size_t i = 0; i < recorded->group_count; i++) {
        counts[i] = simulating->failures[i] = 0;
    }
    for (size_t i = 0; i < recorded->case_count; i++) {
        const struct case_state *state = &simulating->cases[i];
        const size_t group = recorded->cases[i].group;

        if (state->is_alive && state->is_known) {
            counts[group]++;
            simulating->failures[group] += state->known == TURNING_WRONG || state->turns > 0;
        }
    }
    for (size_t i = 0; i < recorded->group_count; i++) {
        simulating->failures[i] /= fmax(counts[i], 1);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct queued *one = a, *other = b;

    return one->place < other->place ? -1 : one->place > other->place;
}

static tapml_status place_cases(struct simulating *simulating, size_t target)
{
    const struct recorded *recorded = simulating->recorded;
    struct placement *placed = &simulating->placed[target];
    const size_t bytes = recorded->group_count * sizeof(*placed->failures);

    count_failures(simulating);
    if (placed->is_made && memcmp(placed->failures, simulating->failures, bytes) == 0) {
        return TAPML_OK;
    }
    placed->failures = arena_array(simulating->arena, recorded->group_count + 1, sizeof(double));
    placed->places = placed->is_made ? placed->places
                                     : arena_array(simulating->arena, recorded->case_count + 1,
                                                   sizeof(*placed->places));
    if (placed->failures == NULL || placed->places == NULL) {
        return status_no_memory();
    }
    memcpy(placed->failures, simulating->failures, bytes);
    placed->is_made = 1;
    return recorded_order(recorded, target, placed->failures, placed->places);
}

// Lists the stale cases of a target, in their order if not all of them can run.
static tapml_status
list_queue(struct simulating *simulating, size_t target, int is_ordered, size_t *out_count)
{
    const struct recorded *recorded = simulating->recorded;
    const struct placement *placed = &simulating->placed[target];
    struct queued *queue = simulating->queue;
    size_t count = 0;

    for (size_t i = 0; i < recorded->case_count; i++) {
        if (simulating->cases[i].is_stale &&
            recorded->groups[recorded->cases[i].group].target == target) {
            queue[count++] = (struct queued){i, i};
        }
    }
    if (is_ordered && count > 0) {
        TAPML_TRY(place_cases(simulating, target));
        for (size_t i = 0; i < count; i++) {
            queue[i].place = placed->places[queue[i].index];
        }
        qsort(queue, count, sizeof(*queue), by_place);
    }
    *out_count = count;
    return TAPML_OK;
}

// What is left of a budget, in cases or in seconds.
static int may_run(const struct case_budget *left)
{
    return left->kind == BUDGET_ALL || left->amount > 0;
}

static tapml_status run_target(struct simulating *simulating,
                               size_t target,
                               int is_ordered,
                               struct case_budget *io_left)
{
    size_t count = 0;

    TAPML_TRY(list_queue(simulating, target, is_ordered, &count));
    for (size_t i = 0; i < count && may_run(io_left); i++) {
        const struct queued *queued = &simulating->queue[i];
        const double cost_s = simulating->recorded->cases[queued->index].cost_s;

        judge(simulating, queued->index, 1);
        simulating->out.replayed++;
        simulating->out.unordered += is_ordered && queued->place >= RECORDED_LAST;
        simulating->out.seconds += cost_s;
        io_left->amount -= io_left->kind == BUDGET_SECONDS ? cost_s : 1;
    }
    return TAPML_OK;
}

static double sum_stale(const struct simulating *simulating)
{
    double seconds = 0;

    for (size_t i = 0; i < simulating->recorded->case_count; i++) {
        seconds += simulating->cases[i].is_stale ? simulating->recorded->cases[i].cost_s : 0;
    }
    return seconds;
}

static tapml_status run(struct simulating *simulating)
{
    struct case_budget left = simulating->policy->settings.budget;

    if (left.kind == BUDGET_SHARE) {
        left =
            (struct case_budget){BUDGET_CASES, ceil(left.amount * (double)simulating->facts.all)};
    }
    const int is_ordered = (left.kind == BUDGET_CASES && left.amount < (double)simulating->stale) ||
                           (left.kind == BUDGET_SECONDS && left.amount < sum_stale(simulating));

    simulating->out.looks += simulating->stale > 0;
    for (size_t i = 0; i < simulating->recorded->target_count; i++) {
        TAPML_TRY(run_target(simulating, i, is_ordered, &left));
    }
    return TAPML_OK;
}

// -- Looks -------------------------------------------------------------------------------------

static void begin_facts(struct simulating *simulating)
{
    simulating->facts = (struct trigger_facts){.drift = 1};
    for (size_t i = 0; i < simulating->recorded->target_count; i++) {
        simulating->samplings[i] = (struct sampling){.cases = NULL};
    }
}

// The look that is recorded as `simulating->look`.
static tapml_status look_as_recorded(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;
    const struct recorded_look *look = &recorded->looks[simulating->look];
    const int samples = is_on(simulating, WATCH_DRIFT) || is_on(simulating, WATCH_PERFORMANCE);

    simulating->now_s = (double)look->at_s;
    begin_facts(simulating);
    for (size_t i = 0; i < look->onset_count; i++) {
        begin_event(simulating, look->onsets[i], case_of(recorded, look->onsets[i]));
    }
    for (size_t i = 0; simulating->policy->is_everything && i < recorded->case_count; i++) {
        if (simulating->cases[i].is_alive) {
            set_stale(simulating, &simulating->cases[i]);
        }
    }
    if (samples) {
        TAPML_TRY(sample(simulating));
    }
    if (!decide(simulating)) {
        return TAPML_OK;
    }
    forget_moved(simulating);
    return run(simulating);
}

// The looks at the interval until `end_s`, as long as something may run at them. Nothing is known
// of samples at these.
static tapml_status look_between(struct simulating *simulating, double end_s)
{
    const double begin_s = simulating->now_s, interval_s = simulating->policy->interval_s;
    double next = 1;

    begin_facts(simulating);
    while (simulating->stale > 0 && begin_s + next * interval_s < end_s) {
        simulating->now_s = begin_s + next * interval_s;
        if (decide(simulating)) {
            TAPML_TRY(run(simulating));
            next++;
            continue;
        }
        if (!is_on(simulating, WATCH_COST)) {
            return TAPML_OK; // Nothing else comes with time.
        }
        const double ripe = ceil((find_patience(simulating) - begin_s) / interval_s);

        if (!isfinite(ripe)) {
            return TAPML_OK;
        }
        if (ripe <= next && simulating->facts.regret_s > simulating->facts.cost_s) {
            return TAPML_OK; // It has fired, and the ensemble wants more.
        }
        next = fmax(ripe, next + 1);
    }
    return TAPML_OK;
}

// -- The end -----------------------------------------------------------------------------------

// What was not found: mended or gone in the meantime, or still wrong.
static void end_case(struct simulating *simulating, size_t index)
{
    const struct recorded_case *item = &simulating->recorded->cases[index];
    const struct recorded_event *events = &simulating->recorded->events[item->event_begin];
    struct case_state *state = &simulating->cases[index];

    for (; state->settled < state->next; state->settled++) {
        const struct recorded_event *event = &events[state->settled];
        const int is_mended = events[state->next - 1].after < event->after;

        end_one(simulating, event, is_mended ? SIMULATION_MISSED : SIMULATION_OPEN);
    }
}

static void count_ends(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;
    struct simulation *out = &simulating->out;

    for (size_t i = 0; i < recorded->regression_count; i++) {
        const struct recorded_regression *regression = &recorded->regressions[i];
        const struct end *end = &simulating->ends[i];
        int how = SIMULATION_FOUND;

        while (how > SIMULATION_MISSED && !end->is_known[how]) {
            how--;
        }
        out->ends[how]++;
        if (how == SIMULATION_FOUND) {
            const int64_t looks = (int64_t)(end->look - regression->onset);
            const double seconds = end->at_s - (double)recorded->looks[regression->onset].at_s;

            out->late_looks += looks;
            out->late_s += seconds;
            out->late_looks_max = looks > out->late_looks_max ? looks : out->late_looks_max;
            out->late_s_max = fmax(out->late_s_max, seconds);
        }
    }
}

static tapml_status simulate(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;

    for (size_t i = 0; i < recorded->look_count; i++) {
        simulating->look = i;
        TAPML_TRY(look_as_recorded(simulating));
        if (i + 1 < recorded->look_count) {
            TAPML_TRY(look_between(simulating, (double)recorded->looks[i + 1].at_s));
        }
    }
    for (size_t i = 0; i < recorded->case_count; i++) {
        end_case(simulating, i);
    }
    count_ends(simulating);
    return TAPML_OK;
}

static tapml_status make_room(struct simulating *simulating)
{
    const struct recorded *recorded = simulating->recorded;
    struct arena *arena = simulating->arena;

    simulating->cases = arena_array(arena, recorded->case_count + 1, sizeof(*simulating->cases));
    simulating->ends =
        arena_array(arena, recorded->regression_count + 1, sizeof(*simulating->ends));
    simulating->groups = arena_array(arena, recorded->group_count + 1, sizeof(*simulating->groups));
    simulating->queue = arena_array(arena, recorded->case_count + 1, sizeof(*simulating->queue));
    simulating->placed =
        arena_array(arena, recorded->target_count + 1, sizeof(*simulating->placed));
    simulating->failures =
        arena_array(arena, recorded->group_count + 1, sizeof(*simulating->failures));
    simulating->counted =
        arena_array(arena, recorded->group_count + 1, sizeof(*simulating->counted));
    simulating->samplings =
        arena_array(arena, recorded->target_count + 1, sizeof(*simulating->samplings));
    return simulating->cases != NULL && simulating->ends != NULL && simulating->groups != NULL &&
                   simulating->queue != NULL && simulating->placed != NULL &&
                   simulating->failures != NULL && simulating->counted != NULL &&
                   simulating->samplings != NULL
               ? TAPML_OK
               : status_no_memory();
}

tapml_status simulation_run(const struct recorded *recorded,
                            const struct simulation_policy *policy,
                            struct simulation *out_simulation)
{
    struct simulating simulating = {
        .recorded = recorded, .policy = policy, .arena = arena_create()};

    ASSERT(policy->interval_s > 0);
    if (simulating.arena == NULL) {
        return status_no_memory();
    }
    text_init(&simulating.fired);
    tapml_status status = make_room(&simulating);

    if (status == TAPML_OK) {
        status = simulate(&simulating);
    }
    text_release(&simulating.fired);
    arena_destroy(simulating.arena);
    if (status == TAPML_OK) {
        *out_simulation = simulating.out;
    }
    return status;
}
