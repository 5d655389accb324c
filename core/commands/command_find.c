// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "report/found_bundles.h"

#include <stdio.h>

static const struct options_spec specs[] = {
    {"--json", NULL, "prints what was found as JSON: an array with an object for each"},
    {"--tags", NULL, "prints the keys of tags, and searches for nothing"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_find_manual = {
    .usage = "tapml-host find [PATH ...] [TAG=GLOB ...] [--json]\n"
             "tapml-host find --tags",
    .about =
        "Finds bundles and packs again, by what they say of themselves. PATH is a file, or a "
        "folder that is searched with those in it; without any, the folders of TAPML_BUNDLE_PATH "
        "are searched, or the current one. A file is listed if all TAG=GLOB are met: "
        "op=attention device_name=*RTX* verdict=fail; 'driver>=535.104' is the least version, and "
        "an id may be cut short. 'tapml-host replay' takes an id, of eight digits or more, in "
        "place of a file.\n"
        "Ends with 0 if something was found, else with 1. A file that cannot be read is told, and "
        "passed over.",
    .specs = specs,
};

struct bundle_finding {
    const struct options *options;
    struct bundle_search search;
    struct bundle_condition conditions[OPTIONS_MAX];
    size_t condition_count;
};

// A word with '=' is a condition, unless there is such a file.
static int is_condition(const char *word)
{
    return bundle_tags_is_condition(word) && !file_exists(word);
}

static tapml_status read_conditions(struct bundle_finding *finding)
{
    const struct options *options = finding->options;

    for (size_t i = 0; i < options->plain_count; i++) {
        if (is_condition(options->plain[i])) {
            TAPML_TRY(bundle_tags_read_condition(options->plain[i],
                                                 &finding->conditions[finding->condition_count]));
            finding->condition_count++;
        }
    }
    finding->search.conditions = finding->conditions;
    finding->search.condition_count = finding->condition_count;
    return TAPML_OK;
}

static tapml_status search(struct bundle_finding *finding)
{
    const struct options *options = finding->options;

    if (finding->condition_count == options->plain_count) {
        return bundle_search_add_all(&finding->search);
    }
    for (size_t i = 0; i < options->plain_count; i++) {
        if (!is_condition(options->plain[i])) {
            TAPML_TRY(bundle_search_add(&finding->search, options->plain[i]));
        }
    }
    return TAPML_OK;
}

static tapml_status print_json(const json_t *items)
{
    struct text text;

    text_init(&text);
    json_file_print(&text, items, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    text_append(&text, "\n");
    return text_print(&text);
}

static tapml_status print_found(const struct bundle_finding *finding)
{
    json_t *items = NULL;
    tapml_status status = TAPML_OK;

    TAPML_TRY(found_bundles_make(&finding->search, &items));
    if (options_get(finding->options, "--json") != NULL) {
        status = print_json(items);
    } else if (finding->search.count > 0) {
        found_bundles_print(items);
    }
    json_decref(items);
    return status;
}

static tapml_status print_tags(const struct options *options)
{
    TAPML_TRY(options_no_plain(options));
    for (size_t i = 0; bundle_tags_key(i) != NULL; i++) {
        (void)printf("%s\n", bundle_tags_key(i));
    }
    return TAPML_OK;
}

static tapml_status find(struct bundle_finding *finding)
{
    if (finding->search.arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(read_conditions(finding));
    interrupt_watch();
    TAPML_TRY(search(finding));
    return print_found(finding);
}

enum outcome command_find_main(const struct command *command)
{
    struct options options;
    struct bundle_finding finding = {.options = &options};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_find_manual));
    }
    if (status != TAPML_OK || options_get(&options, "--tags") != NULL) {
        return outcome_report(status == TAPML_OK ? print_tags(&options) : status);
    }
    finding.search.arena = arena_create();
    status = find(&finding);
    const size_t count = finding.search.count;

    bundle_search_release(&finding.search);
    arena_destroy(finding.search.arena);
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    return count > 0 ? OUTCOME_OK : OUTCOME_WRONG;
}
