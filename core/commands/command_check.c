// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "config/run_file.h"
#include "config/survey.h"
#include "model/prompts.h"
#include "plugin/search.h"
#include "run/observers.h"
#include "run/policies.h"
#include "run/prompt_inputs.h"
#include "run/setup.h"
#include "run/target_pool.h"
#include "store/carved.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/comparers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct options_spec specs[] = {
    {"--check-config", "FILE", "the INI file of a run"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_check_manual = {
    .usage = "tapml-host --check-config FILE",
    .about = "Reports all errors of the INI file of a run, without running it.",
    .specs = specs,
};

struct check {
    struct run_config config;
    struct setup setup;
    struct prompts prompts;
    struct problems problems;
    size_t lacking;              // Of these, what is wrong with this machine and not with the file.
    int is_source_asked;         // Its backend can be opened:
    struct survey source;        // what it has.
    int has_model;               // With its tokenizer.
    struct carved_counts carved; // Of a run over cases.
};

// -- What the keys name ------------------------------------------------------------------------

// What a worker finds of a backend: that its driver and its device are there, and can be opened.
// Nothing is asked on another machine, and where that opens more, such as a browser.
static tapml_status ask_backend(struct check *check,
                                const struct place_settings *place,
                                int *out_is_asked,
                                struct survey *out_survey)
{
    const struct setup *setup = &check->setup;
    struct registry_location location;

    *out_is_asked = 0;
    if (place->backend == NULL || place_isolation_is_far(&place->isolation)) {
        return TAPML_OK;
    }
    // A name that leads nowhere is a mistake in the file, with more words.
    TAPML_TRY(survey_check(setup->program, setup->registry, &place->isolation, place->backend));
    TAPML_TRY(registry_locate(setup->registry, place->backend, &location));
    if (location.is_asked_late) {
        return TAPML_OK;
    }
    TAPML_TRY(survey_component(setup->program, &location,
                               &(struct survey_question){.device = location.device}, setup->arena,
                               out_survey));
    TAPML_TRY(survey_status(out_survey, &location));
    *out_is_asked = 1;
    return TAPML_OK;
}

// Returns whether a worker has opened the backend, and `*out_survey` is what it has.
static int check_backend(struct check *check,
                         const char *section,
                         const struct place_settings *place,
                         struct survey *out_survey)
{
    int is_asked = 0;
    const tapml_status status = ask_backend(check, place, &is_asked, out_survey);

    if (status != TAPML_OK) {
        check->lacking += outcome_of(status) == OUTCOME_ENVIRONMENT;
        problems_refuse(&check->problems, &check->config.ini, section, "backend", "%s",
                        status_message());
    }
    return is_asked;
}

static void check_observers(struct check *check, const char *section, const char *names)
{
    struct text text;

    text_init(&text);
    if (observers_print(check->setup.registry, names, 0, &text) != TAPML_OK) {
        problems_refuse(&check->problems, &check->config.ini, section, "observers", "%s",
                        status_message());
    }
    text_release(&text);
}

// Whether an earlier node of the graph calls the same op.
static int is_repeated(const struct graph *graph, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (graph->ops[i].op == graph->ops[index].op) {
            return 1;
        }
    }
    return 0;
}

// The source has all ops of the model.
static void check_source(struct check *check)
{
    const int is_known = check->is_source_asked && check->setup.model != NULL;
    const struct graph *graph = is_known ? model_graph(check->setup.model) : NULL;

    for (uint32_t i = 0; is_known && i < graph->op_count; i++) {
        const struct graph_op *op = &graph->ops[i];

        if (!is_repeated(graph, i) &&
            !survey_computes_op(&check->source, registry_catalogue(check->setup.registry),
                                op->op)) {
            problems_refuse(&check->problems, &check->config.ini, "source", "backend",
                            "'%s' has no op '%s', which the model calls at '%s'",
                            check->config.source.backend, op->op->name, op->instance);
        }
    }
}

static void check_backends(struct check *check)
{
    struct survey survey;

    check->is_source_asked = check_backend(check, "source", &check->config.source, &check->source);
    check_observers(check, "source", check->config.source.observers);
    for (size_t i = 0; i < check->config.target_count; i++) {
        char section[64];

        (void)snprintf(section, sizeof(section), "target.%s", check->config.targets[i].name);
        (void)check_backend(check, section, &check->config.targets[i], &survey);
        check_observers(check, section, check->config.targets[i].observers);
        problems_take(&check->problems, target_pool_check(&check->config, i));
    }
}

// What is named is opened by a worker, so that what its manifest does not show is found, too.
static void check_named(struct check *check)
{
    const struct setup *setup = &check->setup;

    for (size_t i = 0; i < registry_count(setup->registry); i++) {
        const struct registry_location location = registry_location_at(setup->registry, i);
        struct survey survey;

        if (location.tier == SEARCH_TIER_NAMED && !location.is_asked_late) {
            const tapml_status status = // What is found is the state of the entry.
                survey_entry(setup->program, setup->registry, i, &(struct survey_question){0},
                             setup->arena, &survey);

            problems_take(&check->problems, status == TAPML_NO_MEMORY ? status : TAPML_OK);
        }
        const char *sentence = registry_at(setup->registry, i)->sentence;

        // What its place was refused for is not said again.
        if (*sentence == '\0' || strstr(check->problems.text.data, sentence) == NULL) {
            problems_take(&check->problems, registry_check_named(setup->registry, i));
        }
    }
}

static void check_comparers(struct check *check)
{
    struct comparers *comparers = NULL;

    if (comparers_create(check->setup.registry, check->config.comparers, &comparers) != TAPML_OK) {
        problems_refuse(&check->problems, &check->config.ini, "run", "comparers", "%s",
                        status_message());
    }
    comparers_destroy(comparers);
}

static void check_options(struct check *check)
{
    const struct ini *ini = &check->config.ini;

    for (size_t i = 0; i < ini->count; i++) {
        problems_take(&check->problems,
                      registry_check_option(check->setup.registry, &ini->entries[i]));
    }
}

// The folder itself, or the nearest one around it that is there. NULL without memory.
static char *find_folder(const char *dir)
{
    char *folder = alloc_text(dir);

    while (folder != NULL && !file_is_folder(folder)) {
        char *around = file_folder(folder);

        alloc_free(folder);
        folder = around;
    }
    return folder;
}

static void check_dir(struct check *check)
{
    const char *dir = check->config.dir;

    if (dir == NULL) {
        return;
    }
    if (file_exists(dir) && !file_is_folder(dir)) {
        problems_refuse(&check->problems, &check->config.ini, "run", "dir",
                        "expected a folder or no file, found a file '%s'", dir);
        return;
    }
    char *folder = find_folder(dir);

    if (folder == NULL) {
        problems_take(&check->problems, status_no_memory());
    } else if (access(folder, W_OK | X_OK) != 0) {
        problems_refuse(&check->problems, &check->config.ini, "run", "dir",
                        "'%s' cannot be written in: %s", folder, strerror(errno));
    }
    alloc_free(folder);
}

// Without a tokenizer the tokens are not known; that the file can be read is known all the same.
static void check_prompts(struct check *check)
{
    const struct run_config *config = &check->config;
    const struct model_options model = run_config_model(config);
    struct file_map map = {.data = NULL};
    tapml_status status = TAPML_OK;

    if (config->prompts == NULL) {
        return;
    }
    if (check->has_model) {
        status =
            prompts_load(config->prompts,
                         &(struct prompts_options){.tokenizer = check->setup.tokenizer,
                                                   .no_text = check->setup.no_text,
                                                   .folder = config->model,
                                                   .vocabulary = setup_vocabulary(&check->setup),
                                                   .length_max = run_config_room(config)},
                         &check->prompts);
        if (status == TAPML_OK) {
            status = prompt_inputs_read(
                &(struct prompt_inputs_options){.registry = check->setup.registry,
                                                .model = check->setup.model,
                                                .opening = &model,
                                                .path = config->prompts,
                                                .length_max = run_config_room(config)},
                &check->prompts);
        }
    } else {
        status = file_map(config->prompts, &map);
        file_unmap(&map);
    }
    if (status != TAPML_OK) {
        problems_refuse(&check->problems, &config->ini, "run", "prompts", "%s", status_message());
    }
}

static void check_model(struct check *check)
{
    struct run_config *config = &check->config;

    if (config->model == NULL || config->store != NULL) {
        return;
    }
    if (run_config_find_encoding(config) != TAPML_OK) {
        problems_refuse(&check->problems, &config->ini, "model", "weights", "%s", status_message());
    }
    if (setup_find_model(&check->setup, config->model, &config->model) == TAPML_OK) {
        const struct model_options options = run_config_model(config);

        check->has_model = setup_model(&check->setup, &options) == TAPML_OK;
    }
    if (check->has_model && setup_check_decode(&check->setup, config->decode) != TAPML_OK) {
        problems_refuse(&check->problems, &config->ini, "run", "decode", "%s", status_message());
    }
    if (!check->has_model) {
        problems_refuse(&check->problems, &config->ini, "model", "path", "%s", status_message());
    }
}

// The store of a run over cases, with what it has.
static void check_store(struct check *check)
{
    struct store *store = NULL;
    tapml_status status = TAPML_OK;

    if (check->config.store != NULL) {
        status = store_open_to_read(check->config.store, &store);
    }
    if (store != NULL) {
        status = carved_count(store, &check->carved);
    }
    store_close(store);
    if (status != TAPML_OK) {
        problems_refuse(&check->problems, &check->config.ini, "source", "store", "%s",
                        status_message());
    }
}

// -- The command -------------------------------------------------------------------------------

static tapml_status
check_all(struct check *check, const char *program, const struct options *options)
{
    TAPML_TRY(
        run_file_survey(options_get(options, "--check-config"), &check->problems, &check->config));
    const int is_read = check->problems.count == 0;
    const tapml_status status =
        setup_open_check(program, options, &check->config.ini, &check->setup);

    check_dir(check);
    problems_take(&check->problems, status);
    if (status == TAPML_OK) {
        check_options(check);
        check_backends(check);
        check_comparers(check);
        policies_check(check->setup.registry, &check->config, &check->problems);
        check_model(check);
        check_source(check);
        check_named(check);
    }
    check_prompts(check);
    check_store(check);
    if (is_read && check->setup.model != NULL) {
        run_config_match(&check->config, model_graph(check->setup.model), &check->problems);
    }
    return text_status(&check->problems.text);
}

static void print_model(const struct check *check)
{
    const struct run_config *config = &check->config;
    struct text account;
    size_t longest = 0;

    text_init(&account);
    model_account(check->setup.model, &account);
    for (size_t i = 0; i < check->prompts.count; i++) {
        const size_t count = check->prompts.items[i].count;

        longest = count > longest ? count : longest;
    }
    setup_warn_no_text(&check->setup); // All prompts are of ids.
    (void)printf("  model    %s: architecture '%s', %u operators\n"
                 "  config   %s\n"
                 "  prompts  %s: %zu, the longest of %zu tokens; there is room for %zu\n"
                 "  source   %s\n",
                 config->model, model_architecture(check->setup.model),
                 model_graph(check->setup.model)->op_count, account.data, config->prompts,
                 check->prompts.count, longest, run_config_room(config), config->source.backend);
    text_release(&account);
}

static void print_good(const struct check *check)
{
    const struct run_config *config = &check->config;

    (void)printf("%s: no problem found\n", config->path);
    if (config->store != NULL) {
        (void)printf("  source   %s: %" PRIu64 " cases of %" PRIu64 " instances\n", config->store,
                     check->carved.cases, check->carved.instances);
    } else {
        print_model(check);
    }
    for (size_t i = 0; i < config->target_count; i++) {
        (void)printf("  target   %s: %s\n", config->targets[i].name, config->targets[i].backend);
    }
    if (config->target_count == 0) {
        (void)puts("  target   none: the run only carves cases");
    }
}

static void check_release(struct check *check)
{
    prompts_release(&check->prompts);
    setup_close(&check->setup);
    run_config_release(&check->config);
    problems_release(&check->problems);
}

enum outcome command_check_main(const struct command *command)
{
    struct options options;
    struct check check = {.config = {.path = NULL}};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK) {
        status = options_no_plain(&options);
    }
    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_check_manual));
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    problems_init(&check.problems);
    status = check_all(&check, command->program, &options);
    enum outcome outcome = outcome_report(status);

    if (status == TAPML_OK && check.problems.count > 0) {
        (void)fputs(check.problems.text.data, stdout);
        outcome = check.problems.count > check.lacking ? OUTCOME_USAGE : OUTCOME_ENVIRONMENT;
    } else if (status == TAPML_OK) {
        print_good(&check);
    }
    check_release(&check);
    return outcome;
}
