// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "commands/plan_search_output.h"
#include "config/run_file.h"
#include "exec/plan.h"
#include "run/interrupt.h"
#include "run/progress.h"
#include "run/trial_store.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

// A fit takes the square of the trials in memory, and their cube in time.
enum { TRIALS = 30, TRIALS_MOST = 1000 };

static const double SLACK = 0.1, BOUND = 0.01, SLACK_MOST = 100;

static const struct options_spec specs[] = {
    {"--config", "FILE", "the INI file of the run; by default the run in the plan's folder"},
    {"--by", "latency|memory|precision",
     "latency (default): the least time of a token; memory: the fewest bytes away from the source, "
     "of plans almost as fast as the fastest; precision: the fewest operators that are not in "
     "reduced activations, of plans that diverge little enough"},
    {"--trials", "N", "plans that are measured at most, 30 by default"},
    {"--memory", "SIZE", "that each place but the source has for weights, states and the rest: 2G"},
    {"--slack", "NUMBER", "of memory: 0.1 (default) allows a tenth more time than the least"},
    {"--bound", "NUMBER", "of precision: the divergence from the source, 0.01 by default"},
    {"--builder", "ID", "a policy of a plugin that builds plans, too; may be given several times"},
    {"--out", "FILE", "writes the best plan, for --plan of other commands"},
    {"--store", "FILE", "where results of chunks stay, by default in the user's cache"},
    {"--explain", NULL, "prints where predicted times come from"},
    {"--json", NULL, "prints the result as JSON"},
    PLAN_GROUND_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_plan_manual = {
    .usage = "tapml-host plan search --config FILE [--by latency|memory|precision] [--trials N] "
             "[--memory SIZE] [--out FILE]\n"
             "tapml-host plan show FILE [--config FILE]\n"
             "tapml-host plan diff FILE FILE [--config FILE]",
    .about = "search finds the best plan of a run over its source and targets: it predicts what "
             "plans cost from the times of the run's cases, measures the most promising ones over "
             "a text, and keeps what was measured, so that the same search runs nothing. An "
             "operator leaves the source only where all of its cases have passed. The text is that "
             "of --text, by default the prompts of the run.\n"
             "show says in words what a plan comes to: which operators are where, what crosses, "
             "what a token is predicted to take, the memory of each place.\n"
             "diff says what moves from one plan to another, and what that costs.",
    .specs = specs,
};

struct plan_command {
    const struct command *command;
    struct options options;
    struct run_config config;
    struct plan_ground ground;
    struct store *store;
    struct progress progress;
};

static const char *given(const struct plan_command *plan, const char *option)
{
    return options_get(&plan->options, option);
}

// Refuses options that say nothing to an action.
static tapml_status check_options(const struct plan_command *plan, int is_search)
{
    static const char *const of_search[] = {"--by",    "--trials", "--memory",  "--slack",
                                            "--bound", "--store",  "--builder", "--out"};

    for (size_t i = 0; !is_search && i < sizeof(of_search) / sizeof(*of_search); i++) {
        if (given(plan, of_search[i]) != NULL) {
            return status_fail(TAPML_INVALID, "%s is for plan search", of_search[i]);
        }
    }
    return TAPML_OK;
}

// The folder is that of --config, or of a plan.
static tapml_status open_ground(struct plan_command *plan, const char *path)
{
    const char *config = given(plan, "--config");
    char *folder = NULL;

    if (config != NULL) {
        TAPML_TRY(run_file_load(config, &plan->config));
    }
    if (config == NULL && (folder = file_folder(path)) == NULL) {
        return status_no_memory();
    }
    const struct plan_ground_options options = {.program = plan->command->program,
                                                .given = &plan->options,
                                                .folder =
                                                    config != NULL ? plan->config.dir : folder,
                                                .text = path == NULL ? plan->config.prompts : NULL};
    const tapml_status status = plan_ground_open(&options, &plan->ground);

    alloc_free(folder);
    return status;
}

// -- Search ------------------------------------------------------------------------------------

static tapml_status
read_number(const struct plan_command *plan, const char *option, double most, double *io_value)
{
    const char *word = given(plan, option);

    if (word == NULL) {
        return TAPML_OK;
    }
    return text_parse_f64(word, io_value) == TAPML_OK && *io_value >= 0 && *io_value <= most
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s is '%s', expected a number from 0 to %g", option,
                             word, most);
}

static tapml_status read_search(const struct plan_command *plan,
                                struct plan_seeking_options *options)
{
    int objective = PLAN_LATENCY;
    int64_t trials = 0;

    if (given(plan, "--config") == NULL) {
        return status_fail(TAPML_INVALID, "no run: give --config FILE, or see --help");
    }
    TAPML_TRY(options_word(&plan->options, "--by", PLAN_OBJECTIVES, &objective));
    TAPML_TRY(options_i64(&plan->options, "--trials", TRIALS, 1, TRIALS_MOST, &trials));
    TAPML_TRY(options_bytes(&plan->options, "--memory", &options->memory_bytes));
    TAPML_TRY(read_number(plan, "--slack", SLACK_MOST, &options->slack));
    TAPML_TRY(read_number(plan, "--bound", SLACK_MOST, &options->bound));
    if (!(options->bound > 0)) {
        return status_fail(TAPML_INVALID, "--bound is '%s', expected a number above 0",
                           given(plan, "--bound"));
    }
    if (objective != PLAN_MEMORY && given(plan, "--slack") != NULL) {
        return status_fail(TAPML_INVALID, "--slack is for --by memory");
    }
    if (objective != PLAN_PRECISION && given(plan, "--bound") != NULL) {
        return status_fail(TAPML_INVALID, "--bound is for --by precision");
    }
    options->objective = (enum plan_objective)objective;
    options->trials = (size_t)trials;
    return TAPML_OK;
}

static tapml_status show_progress(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

static tapml_status write_plan(const struct plan_command *plan,
                               const struct plan_search_shown *shown)
{
    const char *path = given(plan, "--out");
    struct text text;

    if (path == NULL || shown->sought->search.best == NULL) {
        return TAPML_OK;
    }
    text_init(&text);
    tapml_status status = plan_search_output_plan(shown, &text);

    status = status == TAPML_OK ? file_write(path, text.data, text.length) : status;
    text_release(&text);
    return status;
}

static tapml_status print_search(struct plan_command *plan, const struct plan_sought *sought)
{
    struct plan_search_shown shown = {.ground = &plan->ground,
                                      .sought = sought,
                                      .text = options_get(&plan->ground.options, "--text")};
    struct text text;

    if (sought->search.best != NULL) {
        // What is said of a plan is its time, whatever was searched for.
        TAPML_TRY(plan_ground_measure_time(&plan->ground));
        TAPML_TRY(plan_output_find(&plan->ground, sought->search.best->places, &shown.best));
    }
    TAPML_TRY(write_plan(plan, &shown));
    text_init(&text);
    tapml_status status = TAPML_OK;

    if (given(plan, "--json") != NULL) {
        status = plan_search_output_json(&shown, &text);
    } else {
        plan_search_output_text(&shown, given(plan, "--explain") != NULL, &text);
    }
    if (status != TAPML_OK) {
        text_release(&text);
        return status;
    }
    return text_print(&text);
}

static tapml_status list_builders(struct plan_command *plan, struct plan_seeking_options *options)
{
    const size_t most = plan->options.given_count;
    const char **builders = arena_array(plan->ground.arena, most + 1, sizeof(*builders));
    const char *builder = NULL;

    if (builders == NULL) {
        return status_no_memory();
    }
    while ((builder = options_at(&plan->options, "--builder", options->builder_count)) != NULL) {
        builders[options->builder_count++] = builder;
    }
    options->builders = builders;
    return TAPML_OK;
}

static tapml_status search(struct plan_command *plan)
{
    struct plan_seeking_options options = {.ground = &plan->ground,
                                           .slack = SLACK,
                                           .bound = BOUND,
                                           .progress = show_progress,
                                           .user = &plan->progress};
    struct plan_sought sought;

    TAPML_TRY(check_options(plan, 1));
    TAPML_TRY(read_search(plan, &options));
    if (plan->options.plain_count > 1) {
        return status_fail(TAPML_INVALID, "plan search takes options alone, found '%s'",
                           plan->options.plain[1]);
    }
    if (given(plan, "--out") != NULL) {
        TAPML_TRY(file_try_writing(given(plan, "--out")));
    }
    TAPML_TRY(open_ground(plan, NULL));
    TAPML_TRY(list_builders(plan, &options));
    TAPML_TRY(trial_store_open(given(plan, "--store"), &plan->store));
    options.store = plan->store;
    interrupt_watch();
    progress_begin(&plan->progress, "plan search", given(plan, "--json") != NULL);
    plan->progress.unit = "plans";
    TAPML_TRY(plan_seeking_run(&options, &sought));
    progress_end(&plan->progress, "%zu plans, %zu chunks now", sought.search.measured_count,
                 sought.runs);
    return print_search(plan, &sought);
}

// -- Show and diff -----------------------------------------------------------------------------

static tapml_status
find_plan(struct plan_command *plan, const char *path, struct plan_shown *out_shown)
{
    uint8_t *places = arena_array(plan->ground.arena, (size_t)plan->ground.question.n_ops + 1, 1);
    struct plan *rules = NULL;

    if (places == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(plan_load(path, &rules));
    const tapml_status status = plan_ground_resolve(&plan->ground, rules, places);

    plan_destroy(rules);
    TAPML_TRY(status);
    return plan_output_find(&plan->ground, places, out_shown);
}

static tapml_status
open_plans(struct plan_command *plan, size_t count, const char *usage, struct plan_shown *out_shown)
{
    TAPML_TRY(check_options(plan, 0));
    if (plan->options.plain_count != count + 1) {
        return status_fail(TAPML_INVALID, "expected: %s", usage);
    }
    // They are read again below: a wrong file is told before the run's folder.
    for (size_t i = 0; i < count; i++) {
        struct plan *rules = NULL;
        const tapml_status status = plan_load(plan->options.plain[i + 1], &rules);

        plan_destroy(rules);
        TAPML_TRY(status);
    }
    TAPML_TRY(open_ground(plan, plan->options.plain[1]));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(find_plan(plan, plan->options.plain[i + 1], &out_shown[i]));
    }
    return TAPML_OK;
}

static tapml_status show(struct plan_command *plan)
{
    struct plan_shown shown;
    struct text text;

    TAPML_TRY(open_plans(plan, 1, "tapml-host plan show FILE", &shown));
    text_init(&text);
    if (given(plan, "--json") != NULL) {
        text_append(&text, "{");
        plan_output_json(&shown, &text);
        text_append(&text, "}\n");
    } else {
        plan_output_text(&shown, given(plan, "--explain") != NULL, &text);
    }
    return text_print(&text);
}

static tapml_status diff(struct plan_command *plan)
{
    struct plan_shown shown[2];
    struct text text;

    TAPML_TRY(open_plans(plan, 2, "tapml-host plan diff FILE FILE", shown));
    text_init(&text);
    if (given(plan, "--json") != NULL) {
        text_append(&text, "{");
        plan_output_diff_json(&shown[0], &shown[1], &text);
        text_append(&text, "}\n");
    } else {
        plan_output_diff_text(&shown[0], &shown[1], &text);
    }
    return text_print(&text);
}

static tapml_status do_action(struct plan_command *plan)
{
    static const struct {
        const char *name;
        tapml_status (*run)(struct plan_command *plan);
    } actions[] = {{"search", search}, {"show", show}, {"diff", diff}};
    const char *action = plan->options.plain_count > 0 ? plan->options.plain[0] : NULL;

    if (action == NULL) {
        return status_fail(TAPML_INVALID, "expected plan search, plan show or plan diff");
    }
    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
        if (strcmp(action, actions[i].name) == 0) {
            return actions[i].run(plan);
        }
    }
    return status_fail(TAPML_INVALID, "expected plan search, plan show or plan diff, found '%s'",
                       action);
}

enum outcome command_plan_main(const struct command *command)
{
    struct plan_command plan = {.command = command};
    tapml_status status = options_parse(specs, command->argc, command->argv, &plan.options);

    if (status == TAPML_OK && options_get(&plan.options, "--help") != NULL) {
        return outcome_report(options_help(&command_plan_manual));
    }
    if (status == TAPML_OK) {
        status = do_action(&plan);
    }
    const enum outcome outcome = outcome_report(status);

    store_close(plan.store);
    plan_ground_close(&plan.ground);
    run_config_release(&plan.config);
    return outcome;
}
