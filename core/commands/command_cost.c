// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/text.h"
#include "choose/split.h"
#include "commands/cost_output.h"
#include "config/options.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"
#include "store/usage.h"

#include <math.h>
#include <string.h>

enum { MEMBERS = 16 };

static const double RUNS_MAX = 1e6;

static const struct options_spec specs[] = {
    {"--deadline", "TIME",
     "how long a run may take: 90s, 20min, 2h; by default as long as it likes"},
    {"--target", "NAME", "the target whose pool it is; may be left out where the run has one"},
    {"--runs", "N", "runs a day, 1 by default"},
    {"--members", "N", "members of the pool at most, 16 by default"},
    {"--rate", "RATE",
     "of a member on demand, such as '2.50 USD/h'; by default that of the run's file"},
    {"--resident-rate", "RATE", "of a resident member; by default the same"},
    {"--start", "TIME", "what opening a member takes; by default the median of what was measured"},
    {"--budget", "N", "prices a choice of the cases, as 'select' makes it: 200, 2% of them, 600s"},
    {"--explain", NULL,
     "prints what is predicted, where keeping members pays, and what turns that"},
    {"--json", NULL, "prints it as JSON"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_cost_manual = {
    .usage = "tapml-host cost DIR [--deadline 20min] [--runs N] [--explain] [--json]",
    .about =
        "Says from the times of a run how many places like its target replay the cases of the "
        "run within a deadline at the least cost, each of them a shard, and whether they are "
        "to be kept day and night or opened for each run. Nothing is run, and nothing is "
        "written. DIR is the folder of a run, or a store. Exit code 1: no pool is fast enough.",
    .specs = specs,
};

struct costing {
    struct options options;
    struct arena *arena;
    struct store *store;
    struct choice_settings choice;
    double start_s;                // NaN: as measured.
    struct rate rates[POOL_KINDS]; // Of options; none: as the run's file said.
    struct cost_answer answer;
};

// -- What is asked for -------------------------------------------------------------------------

static tapml_status explain_option(tapml_status status, const char *name)
{
    return status == TAPML_OK ? status : status_explain(status, "%s", name);
}

static tapml_status read_time(const struct options *options, const char *name, double *io_seconds)
{
    const char *word = options_get(options, name);

    return word != NULL ? explain_option(duration_read(word, io_seconds), name) : TAPML_OK;
}

static tapml_status read_rate(const struct options *options, const char *name, struct rate *io_rate)
{
    const char *word = options_get(options, name);

    return word != NULL ? explain_option(rate_read(word, io_rate), name) : TAPML_OK;
}

static tapml_status read_runs(const struct options *options, double *out_runs)
{
    const char *word = options_get(options, "--runs");

    *out_runs = 1;
    if (word != NULL &&
        (text_parse_f64(word, out_runs) != TAPML_OK || !(*out_runs > 0) || *out_runs > RUNS_MAX)) {
        return status_fail(TAPML_INVALID, "--runs is '%.40s', expected a number above 0 up to %g",
                           word, RUNS_MAX);
    }
    return TAPML_OK;
}

static tapml_status read_options(struct costing *costing)
{
    const struct options *options = &costing->options;
    struct pool_input *input = &costing->answer.input;
    const char *budget = options_get(options, "--budget");
    int64_t members = 0;

    if (options->plain_count != 1) {
        return status_fail(TAPML_INVALID, "expected the folder of one run, found %zu",
                           options->plain_count);
    }
    input->deadline_s = INFINITY;
    costing->start_s = NAN;
    TAPML_TRY(read_time(options, "--deadline", &input->deadline_s));
    TAPML_TRY(read_time(options, "--start", &costing->start_s));
    costing->rates[POOL_RESIDENT] = costing->rates[POOL_ON_DEMAND] = rate_none();
    TAPML_TRY(read_rate(options, "--rate", &costing->rates[POOL_ON_DEMAND]));
    TAPML_TRY(read_rate(options, "--resident-rate", &costing->rates[POOL_RESIDENT]));
    TAPML_TRY(read_runs(options, &input->runs));
    TAPML_TRY(options_i64(options, "--members", MEMBERS, 1, SPLIT_SHARDS_MAX, &members));
    input->most = (size_t)members;
    return budget != NULL ? budget_read(budget, &costing->choice.budget) : TAPML_OK;
}

// -- The ledger --------------------------------------------------------------------------------

// Of a store that was merged the next start makes the targets: until then those of shards count.
static tapml_status count_merged(struct costing *costing, size_t *io_count)
{
    struct usage_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(usage_list(costing->store, NULL, costing->arena, &rows, &count));
    for (size_t i = 0; i < count; i++) { // By place.
        const int is_other = i == 0 || strcmp(rows[i].place, rows[i - 1].place) != 0;

        if (is_other && strcmp(rows[i].place, "source") != 0) {
            costing->answer.target = rows[i].place;
            (*io_count)++;
        }
    }
    return TAPML_OK;
}

// The target that is named, or the only one.
static tapml_status find_target(struct costing *costing)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    costing->answer.target = options_get(&costing->options, "--target");
    if (costing->answer.target != NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(target_list(costing->store, costing->arena, &targets, &count));
    if (count == 1) {
        costing->answer.target = targets[0].name;
    }
    TAPML_TRY(count == 0 ? count_merged(costing, &count) : TAPML_OK);
    return count == 1 ? TAPML_OK
                      : status_fail(TAPML_INVALID,
                                    "the run has %zu targets, name one of them by --target", count);
}

static tapml_status find_start(struct costing *costing)
{
    struct cost_answer *answer = &costing->answer;

    answer->is_start_given = !isnan(costing->start_s);
    answer->input.start_s = answer->is_start_given ? costing->start_s : answer->price.start_s;
    answer->input.start_s += answer->price.firsts_s; // NaN stays what it is.
    return !isnan(answer->input.start_s)
               ? TAPML_OK
               : status_fail(TAPML_PRECONDITION,
                             "no start of '%s' was measured, as by a host of an earlier version: "
                             "give --start TIME, or run it again",
                             answer->target);
}

// Those of the options, else that of the run's file; a resident member costs what others do.
static tapml_status find_rates(struct costing *costing)
{
    struct cost_answer *answer = &costing->answer;
    struct rate *on_demand = &answer->rates[POOL_ON_DEMAND];
    struct rate *resident = &answer->rates[POOL_RESIDENT];
    const struct rate *given = costing->rates;

    *on_demand = rate_is_known(&given[POOL_ON_DEMAND]) ? given[POOL_ON_DEMAND] : answer->price.rate;
    *resident = rate_is_known(&given[POOL_RESIDENT]) ? given[POOL_RESIDENT] : *on_demand;
    if (rate_is_known(resident) && strcmp(resident->currency, on_demand->currency) != 0) {
        return status_fail(TAPML_INVALID,
                           "--resident-rate is in '%s', expected the currency of the rate on "
                           "demand, found '%s'",
                           resident->currency, on_demand->currency);
    }
    answer->has_rate = rate_is_known(on_demand);
    for (int kind = 0; kind < POOL_KINDS; kind++) {
        answer->input.rates[kind] = answer->has_rate ? answer->rates[kind].per_hour : 1;
    }
    return TAPML_OK;
}

// The longest share of each number of members, as shards would have them.
static tapml_status split(struct costing *costing)
{
    const struct case_price *price = &costing->answer.price;
    struct pool_input *input = &costing->answer.input;
    struct split_item *items = arena_array(costing->arena, price->count + 1, sizeof(*items));
    uint32_t *shards = arena_array(costing->arena, price->count + 1, sizeof(*shards));
    uint64_t *loads = arena_array(costing->arena, input->most, sizeof(*loads));
    double *longest_s = arena_array(costing->arena, input->most, sizeof(*longest_s));

    if (items == NULL || shards == NULL || loads == NULL || longest_s == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < price->count; i++) {
        items[i] = (struct split_item){.key = "", .cost = (uint64_t)(price->seconds[i] * 1e9)};
    }
    for (size_t n = 1; n <= input->most; n++) {
        TAPML_TRY(split_run(items, price->count, (uint32_t)n, shards));
        TAPML_TRY(split_measure(items, price->count, shards, (uint32_t)n, loads));
        for (size_t i = 0; i < n; i++) {
            longest_s[n - 1] = fmax(longest_s[n - 1], (double)loads[i] / 1e9);
        }
        if (n > 1) { // A pool may leave a member idle.
            longest_s[n - 1] = fmin(longest_s[n - 1], longest_s[n - 2]);
        }
    }
    input->longest_s = longest_s;
    input->work_s = price->work_s;
    input->cases = (double)price->count;
    input->scale = 1;
    return TAPML_OK;
}

static tapml_status answer(struct costing *costing)
{
    struct cost_answer *answer = &costing->answer;

    TAPML_TRY(find_target(costing));
    TAPML_TRY(case_price_find(costing->store, answer->target, &costing->choice, costing->arena,
                              &answer->price));
    if (answer->price.count == 0) {
        return status_fail(TAPML_PRECONDITION, "the run has no cases");
    }
    TAPML_TRY(find_start(costing));
    TAPML_TRY(find_rates(costing));
    TAPML_TRY(split(costing));
    pool_cost_find(&answer->input, &answer->cost);
    return TAPML_OK;
}

// A store is read as it is at one moment.
static tapml_status read_store(struct costing *costing)
{
    const char *given = costing->options.plain[0];
    char *path = file_is_folder(given) ? file_join(given, "run.tapmlrun") : alloc_text(given);

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = store_open_to_read(path, &costing->store);

    alloc_free(path);
    TAPML_TRY(status);
    TAPML_TRY(store_begin_to_read(costing->store));
    status = answer(costing);
    store_rollback(costing->store);
    return status;
}

static tapml_status run(struct costing *costing)
{
    const struct options *options = &costing->options;
    struct text text;

    costing->arena = arena_create();
    if (costing->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(read_options(costing));
    TAPML_TRY(read_store(costing));
    text_init(&text);
    if (options_get(options, "--json") != NULL) {
        cost_output_json(&costing->answer, &text);
    } else {
        cost_output_text(&costing->answer, options_get(options, "--explain") != NULL, &text);
    }
    return text_print(&text);
}

enum outcome command_cost_main(const struct command *command)
{
    struct costing costing = {.store = NULL};
    tapml_status status = options_parse(specs, command->argc, command->argv, &costing.options);

    if (status == TAPML_OK && options_get(&costing.options, "--help") != NULL) {
        return outcome_report(options_help(&command_cost_manual));
    }
    if (status == TAPML_OK) {
        status = run(&costing);
    }
    const enum outcome failure = outcome_report(status);

    store_close(costing.store);
    arena_destroy(costing.arena);
    return failure != OUTCOME_OK || costing.answer.cost.has_choice ? failure : OUTCOME_WRONG;
}
