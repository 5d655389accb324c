// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a program takes, as JSON: the commands and options of --help and the keys of its files, from
// the tables by which they are read. tools/manuals makes manual pages and completions of it, and
// any program may read it.
//
//   {"version", "own": COMMAND, "commands": [COMMAND...], "files": [FILE...],
//    "exit_codes": [{"code", "means"}...]}
//   COMMAND {"name", "about", "usage": [a form...], "description", "options": [OPTION...]}
//   OPTION {"name", "short", "value", "help"}
//   FILE {"name", "title", "about", "sections": [SECTION...]}
//   SECTION {"title", "help", "takes_any_key", "keys": [KEY...]}
//   KEY {"name", "takes", "default", "needed", "unless", "may_repeat", "example", "help"}
//
// Of an option or a key, what it does not have is absent. Members may be added.
#pragma once

#include "base/status.h"
#include "config/key_table.h"
#include "config/options.h"
#include "run/outcome.h"

#include <stddef.h>

struct manual_command {
    const char *name;
    const char *about; // A few words.
    const struct options_manual *takes;
};

// A kind of INI file that the program reads.
struct manual_file {
    const char *name;  // Of its page: "tapml-run.ini".
    const char *title; // A few words.
    const char *about; // Sentences: the form of the file.
    const struct key_table *table;
};

struct manual {
    struct manual_command own; // The program itself: its name, and what it takes besides a command.
    const struct manual_command *commands;
    size_t command_count;
    const struct manual_file *files;
    size_t file_count;
    const struct outcome_meaning *exit_codes; // Ended by a text that is NULL.
};

// Prints it. TAPML_NO_MEMORY, and nothing is printed.
tapml_status manual_print(const struct manual *manual) STATUS_USED;
