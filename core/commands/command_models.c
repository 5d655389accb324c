// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/json_file.h"
#include "config/model_list.h"
#include "config/model_path.h"
#include "run/model_survey.h"
#include "run/setup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--fits", "SIZE", "only models whose weights fit in so many bytes, and in which form: 8G"},
    {"--type", "TYPE", "only models of a type, such as qwen3"},
    {"--json", NULL, "prints JSON instead of a table"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_models_manual = {
    .usage = "tapml-host models [--fits SIZE] [--type TYPE] [--json] [NAME]",
    .about = "Lists the published models that are known by name, with the parameters and "
             "bytes that their graphs have at full size, or prints all that is known of "
             "one. States and activations need room beside weights.",
    .specs = specs,
};

// What is asked for.
struct models_asked {
    const char *name; // NULL: all.
    const char *type; // NULL: all.
    uint64_t fits;    // 0: all.
    int is_json;
};

struct model_listing {
    const struct command *command;
    struct setup setup;
    struct published *list;
    struct models_asked asked;
    size_t shown;
};

// One row of the table.
struct model_row {
    const struct published_model *model;
    const struct model_survey *survey;
    enum model_survey_form fits;
};

// -- What is asked for -------------------------------------------------------------------------

static tapml_status read_asked(const struct options *options, struct models_asked *asked)
{
    if (options->plain_count > 1) {
        return status_fail(TAPML_INVALID, "expected one name at most, found %zu",
                           options->plain_count);
    }
    *asked = (struct models_asked){.name = options->plain_count > 0 ? options->plain[0] : NULL,
                                   .type = options_get(options, "--type"),
                                   .is_json = options_get(options, "--json") != NULL};
    return options_bytes(options, "--fits", &asked->fits);
}

// -- Text --------------------------------------------------------------------------------------

static const char *or_unknown(const char *text)
{
    return text != NULL ? text : "-";
}

static void append_count(struct text *text, uint64_t count)
{
    const double number = (double)count;

    if (count == 0) {
        text_append(text, "-");
    } else if (count < 1000000000) {
        text_format(text, "%.0fM", ceil(number / 1e6));
    } else {
        text_format(text, number < 1e11 ? "%.2fB" : "%.0fB", number / 1e9);
    }
}

static void append_bytes(struct text *text, const struct model_survey *survey, int form)
{
    const double gibibytes = ldexp((double)survey->bytes[form], -30);

    if (survey->parameters == 0) {
        text_append(text, "-");
    } else {
        text_format(text, gibibytes < 1 ? "%.3fG" : gibibytes < 100 ? "%.1fG" : "%.0fG", gibibytes);
    }
}

// Appends blanks up to column `width` of what was appended since `begin`, and one more.
static void pad(struct text *text, size_t begin, size_t width)
{
    const size_t length = text->length - begin;

    text_format(text, "%*s", (int)(length < width ? width - length + 1 : 1), "");
}

static void append_state(struct text *text, const struct model_row *row)
{
    switch (row->survey->state) {
    case MODEL_SURVEY_OPENS:
        text_append(text, "opens");
        return;
    case MODEL_SURVEY_REFUSED:
        text_append(text, "refused");
        if (row->model->refused != NULL) {
            text_format(text, ": %s", row->model->refused);
        }
        return;
    case MODEL_SURVEY_NO_PLUGIN:
        text_append(text, "no plugin");
    }
}

static void
append_row(struct text *text, const struct models_asked *asked, const struct model_row *row)
{
    const struct published_model *model = row->model;
    size_t begin = 0;

    text_format(text, "%-36s %-16s ", model->name, model->type);
    begin = text->length;
    append_count(text, row->survey->parameters);
    pad(text, begin, 10);
    for (int form = 0; form < MODEL_SURVEY_FORMS; form++) {
        begin = text->length;
        append_bytes(text, row->survey, form);
        pad(text, begin, 7);
    }
    if (asked->fits > 0) {
        text_format(text, "%-5s ", model_survey_form_name(row->fits));
    }
    text_format(text, "%-13s %-22s ", or_unknown(model->tokenizer), or_unknown(model->licence));
    append_state(text, row);
    text_append(text, "\n");
}

static void append_head(struct text *text, const struct models_asked *asked)
{
    text_format(text, "%-36s %-16s %-10s %-7s %-7s %-7s %s%-13s %-22s %s\n", "name", "type",
                "parameters", "bf16", "q8_0", "q4_0", asked->fits > 0 ? "fits  " : "", "tokenizer",
                "licence", "state");
}

static void append_quirks(struct text *text, const struct published_model *model)
{
    for (size_t i = 0; i < model->quirk_count; i++) {
        text_format(text, "%s%s", i > 0 ? ", " : "", model->quirks[i]);
    }
    text_append(text, model->quirk_count > 0 ? "\n" : "-\n");
}

static void append_sizes(struct text *text, const struct model_row *row)
{
    text_append(text, "  parameters  ");
    if (row->survey->parameters > 0) {
        text_format(text, "%" PRIu64, row->survey->parameters);
    } else {
        text_append(text, "-");
    }
    if (row->model->parameters > 0) {
        text_format(text, " (its publisher counts %" PRId64 ")", row->model->parameters);
    }
    text_append(text, "\n  weights     ");
    for (int form = 0; form < MODEL_SURVEY_FORMS; form++) {
        text_format(text, "%s%s ", form > 0 ? ", " : "", model_survey_form_name(form));
        append_bytes(text, row->survey, form);
    }
    text_append(text, "\n");
}

// The folder in the hub's local cache, or why there is none.
static void
append_folder(struct text *text, const char *program, const struct published_model *model)
{
    char *folder = NULL;

    text_append(text, "  here        ");
    if (model->hub == NULL) {
        text_append(text, "-\n");
    } else if (model_path_find(program, model->hub, &folder) == TAPML_OK) {
        text_format(text, "%s\n", folder);
    } else {
        text_format(text, "no: %s\n", status_message());
    }
    alloc_free(folder);
}

static void
append_entry(struct text *text, const struct model_listing *listing, const struct model_row *row)
{
    const struct published_model *model = row->model;

    text_format(text, "%s\n  hub         %s\n", model->name, or_unknown(model->hub));
    append_folder(text, listing->command->program, model);
    text_format(text, "  type        %s\n  state       ", model->type);
    append_state(text, row);
    text_format(text, "%s%s\n", row->survey->sentence[0] != '\0' ? ": " : "",
                row->survey->sentence);
    append_sizes(text, row);
    text_format(text, "  tokenizer   %s\n  licence     %s\n  quirks      ",
                or_unknown(model->tokenizer), or_unknown(model->licence));
    append_quirks(text, model);
    text_format(text, "  source      %s%s%s: %s\n  list        %s\n", model->repository,
                model->commit != NULL ? " at " : "", model->commit != NULL ? model->commit : "",
                model->path, model->file);
    text_append(text, "  config      ");
    json_file_print(text, model->config, JSON_INDENT(1));
    text_append(text, "\n");
}

// -- JSON --------------------------------------------------------------------------------------

static void append_member(struct text *text, const char *name, const char *value)
{
    if (value != NULL) {
        text_format(text, ", \"%s\": ", name);
        text_append_json(text, value);
    }
}

static void append_json_sizes(struct text *text, const struct model_row *row)
{
    const struct model_survey *survey = row->survey;

    if (survey->parameters > 0) {
        text_format(text, ", \"parameters\": %" PRIu64 ", \"bytes\": {", survey->parameters);
        for (int form = 0; form < MODEL_SURVEY_FORMS; form++) {
            text_format(text, "%s\"%s\": %" PRIu64, form > 0 ? ", " : "",
                        model_survey_form_name(form), survey->bytes[form]);
        }
        text_append(text, "}");
    }
    if (row->model->parameters > 0) {
        text_format(text, ", \"stated_parameters\": %" PRId64, row->model->parameters);
    }
}

static void
append_json(struct text *text, const struct model_listing *listing, const struct model_row *row)
{
    static const char *const states[] = {"opens", "refused", "no plugin"};
    const struct published_model *model = row->model;

    text_append(text, listing->shown > 1 ? ",\n {\"name\": " : "\n {\"name\": ");
    text_append_json(text, model->name);
    append_member(text, "hub", model->hub);
    append_member(text, "type", model->type);
    append_member(text, "state", states[row->survey->state]);
    append_member(text, "refused", model->refused);
    append_member(text, "sentence", row->survey->sentence);
    append_member(text, "architecture", row->survey->architecture);
    append_json_sizes(text, row);
    if (listing->asked.fits > 0) {
        append_member(text, "fits", model_survey_form_name(row->fits));
    }
    append_member(text, "tokenizer", model->tokenizer);
    append_member(text, "licence", model->licence);
    text_append(text, ", \"quirks\": [");
    for (size_t i = 0; i < model->quirk_count; i++) {
        text_append(text, i > 0 ? ", " : "");
        text_append_json(text, model->quirks[i]);
    }
    text_append(text, "]");
    if (listing->asked.name != NULL) {
        text_append(text, ", \"config\": ");
        json_file_print(text, model->config, JSON_INDENT(1));
    }
    text_append(text, "}");
}

// -- The command -------------------------------------------------------------------------------

static void
append(struct text *text, const struct model_listing *listing, const struct model_row *row)
{
    if (listing->asked.is_json) {
        append_json(text, listing, row);
    } else if (listing->asked.name != NULL) {
        append_entry(text, listing, row);
    } else {
        append_row(text, &listing->asked, row);
    }
}

// A row is printed as soon as it is known: a graph takes its time.
static tapml_status show(struct model_listing *listing, const struct published_model *model)
{
    struct model_survey survey;
    struct text text;

    TAPML_TRY(model_survey_make(listing->setup.registry, model, listing->setup.arena, &survey));
    const struct model_row row = {
        .model = model,
        .survey = &survey,
        .fits =
            model_survey_fits(&survey, listing->asked.fits > 0 ? listing->asked.fits : UINT64_MAX)};

    if (listing->asked.fits > 0 && row.fits == MODEL_SURVEY_FORMS) {
        return TAPML_OK;
    }
    listing->shown++;
    text_init(&text);
    append(&text, listing, &row);
    return text_print(&text);
}

// Finds the model of the name that is asked for, or a model of the type.
static tapml_status check_asked(const struct model_listing *listing)
{
    const struct models_asked *asked = &listing->asked;
    const char *near = NULL;
    size_t i = 0;

    if (asked->name != NULL && published_find(listing->list, asked->name) == NULL) {
        near = published_nearest(listing->list, asked->name);
        return status_fail(TAPML_NOT_FOUND, "no published model has the name '%s'%s%s%s",
                           asked->name, near != NULL ? ", did you mean '" : "",
                           near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    while (asked->type != NULL && i < published_count(listing->list) &&
           strcmp(published_at(listing->list, i)->type, asked->type) != 0) {
        i++;
    }
    return i < published_count(listing->list) || asked->type == NULL
               ? TAPML_OK
               : status_fail(TAPML_NOT_FOUND, "no published model has the type '%s'", asked->type);
}

static int is_asked_for(const struct model_listing *listing, const struct published_model *model)
{
    const struct models_asked *asked = &listing->asked;

    return (asked->name == NULL || model == published_find(listing->list, asked->name)) &&
           (asked->type == NULL || strcmp(asked->type, model->type) == 0);
}

static tapml_status list(struct model_listing *listing)
{
    const struct models_asked *asked = &listing->asked;
    struct text head;

    TAPML_TRY(check_asked(listing));
    text_init(&head);
    if (asked->is_json) {
        text_append(&head, "[");
    } else if (asked->name == NULL) {
        append_head(&head, asked);
    }
    TAPML_TRY(text_print(&head));
    for (size_t i = 0; i < published_count(listing->list); i++) {
        const struct published_model *model = published_at(listing->list, i);

        if (is_asked_for(listing, model)) {
            TAPML_TRY(show(listing, model));
        }
    }
    (void)fputs(asked->is_json ? "\n]\n" : "", stdout);
    return TAPML_OK;
}

static tapml_status run(const struct command *command, const struct options *options)
{
    struct model_listing listing = {.command = command};

    TAPML_TRY(read_asked(options, &listing.asked));
    TAPML_TRY(model_list_open(command->program, &listing.list));
    tapml_status status = setup_open(command->program, options, NULL, &listing.setup);

    if (status == TAPML_OK) {
        status = list(&listing);
        setup_close(&listing.setup);
    }
    published_close(listing.list);
    return status;
}

enum outcome command_models_main(const struct command *command)
{
    struct options options;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_models_manual));
    }
    if (status == TAPML_OK) {
        status = run(command, &options);
    }
    return outcome_report(status);
}
