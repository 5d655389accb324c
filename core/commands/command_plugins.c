// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/terminal.h"
#include "base/text.h"
#include "config/hangs.h"
#include "config/survey.h"
#include "run/setup.h"

#include <inttypes.h>

static const struct options_spec specs[] = {
    {"--json", NULL, "prints JSON instead of a table"},
    {"--why", "ID", "prints only the lines of a plugin or component"},
    {"--again", NULL, "also tries those anew whose probes hung within the last day"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_plugins_manual = {
    .usage = "tapml-host plugins [--json] [--why ID] [--again]",
    .about = "Lists every plugin that was found, with its state and the reason.",
    .specs = specs,
};

// What is said of an entry beside its state: of its files, and of what a worker saw it do.
static void
append_remarks(struct text *text, const struct candidate *entry, const struct survey *survey)
{
    const char *const remarks[] = {entry->remark, survey->remark};
    const size_t begin = text->length;

    for (size_t i = 0; i < 2; i++) {
        if (remarks[i][0] != '\0') {
            text_format(text, "%s%s", text->length > begin ? "; " : "", remarks[i]);
        }
    }
}

// Columns of the text, as wide as what stands there.
struct widths {
    int component, plugin, state;
};

static const char *component_of(const struct candidate *entry)
{
    return entry->component[0] != '\0' ? entry->component : "-";
}

static struct widths find_widths(const struct registry *registry, const char *id)
{
    struct widths widths = {16, 22, 16};

    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct candidate *entry = registry_at(registry, i);

        // What is no plugin has a path in the place of an id.
        if (candidate_is_named(entry, id) && entry->component[0] != '\0') {
            widths.component = terminal_widen(widths.component, component_of(entry));
            widths.plugin = terminal_widen(widths.plugin, entry->plugin);
            widths.state = terminal_widen(widths.state, candidate_state_name(entry->state));
        }
    }
    return widths;
}

static void append_line(struct text *text,
                        const struct widths *widths,
                        const struct candidate *entry,
                        const struct survey *survey)
{
    text_format(text, "%-*s %-*s %-*s %s", widths->component, component_of(entry), widths->plugin,
                entry->plugin, widths->state, candidate_state_name(entry->state),
                entry->sentence[0] != '\0' ? entry->sentence : entry->title);
    if (entry->remark[0] != '\0' || survey->remark[0] != '\0') {
        text_append(text, "; ");
        append_remarks(text, entry, survey);
    }
    text_append(text, "\n");
}

static void append_member(struct text *text, const char *name, const char *value, const char *end)
{
    text_format(text, "\"%s\": ", name);
    text_append_json(text, value);
    text_append(text, end);
}

static void append_devices(struct text *text, const struct survey *survey)
{
    text_append(text, "\"devices\": [");
    for (size_t i = 0; i < survey->device_count; i++) {
        const struct survey_device *device = &survey->devices[i];

        text_append(text, i > 0 ? ", {" : "{");
        append_member(text, "id", device->id, ", ");
        append_member(text, "name", device->name, ", ");
        append_member(text, "driver", device->driver, ", ");
        text_format(text, "\"memory_bytes\": %" PRId64 ", \"buffer_bytes\": %" PRId64 "}",
                    device->memory_bytes, device->buffer_bytes);
    }
    text_append(text, "], ");
}

static void
append_json(struct text *text, const struct candidate *entry, const struct survey *survey)
{
    struct text remarks;

    text_init(&remarks);
    append_remarks(&remarks, entry, survey);
    text_append(text, text->length > 1 ? ",\n {" : "\n {");
    append_member(text, "plugin", entry->plugin, ", ");
    append_member(text, "version", entry->version, ", ");
    append_member(text, "component", entry->component, ", ");
    append_member(text, "kind", entry->kind, ", ");
    append_member(text, "title", entry->title, ", ");
    append_member(text, "manifest", entry->manifest, ", ");
    text_format(text, "\"tier\": %u, ", entry->tier);
    append_devices(text, survey);
    append_member(text, "state", candidate_state_name(entry->state), ", ");
    append_member(text, "sentence", entry->sentence, ", ");
    append_member(text, "remark", remarks.data, "}");
    text_release(&remarks);
}

static tapml_status list(const struct setup *setup, const char *id, int is_json)
{
    const struct registry *registry = setup->registry;
    struct survey *surveys = NULL;
    struct text text;
    size_t shown = 0;

    TAPML_TRY(survey_all(setup->program, setup->registry, id, setup->arena, &surveys));
    const struct widths widths = find_widths(registry, id);

    text_init(&text);
    text_append(&text, is_json ? "[" : "");
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct candidate *entry = registry_at(registry, i);

        if (!candidate_is_named(entry, id)) {
            continue;
        }
        shown++;
        if (is_json) {
            append_json(&text, entry, &surveys[i]);
        } else {
            append_line(&text, &widths, entry, &surveys[i]);
        }
    }
    text_append(&text, is_json                         ? "\n]\n"
                       : registry_count(registry) == 0 ? "no plugin was found: none is installed\n"
                                                       : "");
    TAPML_TRY(text_print(&text));
    return id == NULL || shown > 0
               ? TAPML_OK
               : status_fail(TAPML_NOT_FOUND, "no plugin or component '%s' was found", id);
}

enum outcome command_plugins_main(const struct command *command)
{
    struct options options;
    struct setup setup;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK) {
        status = options_no_plain(&options);
    }
    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_plugins_manual));
    }
    if (status == TAPML_OK) {
        status = setup_open_to_list(command->program, &options, NULL, &setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    if (options_get(&options, "--again") != NULL) {
        hangs_forget();
    }
    status = list(&setup, options_get(&options, "--why"), options_get(&options, "--json") != NULL);
    setup_close(&setup);
    return outcome_report(status);
}
