// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "config/survey.h"
#include "run/setup.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 32 };

static const struct options_spec specs[] = {
    {"--json", NULL, "prints JSON instead of a table"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_ops_manual = {
    .usage = "tapml-host ops [--json]",
    .about = "Lists the ops and the backends that have them.",
    .specs = specs,
};

// What the backends have that can be used, each found by a worker of its own.
struct columns {
    struct arena *arena;
    const char *names[COLUMNS_MAX];
    struct survey surveys[COLUMNS_MAX];
    size_t count;
    int name_width, widths[COLUMNS_MAX]; // Of the text.
};

static int is_backend(const struct candidate *entry)
{
    return strcmp(entry->kind, TAPML_KIND_BACKEND) == 0 && entry->state != CANDIDATE_SHADOWED &&
           entry->state != CANDIDATE_DUPLICATE;
}

// A backend that cannot be used has no column; the reason is printed on the error stream.
static tapml_status add_column(const struct setup *setup, size_t index, struct columns *columns)
{
    static const struct survey_question all = {.opens_late = 1};
    const struct candidate *entry = registry_at(setup->registry, index);
    struct survey *survey = &columns->surveys[columns->count];
    const struct registry_location location = registry_location_at(setup->registry, index);
    tapml_status status =
        survey_entry(setup->program, setup->registry, index, &all, columns->arena, survey);

    if (status != TAPML_OK && entry->state == CANDIDATE_USABLE) {
        return status; // Nothing can be asked.
    }
    status = survey_status(survey, &location);
    if (status == TAPML_OK) {
        columns->names[columns->count++] = entry->component;
    } else {
        log_line(LOG_WARNING, "not listed: %s", status_message());
    }
    return TAPML_OK;
}

static tapml_status make_columns(const struct setup *setup, struct columns *columns)
{
    columns->arena = setup->arena;
    for (size_t i = 0; i < registry_count(setup->registry) && columns->count < COLUMNS_MAX; i++) {
        if (is_backend(registry_at(setup->registry, i))) {
            TAPML_TRY(add_column(setup, i, columns));
        }
    }
    return TAPML_OK;
}

// -- The rows ----------------------------------------------------------------------------------

typedef void (*row_fn)(struct text *text,
                       const struct columns *columns,
                       const struct survey_op *op,
                       int is_first);

// Whether a column before this one has the op, which is of no catalogue, too.
static int is_listed(const struct columns *columns, size_t column, const struct survey_op *op)
{
    for (size_t k = 0; k < column; k++) {
        if (survey_has_op(&columns->surveys[k], op->name, op->version)) {
            return 1;
        }
    }
    return 0;
}

// The ops of the host, and then those that plugins bring.
static void
add_rows(struct text *text, const struct catalogue *own, const struct columns *columns, row_fn row)
{
    const size_t count = catalogue_count(own);

    for (size_t i = 0; i < count; i++) {
        const tapml_op *op = catalogue_at(own, i)->op;

        row(text, columns, &(struct survey_op){op->name, op->version}, i == 0);
    }
    for (size_t k = 0; k < columns->count; k++) {
        for (size_t i = 0; i < columns->surveys[k].op_count; i++) {
            const struct survey_op *op = &columns->surveys[k].ops[i];

            if (catalogue_find(own, op->name, op->version) == NULL && !is_listed(columns, k, op)) {
                row(text, columns, op, 0);
            }
        }
    }
}

enum { NAME_TEXT = 128 };

static void print_name(const struct survey_op *op, char out_name[NAME_TEXT])
{
    (void)snprintf(out_name, NAME_TEXT, "%s@%u", op->name, (unsigned)op->version); // May be cut.
}

// Columns as wide as what stands there.
static void find_widths(const struct catalogue *own, struct columns *columns)
{
    char name[NAME_TEXT];

    columns->name_width = 28;
    for (size_t i = 0; i < catalogue_count(own); i++) {
        const tapml_op *op = catalogue_at(own, i)->op;

        print_name(&(struct survey_op){op->name, op->version}, name);
        columns->name_width = terminal_widen(columns->name_width, name);
    }
    for (size_t k = 0; k < columns->count; k++) {
        columns->widths[k] = terminal_widen(12, columns->names[k]);
        for (size_t i = 0; i < columns->surveys[k].op_count; i++) {
            print_name(&columns->surveys[k].ops[i], name);
            columns->name_width = terminal_widen(columns->name_width, name);
        }
    }
}

static void
add_line(struct text *text, const struct columns *columns, const struct survey_op *op, int is_first)
{
    char name[NAME_TEXT];

    (void)is_first;
    print_name(op, name);
    text_format(text, "%-*s", columns->name_width, name);
    for (size_t k = 0; k < columns->count; k++) {
        text_format(text, " %-*s", columns->widths[k],
                    survey_has_op(&columns->surveys[k], op->name, op->version) ? "yes" : "-");
    }
    text_append(text, "\n");
}

static void add_object(struct text *text,
                       const struct columns *columns,
                       const struct survey_op *op,
                       int is_first)
{
    const char *comma = "";

    text_append(text, is_first ? "\n {\"op\": " : ",\n {\"op\": ");
    text_append_json(text, op->name);
    text_format(text, ", \"version\": %u, \"backends\": [", (unsigned)op->version);
    for (size_t k = 0; k < columns->count; k++) {
        if (survey_has_op(&columns->surveys[k], op->name, op->version)) {
            text_append(text, comma);
            text_append_json(text, columns->names[k]);
            comma = ", ";
        }
    }
    text_append(text, "]}");
}

static tapml_status print(const struct catalogue *own, struct columns *columns, int is_json)
{
    struct text text;

    text_init(&text);
    if (is_json) {
        text_append(&text, "[");
        add_rows(&text, own, columns, add_object);
        text_append(&text, "\n]\n");
        return text_print(&text);
    }
    find_widths(own, columns);
    text_format(&text, "%-*s", columns->name_width, "op");
    for (size_t k = 0; k < columns->count; k++) {
        text_format(&text, " %-*s", columns->widths[k], columns->names[k]);
    }
    text_append(&text, "\n");
    add_rows(&text, own, columns, add_line);
    return text_print(&text);
}

enum outcome command_ops_main(const struct command *command)
{
    struct options options;
    struct setup setup;
    struct columns columns = {.count = 0};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK) {
        status = options_no_plain(&options);
    }
    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_ops_manual));
    }
    if (status == TAPML_OK) {
        status = setup_open(command->program, &options, NULL, &setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    status = make_columns(&setup, &columns);
    if (status == TAPML_OK) {
        status = print(registry_catalogue(setup.registry), &columns,
                       options_get(&options, "--json") != NULL);
    }
    setup_close(&setup);
    return outcome_report(status);
}
