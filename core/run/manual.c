// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/manual.h"

#include "base/text.h"

#include <string.h>

// A comma and a line, unless it is the first of its list or object.
static void next(struct text *out)
{
    const char last = out->length > 0 ? out->data[out->length - 1] : '[';

    text_append(out, last == '[' || last == '{' ? "" : ",\n");
}

static void append_name(struct text *out, const char *name)
{
    next(out);
    text_append_json(out, name);
    text_append(out, ": ");
}

// Nothing where `value` is NULL.
static void append_member(struct text *out, const char *name, const char *value)
{
    if (value != NULL) {
        append_name(out, name);
        text_append_json(out, value);
    }
}

static void append_flag(struct text *out, const char *name, int flag)
{
    append_name(out, name);
    text_append(out, flag ? "true" : "false");
}

static void begin(struct text *out, const char *name, const char *bracket)
{
    append_name(out, name);
    text_append(out, bracket);
}

static void begin_object(struct text *out)
{
    next(out);
    text_append(out, "{");
}

// -- Commands ----------------------------------------------------------------------------------

static void append_lines(struct text *out, const char *lines)
{
    for (; *lines != '\0'; lines += *lines == '\n') {
        const size_t length = strcspn(lines, "\n");

        next(out);
        text_append_json_bytes(out, lines, length);
        lines += length;
    }
}

static void append_command(struct text *out, const struct manual_command *command)
{
    text_append(out, "{");
    append_member(out, "name", command->name);
    append_member(out, "about", command->about);
    begin(out, "usage", "[");
    append_lines(out, command->takes->usage);
    text_append(out, "]");
    append_member(out, "description", command->takes->about);
    begin(out, "options", "[");
    for (const struct options_spec *spec = command->takes->specs; spec->name != NULL; spec++) {
        begin_object(out);
        append_member(out, "name", spec->name);
        append_member(out, "short", options_short(spec->name));
        append_member(out, "value", spec->value);
        append_member(out, "help", spec->help);
        text_append(out, "}");
    }
    text_append(out, "]}");
}

// -- Files -------------------------------------------------------------------------------------

static void append_key(struct text *out, const struct key *key)
{
    struct text type;

    text_init(&type);
    key_table_type(key, &type);
    out->failed |= type.failed;
    begin_object(out);
    append_member(out, "name", key->name);
    append_member(out, "takes", type.data);
    append_member(out, "default", key->fallback);
    append_flag(out, "needed", key->is_needed);
    append_member(out, "unless", key->unless);
    append_flag(out, "may_repeat", key->may_repeat);
    append_member(out, "example", key->example);
    append_member(out, "help", key->help);
    text_append(out, "}");
    text_release(&type);
}

static void
append_section(struct text *out, const struct key_table *table, const struct key_section *section)
{
    begin_object(out);
    append_member(out, "title", section->title);
    append_member(out, "help", section->help);
    append_flag(out, "takes_any_key", section->takes_any_key);
    begin(out, "keys", "[");
    for (size_t i = 0; i < table->key_count; i++) {
        if (strcmp(table->keys[i].section, section->name) == 0) {
            append_key(out, &table->keys[i]);
        }
    }
    text_append(out, "]}");
}

static void append_file(struct text *out, const struct manual_file *file)
{
    begin_object(out);
    append_member(out, "name", file->name);
    append_member(out, "title", file->title);
    append_member(out, "about", file->about);
    begin(out, "sections", "[");
    for (size_t i = 0; i < file->table->section_count; i++) {
        append_section(out, file->table, &file->table->sections[i]);
    }
    text_append(out, "]}");
}

// -- All of it ---------------------------------------------------------------------------------

static void append_exit_codes(struct text *out, const struct outcome_meaning *codes)
{
    begin(out, "exit_codes", "[");
    for (; codes->text != NULL; codes++) {
        begin_object(out);
        append_name(out, "code");
        text_format(out, "%d", codes->code);
        append_member(out, "means", codes->text);
        text_append(out, "}");
    }
    text_append(out, "]");
}

tapml_status manual_print(const struct manual *manual)
{
    struct text out;

    text_init(&out);
    text_append(&out, "{");
    append_member(&out, "version", TAPML_VERSION);
    append_name(&out, "own");
    append_command(&out, &manual->own);
    begin(&out, "commands", "[");
    for (size_t i = 0; i < manual->command_count; i++) {
        next(&out);
        append_command(&out, &manual->commands[i]);
    }
    text_append(&out, "]");
    begin(&out, "files", "[");
    for (size_t i = 0; i < manual->file_count; i++) {
        append_file(&out, &manual->files[i]);
    }
    text_append(&out, "]");
    append_exit_codes(&out, manual->exit_codes);
    text_append(&out, "}\n");
    return text_print(&out);
}
