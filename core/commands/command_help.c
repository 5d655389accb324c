// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "commands/suggestion.h"

enum { COLUMNS = 100 };

static const struct options_spec specs[] = {
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_help_manual = {
    .usage = "tapml-host help [COMMAND]",
    .about = "Explains a command as COMMAND --help does, or lists all commands.",
    .specs = specs,
};

static void append_exit_codes(struct text *out)
{
    struct text words;

    text_init(&words);
    text_append(&words, "Exit codes:");
    for (const struct outcome_meaning *at = outcome_meanings; at->text != NULL; at++) {
        text_format(&words, "%s %d %s", at > outcome_meanings ? "," : "", at->code, at->text);
    }
    text_append(&words, ".");
    out->failed |= words.failed;
    text_wrap(out, words.data, 0, COLUMNS);
    text_release(&words);
}

static tapml_status print_all(void)
{
    struct text out;

    text_init(&out);
    options_append_help(&out, &command_list_manual);
    text_append(&out, "\n");
    for (size_t i = 0; command_list_at(i) != NULL; i++) {
        options_append_row(&out, command_list_at(i)->name, command_list_at(i)->about);
    }
    text_append(&out, "\n");
    append_exit_codes(&out);
    return text_print(&out);
}

static tapml_status help(const struct options *options)
{
    if (options_get(options, "--help") != NULL) {
        return options_help(&command_help_manual);
    }
    if (options->plain_count > 1) {
        return status_fail(TAPML_INVALID, "expected one command, also found '%s'",
                           options->plain[1]);
    }
    return options->plain_count == 0 ? print_all() : suggestion_fail(options->plain[0]);
}

enum outcome command_help_main(const struct command *command)
{
    // An option that is a command is its name here.
    const struct command_entry *entry =
        command->argc == 1 ? command_list_find(command->argv[0]) : NULL;
    struct options options;
    tapml_status status = TAPML_OK;

    if (entry != NULL) {
        return outcome_report(options_help(entry->manual));
    }
    status = options_parse(specs, command->argc, command->argv, &options);
    return outcome_report(status == TAPML_OK ? help(&options) : status);
}
