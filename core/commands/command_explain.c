// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "config/keys.h"
#include "config/keys_sections.h"
#include "config/options.h"
#include "config/run_config.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 128, NAMES_MAX = 128, PAGE_COLUMNS = 120 };

static const struct options_spec specs[] = {
    {"--explain", NULL,
     "explains a KEY: 'chunk', 'run.chunk', or a section; without KEY lists all keys"},
    {"--markdown", NULL, "prints the page of all keys instead"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_explain_manual = {
    .usage = "tapml-host --explain [KEY]",
    .about = "Explains the keys of a run's INI file.",
    .specs = specs,
};

static const struct key_section *section_of(const struct key *key)
{
    size_t i = 0;

    while (strcmp(keys_section_at(i)->name, key->section) != 0) {
        i++; // Every row is of a section, which a test holds.
    }
    return keys_section_at(i);
}

// "32", "none: the key is required", "none".
static const char *fallback_of(const struct key *key)
{
    if (key->fallback != NULL) {
        return key->fallback;
    }
    if (key->unless != NULL) {
        return "none: the key is required unless '" RUN_CONFIG_STORE "' is there";
    }
    return key->is_needed ? "none: the key is required" : "none";
}

// -- One key -----------------------------------------------------------------------------------

static void explain_key(const struct key *key, struct text *out)
{
    text_format(out, "[%s] %s\n    %s\n", section_of(key)->title, key->name, key->help);
    text_append(out, "    takes    ");
    key_table_type(key, out);
    text_format(out, "%s\n    default  %s\n    example  %s = %s\n",
                key->may_repeat ? "; may be repeated" : "", fallback_of(key), key->name,
                key->example);
}

static void explain_section(const struct key_section *section, struct text *out)
{
    text_format(out, "[%s]\n    %s\n", section->title, section->help);
    for (size_t i = 0; keys_at(i) != NULL; i++) {
        if (strcmp(keys_at(i)->section, section->name) == 0) {
            text_append(out, "\n");
            explain_key(keys_at(i), out);
        }
    }
}

// Whether `word`, up to `length`, means the section: "target", "target.", "target.gpu".
static int means_section(const struct key_section *section, const char *word, size_t length)
{
    const size_t own = strlen(section->name);
    const int is_group = section->name[own - 1] == '.';
    const size_t stem = is_group ? own - 1 : own;

    return strncmp(word, section->name, stem) == 0 &&
           (length == stem || (is_group && length > stem && word[stem] == '.'));
}

// Whether `word` is the key with its section before it: "run.chunk", "target.gpu.backend".
static int is_whole_name(const struct key *key, const char *word)
{
    const char *dot = strrchr(word, '.');

    return dot != NULL && strcmp(key->name, dot + 1) == 0 &&
           means_section(section_of(key), word, (size_t)(dot - word));
}

// Appends what `word` means: SECTION.KEY, or else a section and a key wherever there is one. 0:
// nothing.
static int explain_word(const char *word, struct text *out)
{
    int found = 0;

    for (size_t i = 0; keys_at(i) != NULL; i++) {
        if (is_whole_name(keys_at(i), word)) {
            explain_key(keys_at(i), out);
            return 1;
        }
    }
    for (size_t i = 0; keys_section_at(i) != NULL && !found; i++) {
        if (means_section(keys_section_at(i), word, strlen(word))) {
            found = 1;
            explain_section(keys_section_at(i), out);
        }
    }
    for (size_t i = 0; keys_at(i) != NULL; i++) {
        if (strcmp(keys_at(i)->name, word) == 0) {
            text_append(out, found ? "\n" : "");
            found = 1;
            explain_key(keys_at(i), out);
        }
    }
    return found;
}

static tapml_status unknown(const char *word)
{
    const char *names[NAMES_MAX + 1] = {NULL};
    const char *dot = strrchr(word, '.');
    size_t count = 0;

    for (size_t i = 0; keys_at(i) != NULL && count < NAMES_MAX; i++) {
        names[count++] = keys_at(i)->name;
    }
    for (size_t i = 0; keys_section_at(i) != NULL && count < NAMES_MAX; i++) {
        names[count++] = keys_section_at(i)->title;
    }
    const char *near = text_nearest(word, names);

    near = near == NULL && dot != NULL ? text_nearest(dot + 1, names) : near;
    return near != NULL
               ? status_fail(TAPML_INVALID, "unknown key '%s', did you mean '%s'?", word, near)
               : status_fail(TAPML_INVALID, "unknown key '%s'; --explain alone lists all keys",
                             word);
}

// -- All keys ----------------------------------------------------------------------------------

// The bytes up to the end of the first sentence, or of what a semicolon ends.
static int first_clause(const char *help)
{
    size_t length = strcspn(help, ";");

    for (size_t i = 0; i < length; i++) {
        if (help[i] == '.' && (help[i + 1] == ' ' || help[i + 1] == '\0')) {
            length = i;
        }
    }
    return (int)length;
}

static void list_all(struct text *out)
{
    for (size_t i = 0; keys_at(i) != NULL; i++) {
        const struct key *key = keys_at(i);
        char name[WORD_BYTES];

        (void)snprintf(name, sizeof(name), "[%s] %s", section_of(key)->title, key->name);
        text_format(out, "%-24s  %.*s\n", name, first_clause(key->help), key->help);
    }
    text_append(out, "\n'tapml-host --explain KEY' explains one key.\n");
}

// A cell of a table may hold no bar, and a star would begin emphasis.
static void append_cell(struct text *out, const char *cell)
{
    for (; *cell != '\0'; cell++) {
        text_append(out, *cell == '|' || *cell == '*' ? "\\" : "");
        text_append_bytes(out, cell, 1);
    }
    text_append(out, " | ");
}

static void append_row(const struct key *key, struct text *out)
{
    struct text type;

    text_init(&type);
    key_table_type(key, &type);
    text_append(&type, key->may_repeat ? "; may repeat" : "");
    text_format(out, "| `%s` | ", key->name);
    append_cell(out, type.data);
    append_cell(out, key->fallback != NULL ? key->fallback : key->is_needed ? "needed" : "");
    text_format(out, "`%s` | ", key->example);
    append_cell(out, key->help);
    out->failed |= type.failed;
    out->length--; // The blank behind the last bar.
    text_release(&type);
}

static void append_section(const struct key_section *section, struct text *out)
{
    text_format(out, "\n## [%s]\n\n", section->title);
    text_wrap(out, section->help, 0, PAGE_COLUMNS);
    if (section->takes_any_key) {
        return;
    }
    text_append(out,
                "\n| key | takes | default | example | what it does |\n|---|---|---|---|---|\n");
    for (size_t i = 0; keys_at(i) != NULL; i++) {
        if (strcmp(keys_at(i)->section, section->name) == 0) {
            append_row(keys_at(i), out);
            text_append(out, "\n");
        }
    }
}

static void write_page(struct text *out)
{
    text_append(out, "# The INI file of a run\n\n");
    text_wrap(
        out,
        "`tapml-host --explain --markdown` writes this page from the table that the host reads "
        "by; a test compares them. `tapml-host --explain KEY` explains one key, and "
        "`tapml-host --check-config FILE` reports all errors of a file without running it.",
        0, PAGE_COLUMNS);
    text_append(out, "\n");
    text_wrap(out, keys_sections_about, 0, PAGE_COLUMNS);
    for (size_t i = 0; keys_section_at(i) != NULL; i++) {
        append_section(keys_section_at(i), out);
    }
}

// -- The command -------------------------------------------------------------------------------

// "run.chunk" for "[run] chunk", as messages and the list have it.
static void plain_name(const char *given, char out_word[WORD_BYTES])
{
    size_t length = 0;

    for (; *given != '\0' && length + 1 < WORD_BYTES; given++) {
        if (given[0] == ']' && given[1] == ' ') {
            out_word[length++] = '.';
            given++;
        } else if (*given != '[' && *given != ']') {
            out_word[length++] = *given;
        }
    }
    out_word[length] = '\0';
}

static tapml_status explain(const struct options *options, struct text *out)
{
    char word[WORD_BYTES];

    if (options->plain_count > 1) {
        return status_fail(TAPML_INVALID, "expected one key, also found '%s'", options->plain[1]);
    }
    if (options_get(options, "--markdown") != NULL) {
        write_page(out);
    } else if (options->plain_count == 0) {
        list_all(out);
    } else {
        plain_name(options->plain[0], word);
        if (!explain_word(word, out)) {
            return unknown(word);
        }
    }
    return text_status(out);
}

enum outcome command_explain_main(const struct command *command)
{
    struct options options;
    struct text out;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    text_init(&out);
    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_explain_manual));
    }
    if (status == TAPML_OK) {
        status = explain(&options, &out);
    }
    if (status == TAPML_OK) {
        (void)fputs(out.data, stdout);
    }
    text_release(&out);
    return outcome_report(status);
}
