// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/ini_edit.h"

#include <stddef.h>
#include <string.h>

// A line without its end, and where the next one begins.
struct ini_edit_line {
    const char *begin;
    size_t length;
    const char *next;
};

static struct ini_edit_line line_at(const char *text)
{
    const size_t length = strcspn(text, "\n");

    return (struct ini_edit_line){text, length, text + length + (text[length] == '\n')};
}

// Whether a line is "[section]", perhaps with blanks or a comment behind it.
static int is_head(const struct ini_edit_line *line, const char *section)
{
    const size_t length = strlen(section);

    return line->length > length + 1 && line->begin[0] == '[' &&
           strncmp(line->begin + 1, section, length) == 0 && line->begin[length + 1] == ']';
}

static int has_key(const struct ini_edit_line *line, const char *key)
{
    const size_t length = strlen(key);

    if (line->length <= length || strncmp(line->begin, key, length) != 0) {
        return 0;
    }
    const size_t blanks = strspn(line->begin + length, " \t");

    return line->begin[length + blanks] == '=' || line->begin[length + blanks] == ':';
}

static void put_key(const struct ini_edit *edit, struct text *out)
{
    if (edit->value != NULL) {
        text_format(out, "%s = %s\n", edit->key, edit->value);
    }
}

// Whether a section of the text has the key; `*out_has_section`: it has the section.
static int find(const char *ini, const struct ini_edit *edit, int *out_has_section)
{
    int is_inside = 0, has_key_too = 0;

    *out_has_section = 0;
    while (*ini != '\0') {
        const struct ini_edit_line line = line_at(ini);

        is_inside = line.begin[0] == '[' ? is_head(&line, edit->section) : is_inside;
        *out_has_section |= is_inside;
        has_key_too |= is_inside && has_key(&line, edit->key);
        ini = line.next;
    }
    return has_key_too;
}

void ini_edit_apply(const char *ini, const struct ini_edit *edit, struct text *out)
{
    int has_section = 0, is_inside = 0, is_set = 0;
    const int is_there = find(ini, edit, &has_section);
    char last = '\n';

    while (*ini != '\0') {
        const struct ini_edit_line line = line_at(ini);
        const int is_head_of_it = is_head(&line, edit->section);
        const int is_key = line.begin[0] != '[' && is_inside && has_key(&line, edit->key);

        is_inside = line.begin[0] == '[' ? is_head_of_it : is_inside;
        if (is_key && !is_set) {
            put_key(edit, out);
            is_set = 1;
        } else if (!is_key) {
            text_append_bytes(out, line.begin, (size_t)(line.next - line.begin));
            last = line.next[-1];
        }
        if (is_head_of_it && !is_there && !is_set) {
            text_append(out, last == '\n' ? "" : "\n");
            put_key(edit, out);
            is_set = 1;
            last = '\n';
        }
        ini = line.next;
    }
    if (!has_section && edit->value != NULL) {
        text_format(out, "%s\n[%s]\n", last == '\n' ? "" : "\n", edit->section);
        put_key(edit, out);
    }
}

tapml_status
ini_edit_all(const char *ini, const struct ini_edit *edits, size_t count, struct text *out)
{
    struct text before;

    text_init(&before);
    text_append(out, ini);
    for (size_t i = 0; i < count; i++) {
        text_clear(&before);
        text_append(&before, out->data);
        text_clear(out);
        ini_edit_apply(before.data, &edits[i], out);
        out->failed |= before.failed;
    }
    text_release(&before);
    return text_status(out);
}
