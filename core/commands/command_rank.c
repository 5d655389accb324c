// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "commands/rank_contenders.h"
#include "commands/rank_output.h"
#include "config/run_file.h"
#include "config/survey.h"
#include "model/checkpoint.h"
#include "run/case_weights.h"
#include "run/driver_checks.h"
#include "run/follow_up.h"
#include "run/interrupt.h"
#include "run/progress.h"
#include "run/ranking.h"
#include "run/run_judge.h"
#include "run/run_lock.h"
#include "run/run_metadata.h"
#include "run/setup.h"
#include "run/shard_cases.h"
#include "run/store_source.h"
#include "run/target_metadata.h"
#include "run/text_setup.h"
#include "store/carved.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/first_limits.h"
#include "verify/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The last three are those of run/contender_list.h, the others those of run/ranking.h.
enum { OVER_CASES = 3 };

static const struct options_spec specs[] = {
    {"--config", "FILE", "over op, target, backend: the INI file of a run that has cases"},
    {"--over", "op|target|backend|model|encoding|plan", "what is ranked"},
    {"--by", "failures|margin|time|kl|perplexity|speed",
     "over op, target, backend: failures (default), the share of cases that are wrong; margin, its "
     "mean, of at most 10; time, the mean time of a call. Over the others: kl, the divergence from "
     "a base; perplexity (default of models); speed, decoded tokens a second"},
    {"--target", "NAME",
     "a target of the run alone; of a plan NAME=B, the backend of another place; may be given "
     "several times"},
    {"--budget", "N",
     "how many cases or chunks, of all together: 200, 2% of them, or 600s; by default all"},
    {"--method", "auto|exhaustive|uniform|halving",
     "how these are spent; auto (default): exhaustive where the budget allows it, of at most 4 "
     "uniform, else halving"},
    SHARD_OPTION,
    SHARD_INTO_OPTION,
    {"--explain", NULL, "prints what is predicted to be run, and what was"},
    {"--json", NULL, "prints the result as JSON"},
    {"--model", "PATH",
     "the weights' folder, a name or a GGUF file; by default those of the run. Over models given "
     "several times; by default all published ones that are on this machine"},
    TEXT_SETUP_OPTIONS,
    {"--weights", "ENCODING",
     "encodes weights at load: docs/encodings.md; over encodings given several times, by default "
     "all"},
    {"--plan", "FILE", "over plans given several times; places are those of the run in its folder"},
    {"--base", "PATH",
     "by kl: the model on the source that is the base; by default the one without the encoding or "
     "the plan"},
    {"--fits", "FILE", "a device's figures, as in conf/devices: what is larger is not run"},
    {"--store", "FILE", "where results of chunks stay, by default in the user's cache"},
    {"--backend", "B", "runs everything on one backend: COMPONENT or COMPONENT:DEVICE"},
    {"--activations", "f32|f16", "of --backend; f32 by default"},
    {"--source", "B", "the backend of a plan's place 'source'"},
    {"--state", "f32|f16|q8_0", "the type of keys and values"},
    SETUP_ISOLATION_OPTIONS,
    SETUP_MODEL_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_rank_manual = {
    .usage = "tapml-host rank --config FILE --over op|target|backend [--by failures|margin|time] "
             "[--budget N]\n"
             "tapml-host rank --over model|encoding|plan --text FILE [--by kl|perplexity|speed] "
             "[--fits FILE] [--budget N]",
    .about = "Finds which operator, target or backend of a run is worst, or which model, encoding "
             "or plan is best on this device, and runs as little as that takes. Results are kept, "
             "so that the same question asked again runs nothing.",
    .specs = specs,
};

struct rank_command {
    struct options options;
    struct run_config config;
    struct setup setup;
    struct run_lock *lock;
    struct store *store;
    struct case_shard shard;        // None, or
    struct shard_cases shard_cases; // what it has.
    struct checkpoint *checkpoint;
    struct verdict_list refuted; // Of a run over cases.
    struct arena *arena;
    struct place *targets[RUN_CONFIG_TARGETS_MAX];
    size_t target_count;
    struct progress progress;
    int over; // A word of ranking_over, or behind these of contender_over.
    enum ranking_by by;
    enum race_method method;
    struct case_budget budget;
    struct ranking ranking;
};

// -- What is asked for -------------------------------------------------------------------------

// Refuses what says nothing where cases, or contenders, are ranked.
static tapml_status check_options(const struct options *options, int is_of_cases)
{
    static const struct options_spec of_cases[] = {
        {"--config", NULL, NULL},  {"--over", NULL, NULL},
        {"--by", NULL, NULL},      {"--target", NULL, NULL},
        {"--budget", NULL, NULL},  {"--method", NULL, NULL},
        {"--explain", NULL, NULL}, {"--json", NULL, NULL},
        {"--model", NULL, NULL},   SHARD_OPTION,
        SHARD_INTO_OPTION,         SETUP_OPTIONS,
        {NULL, NULL, NULL}};

    for (size_t i = 0; i < options->given_count; i++) {
        const char *name = options->given[i].spec->name;

        if (is_of_cases && !options_has(of_cases, name)) {
            return status_fail(TAPML_INVALID, "%s is for --over model, encoding or plan", name);
        }
        if (!is_of_cases && (strcmp(name, "--config") == 0 || strcmp(name, "--shard") == 0 ||
                             strcmp(name, "--into") == 0)) {
            return status_fail(TAPML_INVALID, "%s is for --over op, target or backend", name);
        }
    }
    return TAPML_OK;
}

static tapml_status read_options(struct rank_command *rank)
{
    const struct options *options = &rank->options;
    const char *budget = options_get(options, "--budget");
    int method = RACE_AUTO;

    TAPML_TRY(options_no_plain(options));
    if (options_get(options, "--over") == NULL) {
        return status_fail(TAPML_INVALID, "nothing to rank: give --over op, target, backend, "
                                          "model, encoding or plan");
    }
    TAPML_TRY(options_word(options, "--over", RANKING_OVER " " CONTENDER_OVER, &rank->over));
    TAPML_TRY(options_word(options, "--method", RACE_METHODS, &method));
    rank->method = (enum race_method)method;
    TAPML_TRY(check_options(options, rank->over < OVER_CASES));
    return budget != NULL ? budget_read(budget, &rank->budget) : TAPML_OK;
}

static tapml_status read_cases(struct rank_command *rank)
{
    int by = RANKING_FAILURES;

    if (options_get(&rank->options, "--config") == NULL) {
        return status_fail(TAPML_INVALID, "no run: give --config FILE, or see --help");
    }
    TAPML_TRY(options_word(&rank->options, "--by", RANKING_BY, &by));
    rank->by = (enum ranking_by)by;
    return shard_take(&rank->options, &rank->shard);
}

// -- The run -----------------------------------------------------------------------------------

// Takes the folder and opens the store there.
static tapml_status open_at(struct rank_command *rank, const char *dir)
{
    char *path = file_join(dir, "run.tapmlrun");

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = run_lock_take(dir, &rank->lock);

    if (status == TAPML_OK) {
        status = store_open(path, rank->shard.count > 0, &rank->store);
    }
    alloc_free(path);
    return status;
}

// The store of a shard, with its part of the cases at `path`.
static tapml_status open_share(struct rank_command *rank, const char *path)
{
    const char *into = options_get(&rank->options, "--into");
    const char *dir =
        shard_cases_folder(&rank->shard, into != NULL ? into : rank->config.dir, rank->setup.arena);
    char sentence[SHARD_CASES_TEXT];

    if (dir == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(file_make_folder(dir));
    rank->config.dir = dir;
    TAPML_TRY(open_at(rank, dir));
    TAPML_TRY(shard_cases_take(&rank->shard, path, NULL, rank->store, &rank->shard_cases));
    shard_cases_print(&rank->shard_cases, sentence);
    log_say("%s", sentence);
    return TAPML_OK;
}

static tapml_status open_store(struct rank_command *rank)
{
    const char *dir = rank->config.dir;
    struct carved_counts counts;
    char *path = file_join(dir, "run.tapmlrun");

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = !file_exists(path)
                              ? status_fail(TAPML_PRECONDITION,
                                            "'%s' has no run yet, so there are no cases to rank "
                                            "by: start it with `tapml-host --config %s`",
                                            dir, options_get(&rank->options, "--config"))
                          : rank->shard.count > 0 ? open_share(rank, path)
                                                  : open_at(rank, dir);

    alloc_free(path);
    TAPML_TRY(status);
    TAPML_TRY(carved_count(rank->store, &counts));
    return counts.cases > 0 || rank->shard.count > 0
               ? TAPML_OK
               : status_fail(TAPML_PRECONDITION, "the run in '%s' has no cases yet", dir);
}

static int is_asked_for(const struct rank_command *rank, const char *name)
{
    const char *given = options_at(&rank->options, "--target", 0);

    for (size_t i = 1; given != NULL && strcmp(given, name) != 0; i++) {
        given = options_at(&rank->options, "--target", i);
    }
    return given != NULL || options_get(&rank->options, "--target") == NULL;
}

static tapml_status check_names(const struct rank_command *rank)
{
    struct place_settings settings;
    const char *name;

    if (rank->config.target_count == 0) {
        return status_fail(TAPML_INVALID, "'%s' has no target",
                           options_get(&rank->options, "--config"));
    }
    for (size_t i = 0; (name = options_at(&rank->options, "--target", i)) != NULL; i++) {
        TAPML_TRY(run_config_find_target(&rank->config, name, &settings));
    }
    return TAPML_OK;
}

// A target without whose device nothing can be said of it.
static tapml_status open_target(struct rank_command *rank, const struct place_settings *settings)
{
    struct place *place = NULL;

    TAPML_TRY(survey_check(rank->setup.program, rank->setup.registry, &settings->isolation,
                           settings->backend));
    TAPML_TRY(setup_add_place(&rank->setup, settings, &place));
    TAPML_TRY(setup_open_place(&rank->setup, place));
    rank->targets[rank->target_count++] = place;
    return TAPML_OK;
}

static tapml_status
check_driver(struct rank_command *rank, const struct place *place, int *out_is_wrong)
{
    unsigned bundles = 0;
    struct text arguments;

    text_init(&arguments);
    follow_up_print_given(&rank->setup, &arguments);
    tapml_status status = text_status(&arguments);

    if (status == TAPML_OK) {
        status =
            driver_checks_make(&(struct driver_checks_options){.store = rank->store,
                                                               .registry = rank->setup.registry,
                                                               .place = place,
                                                               .dir = rank->config.dir,
                                                               .config = rank->config.path,
                                                               .arguments = arguments.data,
                                                               .io_bundles = &bundles},
                               DRIVER_CHECKS_BEGIN, out_is_wrong);
    }
    text_release(&arguments);
    return status;
}

// Of a shard: which case is the first of its class does not depend on who has it.
static tapml_status settle_limits(const struct rank_command *rank, const struct place *place)
{
    return rank->shard_cases.whole == NULL
               ? TAPML_OK
               : first_limits_settle(&(struct verdict_options){.registry = rank->setup.registry,
                                                               .store = rank->store,
                                                               .target = place->settings.name,
                                                               .backend = place->backend,
                                                               .checkpoint = rank->checkpoint},
                                     rank->shard_cases.whole);
}

// Cases say something of ops only over a driver that passes.
static tapml_status settle_target(struct rank_command *rank, const struct place *place)
{
    int is_wrong = 0;

    TAPML_TRY(target_metadata_settle_cases(&(struct run_judge_options){.setup = &rank->setup,
                                                                       .config = &rank->config,
                                                                       .store = rank->store},
                                           place));
    TAPML_TRY(check_driver(rank, place, &is_wrong));
    return is_wrong ? status_fail(TAPML_UNAVAILABLE,
                                  "the driver of '%s' fails its own check, so its cases say "
                                  "nothing: see `tapml-host status %s`",
                                  place->settings.name, rank->config.dir)
                    : settle_limits(rank, place);
}

static tapml_status open_targets(struct rank_command *rank)
{
    TAPML_TRY(run_metadata_settle_targets(rank->store, &rank->config));
    for (size_t i = 0; i < rank->config.target_count; i++) {
        const struct place_settings *settings = &rank->config.targets[i];

        if (!is_asked_for(rank, settings->name)) {
            continue;
        }
        tapml_status status = open_target(rank, settings);

        if (status == TAPML_OK) {
            status = settle_target(rank, rank->targets[rank->target_count - 1]);
        }
        if (status != TAPML_OK) {
            return status_explain(status, "target '%s'", settings->name);
        }
    }
    return TAPML_OK;
}

static tapml_status show(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

static tapml_status make(struct rank_command *rank)
{
    progress_begin(&rank->progress, "rank", options_get(&rank->options, "--json") != NULL);
    rank->progress.unit = "cases";
    rank->progress.lock = rank->lock;
    TAPML_TRY(ranking_make(
        &(struct ranking_options){.registry = rank->setup.registry,
                                  .store = rank->store,
                                  .checkpoint = rank->checkpoint,
                                  .refuted = &rank->refuted,
                                  .targets = rank->targets,
                                  .target_count = rank->target_count,
                                  .over = (enum ranking_over)rank->over,
                                  .by = rank->by,
                                  .method = rank->method,
                                  .budget = rank->budget,
                                  .explains = options_get(&rank->options, "--explain") != NULL,
                                  .progress = show,
                                  .user = &rank->progress},
        rank->arena, &rank->ranking));
    progress_end(&rank->progress, "%zu cases, %zu of them now", rank->ranking.contest.race.spent,
                 rank->ranking.contest.spent.runs);
    return TAPML_OK;
}

// -- Printing ----------------------------------------------------------------------------------

enum { VALUE_TEXT = 32 };

static const struct rank_words words = {"cases", "replayed", "replays"};

static void print_value(enum ranking_by by, double value, char out[VALUE_TEXT])
{
    if (isnan(value)) {
        (void)snprintf(out, VALUE_TEXT, "-");
    } else if (by == RANKING_FAILURES) {
        (void)snprintf(out, VALUE_TEXT, "%.1f %%", 100 * value);
    } else if (by == RANKING_TIME) {
        (void)snprintf(out, VALUE_TEXT, "%.1f us", value / 1000);
    } else {
        (void)snprintf(out, VALUE_TEXT, "%.3g", value);
    }
}

static void print_arm(const struct rank_command *rank, size_t index, struct text *out)
{
    const struct ranking_arm *arm = &rank->ranking.arms[index];
    char value[VALUE_TEXT], spread[VALUE_TEXT];

    print_value(rank->by, race_value(arm->race), value);
    print_value(rank->by, race_spread(&rank->ranking.contest.race, arm->race), spread);
    text_format(out, "%-32s %9s +- %-9s %7zu of %-7zu %6zu %11zu\n", arm->name, value, spread,
                arm->race->taken, arm->race->count, arm->failed, arm->unsupported);
}

static tapml_status print_text(const struct rank_command *rank)
{
    static const char *const headings[] = {"failures", "margin", "time"};
    static const char *const arms[] = {"operator", "target", "backend"};
    const struct contest *contest = &rank->ranking.contest;
    struct text text;
    char end[RANK_OUTPUT_END];

    text_init(&text);
    text_format(&text, "%-32s %9s %12s %7s %10s %6s %11s\n", arms[rank->over], headings[rank->by],
                "", "cases", "", "wrong", "unsupported");
    for (size_t i = 0; i < contest->race.arm_count; i++) {
        print_arm(rank, contest->order[i], &text);
    }
    rank_output_end(contest, &words, end);
    text_format(&text, "\n%s\n", end);
    if (options_get(&rank->options, "--explain") != NULL) {
        rank_output_cost(contest, &words, &text);
    }
    return text_print(&text);
}

static void append_arm(const struct rank_command *rank, size_t index, struct text *out)
{
    const struct ranking_arm *arm = &rank->ranking.arms[index];

    text_append(out, "{\"name\": ");
    text_append_json(out, arm->name);
    rank_output_number("value", race_value(arm->race), out);
    rank_output_number("spread", race_spread(&rank->ranking.contest.race, arm->race), out);
    text_format(out,
                ", \"cases\": %zu, \"taken\": %zu, \"judged\": %zu, \"failed\": %zu, "
                "\"unsupported\": %zu, \"last_round\": %zu}",
                arm->race->count, arm->race->taken, arm->race->judged, arm->failed,
                arm->unsupported, arm->race->last_round);
}

static tapml_status print_json(const struct rank_command *rank)
{
    const struct contest *contest = &rank->ranking.contest;
    struct text text;

    text_init(&text);
    text_append(&text, "{");
    rank_output_json(contest, &words, &text);
    text_append(&text, ", \"ranking\": [");
    for (size_t i = 0; i < contest->race.arm_count; i++) {
        text_append(&text, i > 0 ? ",\n" : "\n");
        append_arm(rank, contest->order[i], &text);
    }
    text_append(&text, "]}\n");
    return text_print(&text);
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status rank_cases(const struct command *command, struct rank_command *rank)
{
    const struct options *options = &rank->options;

    TAPML_TRY(read_cases(rank));
    TAPML_TRY(run_file_load(options_get(options, "--config"), &rank->config));
    TAPML_TRY(check_names(rank));
    TAPML_TRY(setup_open(command->program, options, &rank->config.ini, &rank->setup));
    TAPML_TRY(open_store(rank));
    interrupt_watch();
    TAPML_TRY(case_weights_open(&rank->setup, rank->store, options_get(options, "--model"),
                                &rank->checkpoint));
    if (rank->config.store != NULL) {
        TAPML_TRY(store_source_check(rank->store, &rank->setup, rank->checkpoint, rank->lock,
                                     &rank->refuted));
    }
    TAPML_TRY(open_targets(rank));
    rank->arena = arena_create();
    if (rank->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(make(rank));
    return options_get(options, "--json") != NULL ? print_json(rank) : print_text(rank);
}

static tapml_status run(const struct command *command, struct rank_command *rank)
{
    TAPML_TRY(read_options(rank));
    if (rank->over < OVER_CASES) {
        return rank_cases(command, rank);
    }
    return rank_contenders_run(
        &(struct rank_contenders){.command = command,
                                  .options = &rank->options,
                                  .over = (enum contender_over)(rank->over - OVER_CASES),
                                  .method = rank->method,
                                  .budget = rank->budget});
}

enum outcome command_rank_main(const struct command *command)
{
    struct rank_command rank = {.lock = NULL};
    tapml_status status = options_parse(specs, command->argc, command->argv, &rank.options);

    if (status == TAPML_OK && options_get(&rank.options, "--help") != NULL) {
        return outcome_report(options_help(&command_rank_manual));
    }
    if (status == TAPML_OK) {
        status = run(command, &rank);
    }
    const enum outcome outcome = outcome_report(status);

    if (rank.lock != NULL) {
        run_lock_end(rank.lock, (int)outcome, status == TAPML_OK ? "" : status_message());
    }
    verdict_list_release(&rank.refuted);
    shard_cases_release(&rank.shard_cases);
    setup_close(&rank.setup);
    checkpoint_close(rank.checkpoint);
    store_close(rank.store);
    run_lock_release(rank.lock);
    arena_destroy(rank.arena);
    run_config_release(&rank.config);
    return outcome;
}
