// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/text.h"
#include "exec/sharding_plan.h"
#include "graph/print.h"
#include "graph/sharding_print.h"
#include "run/setup.h"

#include <string.h>

static const struct options_spec specs[] = {
    {"--model", "PATH", "the model's folder, a name or a GGUF file"},
    {"--format", "text|dot", "text (default): a line for each op; dot: for Graphviz"},
    {"--without-weights", NULL, "from the config alone: expected names and shapes"},
    SETUP_MODEL_OPTIONS,
    SETUP_SHARDING_OPTION,
    {"--shardings", NULL, "with --sharding: prints how each tensor is divided, and who says so"},
    {"--steps", NULL, "prints what a call does, step by step, under a plan"},
    {"--plan", "FILE", "the plan of --steps; all on the source where absent"},
    {"--source", "B", "the backend of the place 'source': COMPONENT or COMPONENT:DEVICE"},
    {"--target", "NAME=B", "the backend of another place of the plan; may be repeated"},
    {"--tokens", "N", "tokens of the call, 1 (decode) where absent"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_graph_manual = {
    .usage = "tapml-host graph --model PATH [--format text|dot] [--without-weights] "
             "[--steps [--plan FILE]]",
    .about = "Prints a model's graph: every op with names, types and shapes.",
    .specs = specs,
};

static tapml_status print_session(struct setup *setup, const struct plan *plan, int64_t tokens)
{
    struct session *session = NULL;
    struct text text;

    TAPML_TRY(session_create(&(struct session_options){.model = setup->model,
                                                       .places = setup->places,
                                                       .place_count = setup->place_count,
                                                       .plan = plan,
                                                       .capacity = tokens,
                                                       .chunk = tokens},
                             &session));
    text_init(&text);
    tapml_status status = session_print_steps(session, tokens, &text);

    if (status == TAPML_OK) {
        status = text_print(&text);
    } else {
        text_release(&text);
    }
    session_destroy(session);
    return status;
}

static tapml_status print_steps(struct setup *setup, const struct options *options)
{
    const char *source = options_get(options, "--source");
    const char *path = options_get(options, "--plan");
    struct plan *plan = NULL;
    int64_t tokens = 0;

    if (options_get(options, "--format") != NULL ||
        options_get(options, "--without-weights") != NULL) {
        return status_fail(TAPML_INVALID, "--steps has neither --format nor --without-weights");
    }
    TAPML_TRY(options_i64(options, "--tokens", 1, 1, 1 << 24, &tokens));
    if (source == NULL) {
        TAPML_TRY(setup_default_backend(setup, &source));
    }
    TAPML_TRY(setup_place(setup, "source", source));
    TAPML_TRY(setup_targets(setup, options));
    TAPML_TRY(path != NULL ? plan_load(path, &plan) : plan_create(&plan));
    tapml_status status = sharding_plan_add(setup->model, plan);

    if (status == TAPML_OK) {
        status = print_session(setup, plan, tokens);
    }

    plan_destroy(plan);
    return status;
}

// Options that only --steps reads.
static tapml_status check_has_no_places(const struct options *options)
{
    static const char *const names[] = {"--plan", "--source", "--target", "--tokens"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (options_get(options, names[i]) != NULL) {
            return status_fail(TAPML_INVALID, "%s is an option of --steps, which is missing",
                               names[i]);
        }
    }
    return TAPML_OK;
}

// The figures of a model, whose ops that are no parts run on the source.
static tapml_status count_sharding(const struct model *model, struct sharding_figures *out_figures)
{
    uint64_t copied = 0;
    const struct sharding *sharding = model_sharding(model, &copied);
    uint32_t home = 0;

    while (home < sharding->part_count && strcmp(sharding->places[home], "source") != 0) {
        home++;
    }
    return sharding_figures_count(sharding, model_graph(model),
                                  home < sharding->part_count ? home : GRAPH_NONE, out_figures);
}

// The same of a model whose annotations spread nowhere.
static tapml_status count_gathered(struct setup *setup,
                                   const struct model_options *given,
                                   struct sharding_figures *out_figures)
{
    struct model_options options = *given;
    struct sharding_options sharding = *given->sharding;
    struct model *model = NULL;

    sharding.spreads_nowhere = 1;
    options.sharding = &sharding;
    TAPML_TRY(model_open(setup->registry, &options, &model));
    const tapml_status status = count_sharding(model, out_figures);

    model_close(model);
    return status;
}

static tapml_status print_shardings(struct setup *setup, const struct model_options *model)
{
    struct sharding_figures figures, gathered;
    struct text text;
    uint64_t copied = 0;

    if (model->sharding == NULL) {
        return status_fail(TAPML_INVALID, "--shardings is of --sharding, which is not given");
    }
    TAPML_TRY(count_sharding(setup->model, &figures));
    TAPML_TRY(count_gathered(setup, model, &gathered));
    text_init(&text);
    sharding_print(model_sharding(setup->model, &copied), model_graph(setup->model), &figures,
                   &gathered, &text);
    return text_print(&text);
}

static tapml_status print(struct setup *setup, const struct options *options)
{
    const char *format = options_get(options, "--format");
    const char *folder = options_get(options, "--model");
    const int is_dot = format != NULL && strcmp(format, "dot") == 0;
    struct text text;

    if (folder == NULL) {
        return status_fail(TAPML_INVALID, "expected --model DIR, the model's folder");
    }
    if (format != NULL && !is_dot && strcmp(format, "text") != 0) {
        return status_fail(TAPML_INVALID, "--format is 'text' or 'dot', found '%s'", format);
    }
    if (options_get(options, "--steps") == NULL) {
        TAPML_TRY(check_has_no_places(options));
    }
    struct model_options model = {
        .folder = folder, .without_weights = options_get(options, "--without-weights") != NULL};

    TAPML_TRY(setup_read_model(setup, options, &model));
    TAPML_TRY(model_open(setup->registry, &model, &setup->model));
    if (options_get(options, "--steps") != NULL) {
        return print_steps(setup, options);
    }
    if (options_get(options, "--shardings") != NULL) {
        return print_shardings(setup, &model);
    }
    text_init(&text);
    if (is_dot) {
        print_dot(model_graph(setup->model), &text);
    } else {
        print_graph(model_graph(setup->model), &text);
    }
    return text_print(&text);
}

enum outcome command_graph_main(const struct command *command)
{
    struct options options;
    struct setup setup;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK) {
        status = options_no_plain(&options);
    }
    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_graph_manual));
    }
    if (status == TAPML_OK) {
        status = setup_open(command->program, &options, NULL, &setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    status = print(&setup, &options);
    setup_close(&setup);
    return outcome_report(status);
}
