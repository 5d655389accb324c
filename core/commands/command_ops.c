// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/log.h"
#include "base/text.h"
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

// One open backend for each component that can be used.
struct columns {
    const char *names[COLUMNS_MAX];
    struct backend *backends[COLUMNS_MAX];
    size_t count;
};

static int is_backend(const struct candidate *entry)
{
    return strcmp(entry->kind, TAPML_KIND_BACKEND) == 0 && entry->state != CANDIDATE_SHADOWED &&
           entry->state != CANDIDATE_DUPLICATE;
}

// A backend that cannot be opened has no column; the reason is printed on the error stream.
static void open_columns(struct registry *registry, struct columns *columns)
{
    for (size_t i = 0; i < registry_count(registry) && columns->count < COLUMNS_MAX; i++) {
        const struct candidate *entry = registry_at(registry, i);

        if (!is_backend(entry)) {
            continue;
        }
        if (registry_open(registry, entry->component, &columns->backends[columns->count]) ==
            TAPML_OK) {
            columns->names[columns->count++] = entry->component;
        } else {
            log_line(LOG_WARNING, "not listed: %s", status_message());
        }
    }
}

static void print_table(const struct catalogue *catalogue, const struct columns *columns)
{
    (void)printf("%-28s", "op");
    for (size_t k = 0; k < columns->count; k++) {
        (void)printf(" %-12s", columns->names[k]);
    }
    (void)printf("\n");
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const tapml_op *op = catalogue_at(catalogue, i)->op;
        char name[64];

        (void)snprintf(name, sizeof(name), "%s@%u", op->name, (unsigned)op->version);
        (void)printf("%-28s", name);
        for (size_t k = 0; k < columns->count; k++) {
            (void)printf(" %-12s", backend_has_op(columns->backends[k], op) ? "yes" : "-");
        }
        (void)printf("\n");
    }
}

static tapml_status print_json(const struct catalogue *catalogue, const struct columns *columns)
{
    struct text text;

    text_init(&text);
    text_append(&text, "[");
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const tapml_op *op = catalogue_at(catalogue, i)->op;
        const char *comma = "";

        text_append(&text, i > 0 ? ",\n {\"op\": " : "\n {\"op\": ");
        text_append_json(&text, op->name);
        text_format(&text, ", \"version\": %u, \"backends\": [", (unsigned)op->version);
        for (size_t k = 0; k < columns->count; k++) {
            if (backend_has_op(columns->backends[k], op)) {
                text_append(&text, comma);
                text_append_json(&text, columns->names[k]);
                comma = ", ";
            }
        }
        text_append(&text, "]}");
    }
    text_append(&text, "\n]\n");
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
    open_columns(setup.registry, &columns);
    const struct catalogue *catalogue = registry_catalogue(setup.registry);

    if (options_get(&options, "--json") != NULL) {
        status = print_json(catalogue, &columns);
    } else {
        print_table(catalogue, &columns);
    }
    for (size_t k = 0; k < columns.count; k++) {
        backend_release(columns.backends[k]);
    }
    setup_close(&setup);
    return outcome_report(status);
}
