// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml-host: takes a language model from a platform where it runs well to one where it does not
// yet.

#include "base/descriptors.h"
#include "base/file.h"
#include "base/output.h"
#include "commands/command.h"
#include "commands/suggestion.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

// The options of a run, a check and an explanation stand in any order; what names none of them is a
// run's. NULL where the first is of none.
static const struct command_entry *find_option(int argc, char **argv)
{
    for (int at = 1; at < argc; at++) {
        for (size_t i = 1; command_list_at(i) != NULL; i++) {
            const char *name = command_list_at(i)->name;
            const size_t length = strlen(name);

            if (strncmp(name, "--", 2) == 0 && strncmp(argv[at], name, length) == 0 &&
                (argv[at][length] == '\0' || argv[at][length] == '=')) {
                return command_list_at(i);
            }
        }
    }
    return options_has(command_list_at(0)->manual->specs, argv[1]) ? command_list_at(0) : NULL;
}

static int is_option(const char *word, const char *name)
{
    const char *short_form = options_short(name);

    return strcmp(word, name) == 0 || (short_form != NULL && strcmp(word, short_form) == 0);
}

static enum outcome run(int argc, char **argv)
{
    char path[PATH_MAX];
    const char *program = file_of_program(path, sizeof(path));

    if (argc < 2) {
        (void)command_help_main(&(struct command){program, 0, NULL});
        return OUTCOME_USAGE;
    }
    if (is_option(argv[1], "--help")) {
        return command_help_main(&(struct command){program, argc - 2, argv + 2});
    }
    if (is_option(argv[1], "--version")) {
        (void)puts("tapml-host " TAPML_VERSION);
        return OUTCOME_OK;
    }
    if (is_option(argv[1], "--describe")) {
        return outcome_report(command_describe_print());
    }
    const int is_first = strncmp(argv[1], "--", 2) == 0; // The command is an option, in any place.
    const struct command_entry *entry =
        is_first ? find_option(argc, argv) : command_list_find(argv[1]);

    if (entry == NULL) {
        return outcome_report(suggestion_fail(argv[1]));
    }
    return entry->main(
        &(struct command){program, argc - (is_first ? 1 : 2), argv + (is_first ? 1 : 2)});
}

int main(int argc, char **argv)
{
    // A file at its limit is a failed write with a sentence, and not the end.
    (void)signal(SIGXFSZ, SIG_IGN);
    output_begin();
    const tapml_status status = descriptors_expect("tapml-host", 0);

    return (int)(status == TAPML_OK ? outcome_finish(run(argc, argv)) : outcome_report(status));
}
