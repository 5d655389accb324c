// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/assert.h"
#include "config/keys.h"
#include "config/keys_sections.h"
#include "run/manual.h"

enum { COMMANDS_MAX = 64 };

tapml_status command_describe_print(void)
{
    struct manual_command commands[COMMANDS_MAX];
    const struct manual_file run_ini = {
        .name = "tapml-run.ini",
        .title = "what tapml-host runs",
        .about = keys_sections_about,
        .table = keys_table(),
    };
    struct manual manual = {
        .own = {"tapml-host", "port a language model to another platform, op by op",
                &command_list_manual},
        .commands = commands,
        .files = &run_ini,
        .file_count = 1,
        .exit_codes = outcome_meanings,
    };

    for (size_t i = 0; command_list_at(i) != NULL; i++) {
        const struct command_entry *entry = command_list_at(i);

        ASSERT(i < COMMANDS_MAX);
        commands[manual.command_count++] =
            (struct manual_command){entry->name, entry->about, entry->manual};
    }
    return manual_print(&manual);
}
