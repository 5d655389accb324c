// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How good is a search of plans? The kinds of operators of a run's model are put into groups, and
// all plans that have each group as a whole at one place are measured, in turns. Then searches
// ask for that table instead of the devices: what do they regret, and how well do ranks of
// predicted values correlate with those of all plans, beside plans that are drawn by chance, and
// those that are predicted best by the times of cases alone?
#include "exec/plan.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"
#include "choose/plan_model.h"
#include "choose/plan_rules.h"
#include "choose/plan_search.h"
#include "exec/session.h"
#include "measure.h"
#include "run/outcome.h"
#include "run/plan_ground.h"
#include "schema/catalogue.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MOST = 6, PLANS_MOST = 729, PREFILL = 8, SEEDS = 20, ROUNDS_MOST = 9, FIRST_ID = 5 };

static const double SECOND_NS = 1e9, US_NS = 1e3, NOISE = 0.08;

static const struct options_spec specs[] = {
    {"--run", "DIR", "the folder of a run that has been finished"},
    {"--groups", "N", "of kinds, the most expensive ones alone; 6 if absent"},
    {"--rounds", "N", "over all plans; 3 if absent"},
    {"--tokens", "N", "that are decoded in each; 16 if absent"},
    PLAN_GROUND_OPTIONS,
    {NULL, NULL, NULL},
};

struct space {
    struct plan_ground ground;
    int64_t rounds, tokens;
    size_t group_count, plan_count;
    uint8_t *group_of; // Of each operator.
    struct plan_unit units[GROUPS_MOST];
    uint8_t *places;                       // Of each plan, one behind the other.
    double times[PLANS_MOST][ROUNDS_MOST]; // Nanoseconds of a token.
    double truth[PLANS_MOST];              // The least of them: what else ran only adds.
    double *rows[PLANS_MOST];              // Columns of the predictor.
    double analytic[PLANS_MOST];
    double least;
};

static const uint8_t *plan_at(const struct space *space, size_t index)
{
    return space->places + index * space->ground.question.n_ops;
}

// -- The space ---------------------------------------------------------------------------------

static double kind_time(const struct space *space, uint32_t kind)
{
    double time_ns = 0;

    for (uint32_t i = 0; i < space->ground.question.n_ops; i++) {
        if (space->ground.columns.kinds[i] == kind) {
            time_ns += plan_build_time_ns(space->ground.question.ops[i], 0);
        }
    }
    return time_ns;
}

// The group of a kind: those that take most on the source are alone, the last one has the rest.
static size_t group_of_kind(const struct space *space, uint32_t kind)
{
    size_t before = 0;

    for (uint32_t other = 0; other < space->ground.columns.kind_count; other++) {
        const double own = kind_time(space, kind), its = kind_time(space, other);

        before += its > own || (its == own && other < kind);
    }
    return before < space->group_count ? before : space->group_count - 1;
}

static tapml_status make_groups(struct space *space)
{
    const uint32_t count = space->ground.question.n_ops;

    space->group_of = arena_array(space->ground.arena, count, 1);
    if (space->group_of == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        space->group_of[i] = (uint8_t)group_of_kind(space, space->ground.columns.kinds[i]);
    }
    for (size_t group = 0; group < space->group_count; group++) {
        struct plan_unit *unit = &space->units[group];
        uint32_t *ops = arena_array(space->ground.arena, count, sizeof(*ops));

        *unit = (struct plan_unit){.ops = ops, .is_kind = 1};
        if (ops == NULL) {
            return status_no_memory();
        }
        for (uint32_t i = 0; i < count; i++) {
            if (space->group_of[i] == group) {
                unit->name = catalogue_short_name(space->ground.question.ops[i]->op);
                ops[unit->count++] = i;
            }
        }
    }
    return TAPML_OK;
}

static tapml_status make_plans(struct space *space)
{
    const tapml_policy_ops *question = &space->ground.question;

    space->plan_count = 1;
    for (size_t group = 0; group < space->group_count; group++) {
        space->plan_count *= question->n_places;
    }
    if (space->plan_count > PLANS_MOST) {
        return status_fail(TAPML_INVALID, "%zu plans are more than %d", space->plan_count,
                           PLANS_MOST);
    }
    space->places = arena_array(space->ground.arena, space->plan_count * question->n_ops, 1);
    if (space->places == NULL) {
        return status_no_memory();
    }
    for (size_t plan = 0; plan < space->plan_count; plan++) {
        for (uint32_t i = 0; i < question->n_ops; i++) {
            size_t digits = plan;

            for (size_t group = 0; group < space->group_of[i]; group++) {
                digits /= question->n_places;
            }
            const uint8_t place = (uint8_t)(digits % question->n_places);

            space->places[plan * question->n_ops + i] =
                question->ops[i]->may_run[place] ? place : 0;
        }
    }
    return TAPML_OK;
}

static tapml_status look_at_all(struct space *space)
{
    const struct plan_columns *columns = &space->ground.columns;

    for (size_t i = 0; i < space->plan_count; i++) {
        uint64_t bytes[SPACE_PLACES_MAX];
        struct plan_look look = {
            .columns = arena_array(space->ground.arena, columns->width, sizeof(double)),
            .bytes = bytes};

        if (look.columns == NULL) {
            return status_no_memory();
        }
        TAPML_TRY(plan_ground_look(&space->ground, plan_at(space, i), &look));
        space->rows[i] = look.columns;
        for (size_t k = 0; k < columns->width; k++) {
            space->analytic[i] += look.columns[k] * columns->guesses[k];
        }
    }
    return TAPML_OK;
}

// -- Measuring all of it -----------------------------------------------------------------------

static tapml_status wait_for(struct session *session)
{
    const float *logits = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    return session_output(session, "logits", &logits, shape, &rank);
}

static tapml_status decode(struct session *session, int64_t tokens)
{
    static const int32_t id = FIRST_ID;

    for (int64_t i = 0; i < tokens; i++) {
        TAPML_TRY(session_feed(session, &id, 1));
        TAPML_TRY(wait_for(session));
    }
    return TAPML_OK;
}

static tapml_status set_plan(struct space *space, size_t index)
{
    struct plan *plan = NULL;
    struct text rules;

    text_init(&rules);
    tapml_status status = plan_rules_write(&space->ground.question, plan_at(space, index), &rules);

    status = status == TAPML_OK ? plan_parse(rules.data, "plan", &plan) : status;
    text_release(&rules);
    TAPML_TRY(status);
    status = session_set_plan(space->ground.session, plan);
    plan_destroy(plan);
    return status;
}

static tapml_status measure_one(struct space *space, size_t index, double *out_ns)
{
    static const int32_t ids[PREFILL] = {5, 17, 3, 9, 21, 40, 8, 11};
    struct session *session = space->ground.session;

    TAPML_TRY(set_plan(space, index));
    TAPML_TRY(session_begin(session, PREFILL));
    TAPML_TRY(session_feed(session, ids, PREFILL));
    TAPML_TRY(decode(session, 2)); // Weights are there, and kernels are built.
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(decode(session, space->tokens));
    *out_ns = (double)(clock_now_ns() - begin_ns) / (double)space->tokens;
    return TAPML_OK;
}

static tapml_status measure_all(struct space *space)
{
    space->least = INFINITY;
    for (int64_t round = 0; round < space->rounds; round++) {
        for (size_t i = 0; i < space->plan_count; i++) {
            TAPML_TRY(measure_one(space, i, &space->times[i][round]));
        }
    }
    for (size_t i = 0; i < space->plan_count; i++) {
        space->truth[i] = INFINITY;
        for (int64_t round = 0; round < space->rounds; round++) {
            space->truth[i] = fmin(space->truth[i], space->times[i][round]);
        }
        space->least = fmin(space->least, space->truth[i]);
    }
    return TAPML_OK;
}

// -- Searches over the table -------------------------------------------------------------------

// What a way of choosing has come to: the plan that looked best in the first round, by what it
// regrets of the truth, and the correlation of ranks over all plans.
struct outcome_of_search {
    double regret, correlation;
};

struct table_search {
    struct space *space;
    size_t measured[PLANS_MOST];
    size_t count;
};

static tapml_status
read_table(void *user, struct plan_trial *const *trials, size_t count, size_t chunks)
{
    struct table_search *search = user;

    for (size_t i = 0; i < count; i++) {
        size_t plan = 0;

        while (memcmp(plan_at(search->space, plan), trials[i]->places,
                      search->space->ground.question.n_ops) != 0) {
            plan++;
        }
        if (trials[i]->chunks == 0) {
            search->measured[search->count++] = plan;
        }
        trials[i]->value = search->space->times[plan][0];
        trials[i]->chunks = chunks;
    }
    return TAPML_OK;
}

static double regret_of(const struct space *space, const size_t *measured, size_t count)
{
    size_t best = measured[0];

    for (size_t i = 1; i < count; i++) {
        best = space->times[measured[i]][0] < space->times[best][0] ? measured[i] : best;
    }
    return space->truth[best] / space->least - 1;
}

// How well a predictor that was fitted to some plans ranks all of them.
static tapml_status
correlate(const struct space *space, const size_t *measured, size_t count, double *out_correlation)
{
    const struct plan_columns *columns = &space->ground.columns;
    struct arena *arena = arena_create();
    const double *rows[PLANS_MOST];
    double values[PLANS_MOST], noises[PLANS_MOST], predicted[PLANS_MOST];
    double *guesses = arena != NULL ? arena_array(arena, 2 * columns->width, sizeof(double)) : NULL;
    struct plan_model model;

    if (guesses == NULL) {
        arena_destroy(arena);
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = space->rows[measured[i]];
        values[i] = space->times[measured[i]][0];
        noises[i] = NOISE * values[i];
    }
    plan_columns_guess(columns, rows, values, count, guesses, guesses + columns->width);
    const struct plan_model_input input = {.width = columns->width,
                                           .guesses = guesses,
                                           .spreads = guesses + columns->width,
                                           .rows = rows,
                                           .values = values,
                                           .noises = noises,
                                           .count = count};
    tapml_status status = plan_model_fit(&input, arena, &model);

    for (size_t i = 0; status == TAPML_OK && i < space->plan_count; i++) {
        predicted[i] = plan_model_predict(&model, space->rows[i]);
    }
    if (status == TAPML_OK) {
        status = plan_model_correlate(predicted, space->truth, space->plan_count, out_correlation);
    }
    arena_destroy(arena);
    return status;
}

static tapml_status settle(const struct space *space,
                           const size_t *measured,
                           size_t count,
                           struct outcome_of_search *out)
{
    out->regret = regret_of(space, measured, count);
    return correlate(space, measured, count, &out->correlation);
}

// All on one place, each group alone away from the source, and each group where it is fastest.
static tapml_status make_builds(struct space *space, struct plan_builds *out_builds)
{
    const tapml_policy_ops *question = &space->ground.question;
    const size_t most = question->n_places * (space->group_count + 1) + 1;
    struct plan_built *items = arena_array(space->ground.arena, most, sizeof(*items));
    uint8_t *kind = arena_array(space->ground.arena, question->n_ops, 1);
    size_t count = 0, stride = 1;

    if (items == NULL || kind == NULL) {
        return status_no_memory();
    }
    for (size_t place = 0; place < question->n_places; place++) {
        size_t plan = 0;

        for (size_t group = 0; group < space->group_count; group++) {
            plan = plan * question->n_places + place;
        }
        items[count++] = (struct plan_built){place == 0 ? "source" : "all", plan_at(space, plan)};
    }
    for (size_t group = 0; group < space->group_count; group++, stride *= question->n_places) {
        for (size_t place = 1; place < question->n_places; place++) {
            items[count++] = (struct plan_built){"one", plan_at(space, place * stride)};
        }
    }
    for (size_t group = 0; group < space->group_count; group++) {
        double least = INFINITY;
        uint8_t best = 0;

        for (uint8_t place = 0; place < question->n_places; place++) {
            double time_ns = 0;

            for (uint32_t i = 0; i < space->units[group].count; i++) {
                time_ns += plan_build_time_ns(question->ops[space->units[group].ops[i]], place);
            }
            best = time_ns < least ? place : best;
            least = fmin(least, time_ns);
        }
        (void)plan_units_move(question, &space->units[group], best, kind);
    }
    items[count++] = (struct plan_built){"kind", kind};
    *out_builds = (struct plan_builds){items, count};
    return TAPML_OK;
}

static tapml_status search(struct space *space, size_t trials, struct outcome_of_search *out)
{
    struct table_search table = {.space = space};
    struct plan_search found;
    struct plan_search_input input = {.question = &space->ground.question,
                                      .calls = {.look = plan_ground_look,
                                                .look_user = &space->ground,
                                                .measure = read_table,
                                                .user = &table},
                                      .units = {space->units, space->group_count},
                                      .columns = &space->ground.columns,
                                      .noise = NOISE,
                                      .trials = trials,
                                      .chunks = 1,
                                      .chunks_last = 1};

    TAPML_TRY(make_builds(space, &input.builds));
    TAPML_TRY(plan_search_run(&input, space->ground.arena, &found));
    return settle(space, table.measured, table.count, out);
}

static tapml_status
draw(const struct space *space, size_t trials, uint64_t seed, struct outcome_of_search *out)
{
    size_t plans[PLANS_MOST];
    struct random random;

    random_init(&random, seed);
    for (size_t i = 0; i < space->plan_count; i++) {
        plans[i] = i;
    }
    for (size_t i = 0; i < trials; i++) {
        const size_t other = i + (size_t)random_below(&random, space->plan_count - i);
        const size_t kept = plans[i];

        plans[i] = plans[other];
        plans[other] = kept;
    }
    return settle(space, plans, trials, out);
}

static tapml_status
draw_all(const struct space *space, size_t trials, struct outcome_of_search *out)
{
    *out = (struct outcome_of_search){0, 0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct outcome_of_search drawn;

        TAPML_TRY(draw(space, trials, seed, &drawn));
        out->regret += drawn.regret / SEEDS;
        out->correlation += drawn.correlation / SEEDS;
    }
    return TAPML_OK;
}

// The plans that the times of cases alone say are best.
static tapml_status
take_predicted(const struct space *space, size_t trials, struct outcome_of_search *out)
{
    size_t plans[PLANS_MOST];

    for (size_t i = 0; i < space->plan_count; i++) {
        size_t at = i;

        while (at > 0 && space->analytic[plans[at - 1]] > space->analytic[i]) {
            plans[at] = plans[at - 1];
            at--;
        }
        plans[at] = i;
    }
    out->regret = regret_of(space, plans, trials);
    return plan_model_correlate(space->analytic, space->truth, space->plan_count,
                                &out->correlation);
}

// -- The program -------------------------------------------------------------------------------

// How far a plan's first measurement is from its least one, in the middle of all plans.
static double find_noise(const struct space *space)
{
    double shares[PLANS_MOST];

    for (size_t i = 0; i < space->plan_count; i++) {
        const double share = space->times[i][0] / space->truth[i] - 1;
        size_t at = i;

        while (at > 0 && shares[at - 1] > share) {
            shares[at] = shares[at - 1];
            at--;
        }
        shares[at] = share;
    }
    return shares[space->plan_count / 2];
}

static tapml_status print_all(struct space *space)
{
    static const size_t trials[] = {10, 20, 30};
    const size_t last = space->plan_count - 1;

    printf("plans\t%zu\ngroups\t%zu\nleast_us\t%.6g\nsource_us\t%.6g\nlast_us\t%.6g\nnoise\t%.4g\n",
           space->plan_count, space->group_count, space->least / US_NS, space->truth[0] / US_NS,
           space->truth[last] / US_NS, find_noise(space));
    for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++) {
        struct outcome_of_search searched, drawn, predicted;
        const size_t count = trials[i] < space->plan_count ? trials[i] : space->plan_count;

        TAPML_TRY(search(space, count, &searched));
        TAPML_TRY(draw_all(space, count, &drawn));
        TAPML_TRY(take_predicted(space, count, &predicted));
        printf("trials\t%zu\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\n", count, searched.regret,
               drawn.regret, predicted.regret, searched.correlation, drawn.correlation,
               predicted.correlation);
    }
    return TAPML_OK;
}

static tapml_status run(const char *own, int argc, char **argv, struct space *space)
{
    struct options options;
    int64_t groups = 0;
    char program[1024];

    TAPML_TRY(options_parse(specs, argc, argv, &options));
    TAPML_TRY(options_i64(&options, "--groups", GROUPS_MOST, 1, GROUPS_MOST, &groups));
    TAPML_TRY(options_i64(&options, "--rounds", 3, 1, ROUNDS_MOST, &space->rounds));
    TAPML_TRY(options_i64(&options, "--tokens", 16, 1, 1024, &space->tokens));
    if (options_get(&options, "--run") == NULL) {
        return status_fail(TAPML_INVALID, "no run: give --run DIR");
    }
    measure_program(own, program, sizeof(program));
    space->group_count = (size_t)groups;
    TAPML_TRY(plan_ground_open(
        &(struct plan_ground_options){
            .program = program, .given = &options, .folder = options_get(&options, "--run")},
        &space->ground));
    TAPML_TRY(make_groups(space));
    TAPML_TRY(make_plans(space));
    TAPML_TRY(look_at_all(space));
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(measure_all(space));
    printf("seconds\t%.4g\n", (double)(clock_now_ns() - begin_ns) / SECOND_NS);
    return print_all(space);
}

int main(int argc, char **argv)
{
    struct space *space = alloc_new(sizeof(*space));
    const tapml_status status =
        space != NULL ? run(argv[0], argc - 1, argv + 1, space) : status_no_memory();
    const enum outcome outcome = outcome_report(status);

    if (space != NULL) {
        plan_ground_close(&space->ground);
    }
    alloc_free(space);
    return (int)outcome;
}
