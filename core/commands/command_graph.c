// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/text.h"
#include "graph/print.h"
#include "run/setup.h"

#include <string.h>

static const struct options_spec specs[] = {
    {"--model", "DIR", "the model's folder; without weights config.json is enough"},
    {"--format", "F", "text (default), a line for each op, or dot, for Graphviz"},
    {"--without-weights", NULL, "from the config alone: expected names and shapes"},
    SETUP_MODEL_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

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
    struct model_options model = {
        .folder = folder, .without_weights = options_get(options, "--without-weights") != NULL};

    TAPML_TRY(setup_read_model(options, &model));
    TAPML_TRY(model_open(setup->registry, &model, &setup->model));
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
        options_help("graph --model DIR [--format text|dot] [--without-weights]",
                     "Prints a model's graph: every op with names, types and shapes.\n", specs);
        return OUTCOME_OK;
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
