// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "commands/keys_tuning.h"
#include "config/run_file.h"
#include "config/survey.h"
#include "config/user_cache.h"
#include "model/checkpoint.h"
#include "run/case_weights.h"
#include "run/interrupt.h"
#include "run/progress.h"
#include "run/setup.h"
#include "run/tuning.h"
#include "store/store.h"
#include "store/store_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS_DEFAULT = 32, TRIALS_MAX = 4096 };

static const struct options_spec specs[] = {
    {"--config", "FILE", "the INI file of a run that has cases; its target is tuned"},
    {"--target", "NAME", "of the file's targets, if it has several"},
    {"--backend", "B", "of a folder or a store: what is tuned, COMPONENT or COMPONENT:DEVICE"},
    {"--keys", NULL, "keys of the file that change a run's time alone, in place of kernels"},
    {"--into", "FILE", "with --keys: writes the file with the values that have won"},
    {"--op", "NAME", "an operator alone; by default all that the device has choices for"},
    {"--trials", "N",
     "settings that are known of each class of shapes in the end, what the device chooses by "
     "itself "
     "and those of earlier starts among them; 32 by default"},
    {"--by", "random|predictor|transferred",
     "what chooses them: at random; a predictor of their times; the same, beginning with what is "
     "known of other classes and devices (default)"},
    {"--seed", "N", "another one is another random choice; 1 by default"},
    {"--model", "PATH", "the weights' folder; by default those of the run"},
    {"--explain", NULL, "prints each trial"},
    {"--json", NULL, "prints the result as JSON"},
    SETUP_ISOLATION_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_tune_manual = {
    .usage = "tapml-host tune --config FILE [--target NAME] [--op NAME] [--trials N]\n"
             "tapml-host tune DIR --backend B [--op NAME] [--trials N]\n"
             "tapml-host tune --keys --config FILE [--trials N] [--into FILE]",
    .about = "Finds faster settings of a device's kernels, on the kept cases of a run. A setting "
             "counts only if these cases pass, and those that are derived from them. What was "
             "tried is kept in the user's cache, for this device, driver and build: the next start "
             "goes on where this one ended, and later runs use what has won. With --keys it is "
             "whole runs that are tried, by other values of keys that change nothing but the time.",
    .specs = specs,
};

struct tune_command {
    struct options options;
    struct run_config config;
    struct place_settings target;
    struct setup setup;
    struct store *store;
    struct checkpoint *checkpoint;
    struct arena *arena;
    struct progress progress;
    struct tuning tuning;
    struct keys_tuning keys; // With --keys, in place of `tuning`.
    int chooser;
    int64_t trials, seed;
};

// -- What is asked for -------------------------------------------------------------------------

// Whole runs are by what the file says.
static tapml_status check_keys(const struct options *options, int has_config)
{
    static const char *const others[] = {"--target", "--op",   "--model",  "--isolation",
                                         "--plugin", "--safe", "--threads"};
    const char *into = options_get(options, "--into");
    const int has_keys = options_get(options, "--keys") != NULL;

    if (!has_keys) {
        return into == NULL ? TAPML_OK : status_fail(TAPML_INVALID, "--into is for --keys");
    }
    if (!has_config) {
        return status_fail(TAPML_INVALID, "--keys needs --config FILE");
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (options_get(options, others[i]) != NULL) {
            return status_fail(TAPML_INVALID, "%s is not for --keys: runs are by the file alone",
                               others[i]);
        }
    }
    return into == NULL ? TAPML_OK
           : file_exists(into)
               ? status_fail(TAPML_INVALID, "--into: '%s' is there already; it is not written over",
                             into)
               : file_try_writing(into);
}

static tapml_status read_options(struct tune_command *tune)
{
    const struct options *options = &tune->options;

    tune->chooser = TUNER_TRANSFERRED;
    TAPML_TRY(options_word(options, "--by", TUNER_CHOOSERS, &tune->chooser));
    TAPML_TRY(options_i64(options, "--trials", TRIALS_DEFAULT, 1, TRIALS_MAX, &tune->trials));
    TAPML_TRY(options_i64(options, "--seed", 1, 0, INT64_MAX, &tune->seed));
    const int has_config = options_get(options, "--config") != NULL;

    if (has_config == (options->plain_count == 1) || options->plain_count > 1) {
        return status_fail(TAPML_INVALID,
                           "expected --config FILE, or one DIR with --backend; see --help");
    }
    TAPML_TRY(check_keys(options, has_config));
    return has_config == (options_get(options, "--backend") != NULL)
               ? status_fail(TAPML_INVALID, "--backend is for DIR, and needed there")
               : TAPML_OK;
}

static tapml_status find_target(struct tune_command *tune)
{
    const char *name = options_get(&tune->options, "--target");
    const char *path = options_get(&tune->options, "--config");

    if (name != NULL) {
        return run_config_find_target(&tune->config, name, &tune->target);
    }
    if (tune->config.target_count != 1) {
        return status_fail(TAPML_INVALID, "'%s' has %zu targets: --target says which one is tuned",
                           path, tune->config.target_count);
    }
    tune->target = tune->config.targets[0];
    return TAPML_OK;
}

// -- What it stands on -------------------------------------------------------------------------

static tapml_status open_store(struct tune_command *tune, const char *dir)
{
    char *path = file_is_folder(dir) ? file_join(dir, "run.tapmlrun") : alloc_text(dir);

    if (path == NULL) {
        return status_no_memory();
    }
    const tapml_status status =
        file_exists(path)
            ? store_open_to_read(path, &tune->store)
            : status_fail(TAPML_PRECONDITION,
                          "'%s' has no run yet, so there are no cases to tune by", dir);

    alloc_free(path);
    return status;
}

static tapml_status open_run(const struct command *command, struct tune_command *tune)
{
    TAPML_TRY(run_file_load(options_get(&tune->options, "--config"), &tune->config));
    TAPML_TRY(find_target(tune));
    TAPML_TRY(setup_open(command->program, &tune->options, &tune->config.ini, &tune->setup));
    return open_store(tune, tune->config.dir);
}

static tapml_status open_folder(const struct command *command, struct tune_command *tune)
{
    const char *backend = options_get(&tune->options, "--backend");

    TAPML_TRY(setup_open(command->program, &tune->options, NULL, &tune->setup));
    TAPML_TRY(setup_take_isolation(&tune->setup, &tune->options));
    tune->target = (struct place_settings){
        .name = "target", .backend = backend, .isolation = setup_isolation(&tune->setup, backend)};
    return open_store(tune, tune->options.plain[0]);
}

static tapml_status open_all(const struct command *command, struct tune_command *tune)
{
    TAPML_TRY(options_get(&tune->options, "--config") != NULL ? open_run(command, tune)
                                                              : open_folder(command, tune));
    TAPML_TRY(survey_check(tune->setup.program, tune->setup.registry, &tune->target.isolation,
                           tune->target.backend));
    return case_weights_open(&tune->setup, tune->store, options_get(&tune->options, "--model"),
                             &tune->checkpoint);
}

// -- The work ----------------------------------------------------------------------------------

static tapml_status show(void *user, size_t done, size_t all, const char *what, const char *outcome)
{
    struct tune_command *tune = user;

    if (options_get(&tune->options, "--explain") != NULL) {
        log_say("%s: %s", what, outcome);
    }
    return progress_show(&tune->progress, done, all);
}

static tapml_status make(struct tune_command *tune)
{
    progress_begin(&tune->progress, "tune", options_get(&tune->options, "--json") != NULL);
    tune->progress.unit = "trials";
    TAPML_TRY(tuning_run(&(struct tuning_options){.setup = &tune->setup,
                                                  .target = &tune->target,
                                                  .store = tune->store,
                                                  .checkpoint = tune->checkpoint,
                                                  .op = options_get(&tune->options, "--op"),
                                                  .chooser = (enum tuner_chooser)tune->chooser,
                                                  .trials = (size_t)tune->trials,
                                                  .seed = (uint64_t)tune->seed,
                                                  .progress = show,
                                                  .user = tune},
                         tune->arena, &tune->tuning));
    size_t now = 0;

    for (size_t i = 0; i < tune->tuning.count; i++) {
        now += tune->tuning.results[i].now;
    }
    progress_end(&tune->progress, "%zu classes, %zu trials now", tune->tuning.count, now);
    return TAPML_OK;
}

// -- Printing ----------------------------------------------------------------------------------

static const char *short_name(const char *op)
{
    static const char prefix[] = "tapml.";

    return strncmp(op, prefix, sizeof(prefix) - 1) == 0 ? op + sizeof(prefix) - 1 : op;
}

static void print_result(const struct tuning_result *result, struct text *out)
{
    text_format(out, "%-12s %-44s %5zu of %-6zu %5zu", short_name(result->op), result->shape_class,
                result->tried, result->legal, result->wrong);
    if (result->own_ns > 0) {
        text_format(out, " %11.1f", (double)result->own_ns / 1000);
    } else {
        text_format(out, " %11s", "wrong");
    }
    if (result->winner == NULL) {
        text_append(out, "           -\n");
        return;
    }
    text_format(out, " %11.1f", (double)result->best_ns / 1000);
    if (result->own_ns > 0) {
        text_format(out, " %.2f x", (double)result->own_ns / (double)result->best_ns);
    }
    text_format(out, "\n    %s\n", result->winner);
}

static tapml_status print_text(const struct tune_command *tune)
{
    const struct tuning *tuning = &tune->tuning;
    const char *path = user_cache_path("tuning.ini", tune->arena);
    size_t winners = 0;
    struct text text;

    text_init(&text);
    text_format(&text, "%s, device '%s', %s\n%-12s %-44s %5s    %-6s %5s %11s %11s\n",
                tuning->component, tuning->device,
                tuning->driver[0] != '\0' ? tuning->driver : "driver unknown", "operator", "class",
                "tried", "legal", "wrong", "auto us", "winner us");
    for (size_t i = 0; i < tuning->count; i++) {
        print_result(&tuning->results[i], &text);
        winners += tuning->results[i].winner != NULL;
        if (tuning->results[i].own_wrong != NULL) {
            text_format(&text, "    what the device chooses by itself is wrong: %s\n",
                        tuning->results[i].own_wrong);
        }
    }
    if (tuning->no_choices > 0) {
        text_format(&text, "%zu of %zu cases have nothing to choose\n", tuning->no_choices,
                    tuning->cases);
    }
    text_format(&text,
                "\n%zu of %zu classes have a winner, which later runs on this device use%s%s\n",
                winners, tuning->count, path != NULL ? ": " : "", path != NULL ? path : "");
    return text_print(&text);
}

static void append_member(struct text *out, const char *name, const char *value)
{
    text_format(out, ", \"%s\": ", name);
    text_append_json(out, value != NULL ? value : "");
}

static tapml_status print_json(const struct tune_command *tune)
{
    const struct tuning *tuning = &tune->tuning;
    struct text text;

    text_init(&text);
    text_append(&text, "{\"component\": ");
    text_append_json(&text, tuning->component);
    append_member(&text, "device", tuning->device);
    append_member(&text, "driver", tuning->driver);
    text_format(&text, ", \"cases\": %zu, \"no_choices\": %zu, \"classes\": [", tuning->cases,
                tuning->no_choices);
    for (size_t i = 0; i < tuning->count; i++) {
        const struct tuning_result *result = &tuning->results[i];

        text_append(&text, i > 0 ? ",\n{\"op\": " : "\n{\"op\": ");
        text_append_json(&text, result->op);
        append_member(&text, "class", result->shape_class);
        text_format(&text,
                    ", \"legal\": %zu, \"tried\": %zu, \"wrong\": %zu, \"now\": %zu, "
                    "\"auto_ns\": %" PRIu64 ", \"winner_ns\": %" PRIu64,
                    result->legal, result->tried, result->wrong, result->now, result->own_ns,
                    result->best_ns);
        append_member(&text, "auto", result->own);
        append_member(&text, "auto_wrong", result->own_wrong);
        append_member(&text, "winner", result->winner);
        text_append(&text, "}");
    }
    text_append(&text, "]}\n");
    return text_print(&text);
}

// -- Keys of the file --------------------------------------------------------------------------

static tapml_status print_keys(const struct tune_command *tune)
{
    static const double second_ns = 1e9;
    const struct tuning_result *result = &tune->keys.result;
    const char *into = options_get(&tune->options, "--into");
    struct text text;

    text_init(&text);
    text_format(&text, "%s: %zu of %zu combinations tried, %zu of them wrong\n%-9s %7.2f s  %s\n",
                tune->config.path, result->tried, result->legal, result->wrong, "as it is",
                (double)result->own_ns / second_ns, result->own);
    if (result->winner == NULL) {
        text_append(&text, "nothing else is faster by three percent\n");
    } else {
        text_format(&text, "%-9s %7.2f s  %s\n", "winner", (double)result->best_ns / second_ns,
                    result->winner);
    }
    if (into != NULL) {
        text_format(&text, result->winner != NULL ? "%s\n" : "'%s' is not written\n", into);
    }
    return text_print(&text);
}

static tapml_status tune_keys(const struct command *command, struct tune_command *tune)
{
    const char *into = options_get(&tune->options, "--into");
    const int is_json = options_get(&tune->options, "--json") != NULL;

    TAPML_TRY(run_file_load(options_get(&tune->options, "--config"), &tune->config));
    interrupt_watch();
    progress_begin(&tune->progress, "tune", is_json);
    tune->progress.unit = "trials";
    TAPML_TRY(
        keys_tuning_run(&(struct keys_tuning_options){.command = command,
                                                      .config = &tune->config,
                                                      .chooser = (enum tuner_chooser)tune->chooser,
                                                      .trials = (size_t)tune->trials,
                                                      .seed = (uint64_t)tune->seed,
                                                      .progress = show,
                                                      .user = tune},
                        tune->arena, &tune->keys));
    progress_end(&tune->progress, "%zu trials now", tune->keys.result.now);
    if (into != NULL && tune->keys.result.winner != NULL) {
        TAPML_TRY(keys_tuning_write(&tune->config, &tune->keys, into));
    }
    if (!is_json) {
        return print_keys(tune);
    }
    tune->tuning = (struct tuning){.results = &tune->keys.result,
                                   .count = 1,
                                   .component = "tapml-host",
                                   .device = "",
                                   .driver = TAPML_VERSION};
    return print_json(tune);
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status run(const struct command *command, struct tune_command *tune)
{
    TAPML_TRY(read_options(tune));
    tune->arena = arena_create();
    if (tune->arena == NULL) {
        return status_no_memory();
    }
    if (options_get(&tune->options, "--keys") != NULL) {
        return tune_keys(command, tune);
    }
    TAPML_TRY(open_all(command, tune));
    interrupt_watch();
    TAPML_TRY(make(tune));
    return options_get(&tune->options, "--json") != NULL ? print_json(tune) : print_text(tune);
}

enum outcome command_tune_main(const struct command *command)
{
    struct tune_command tune = {.store = NULL};
    tapml_status status = options_parse(specs, command->argc, command->argv, &tune.options);

    if (status == TAPML_OK && options_get(&tune.options, "--help") != NULL) {
        return outcome_report(options_help(&command_tune_manual));
    }
    if (status == TAPML_OK) {
        status = run(command, &tune);
    }
    const enum outcome outcome = outcome_report(status);

    setup_close(&tune.setup);
    checkpoint_close(tune.checkpoint);
    store_close(tune.store);
    arena_destroy(tune.arena);
    run_config_release(&tune.config);
    return outcome;
}
