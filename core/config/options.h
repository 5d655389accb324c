// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Command lines: long options with or without a value, and what stands alone. A table says what a
// command takes; its --help, the manual pages and the completions of shells come from it.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_MAX = 64 };

struct options_spec {
    const char *name;  // "--model"
    const char *value; // What stands behind it, see below; NULL for a switch.
    const char *help;  // Words that go on from the name; no line breaks.
};

// What a command takes. A value, and a word of `usage` in capitals, says what may stand there:
// FILE, DIR (a folder) and PATH (either) are completed as such, and the others as tools/manuals
// knows them; "text|dot" is one of these words.
struct options_manual {
    // "tapml-host status DIR [--json]", the whole command; a line for each form that it has.
    const char *usage;
    const char *about;                // Sentences; a line break ends a paragraph.
    const struct options_spec *specs; // Ended by a name that is NULL.
};

struct options {
    const struct options_spec *specs; // Ended by a name that is NULL.
    struct {
        const struct options_spec *spec;
        const char *value;
    } given[OPTIONS_MAX];
    size_t given_count;
    const char *plain[OPTIONS_MAX]; // What is no option.
    size_t plain_count;
};

// `--name VALUE` and `--name=VALUE`; behind `--` nothing is an option. An unknown one is refused
// with the nearest known. `-h` is --help, `-V` is --version, where `specs` has them.
tapml_status options_parse(const struct options_spec *specs,
                           int argc,
                           char **argv,
                           struct options *out_options) STATUS_USED;

// Refuses what is no option, where a command takes none.
tapml_status options_no_plain(const struct options *options) STATUS_USED;

// The last value of an option, or NULL. For a switch "" where it was given.
const char *options_get(const struct options *options, const char *name);

// The `index`-th value of an option that may stand several times, or NULL.
const char *options_at(const struct options *options, const char *name, size_t index);

// A whole number in [low, high], or `fallback` where the option is absent.
tapml_status options_i64(const struct options *options,
                         const char *name,
                         int64_t fallback,
                         int64_t low,
                         int64_t high,
                         int64_t *out_value) STATUS_USED;

// A size in bytes, of a number and a letter, each of which is 1024 times the one before: "512M",
// "8G". `*io_bytes` stays where the option is absent. TAPML_INVALID for what is none.
tapml_status
options_bytes(const struct options *options, const char *name, uint64_t *io_bytes) STATUS_USED;

// The place of an option's value among `words`, which are separated by blanks; `*io_place` stays
// where the option is absent. TAPML_INVALID lists the words.
tapml_status options_word(const struct options *options,
                          const char *name,
                          const char *words,
                          int *io_place) STATUS_USED;

// Whether `word` is one of the options: its name, with or without =VALUE, or its short form.
int options_has(const struct options_spec *specs, const char *word);

// The short form of an option: "-h" of --help, "-V" of --version, else NULL.
const char *options_short(const char *name);

// Prints the usage, what the command does, and its options. TAPML_NO_MEMORY.
tapml_status options_help(const struct options_manual *manual) STATUS_USED;

// Appends what options_help prints; and a row of a table such as its options: a name, and its help
// in lines beside it.
void options_append_help(struct text *text, const struct options_manual *manual);
void options_append_row(struct text *text, const char *name, const char *help);
