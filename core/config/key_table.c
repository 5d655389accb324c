// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/key_table.h"

#include <inttypes.h>
#include <string.h>

static int is_group(const struct key_section *section)
{
    return section->name[strlen(section->name) - 1] == '.';
}

const struct key_section *key_table_section(const struct key_table *table, const char *name)
{
    for (size_t i = 0; i < table->section_count; i++) {
        const struct key_section *section = &table->sections[i];
        const size_t length = strlen(section->name);

        if (is_group(section) ? strncmp(name, section->name, length) == 0 && name[length] != '\0'
                              : strcmp(name, section->name) == 0) {
            return section;
        }
    }
    return NULL;
}

const struct key *
key_table_find(const struct key_table *table, const char *section, const char *name)
{
    const struct key_section *known = key_table_section(table, section);

    for (size_t i = 0; known != NULL && i < table->key_count; i++) {
        const struct key *key = &table->keys[i];

        if (strcmp(key->section, known->name) == 0 && strcmp(key->name, name) == 0) {
            return key;
        }
    }
    return NULL;
}

void key_table_type(const struct key *key, struct text *out_text)
{
    const char *between = "";

    switch (key->kind) {
    case KEY_NUMBER:
        text_format(out_text, "a whole number from %" PRId64 " to %" PRId64, key->low, key->high);
        return;
    case KEY_REAL:
        text_format(out_text, "a number above %" PRId64 ", at most %" PRId64, key->low, key->high);
        return;
    case KEY_CHOICE:
        for (const char *at = key->words; *at != '\0'; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");

            text_format(out_text, "%s'%.*s'", between, (int)length, at);
            between = " or ";
            at += length;
        }
        return;
    case KEY_TEXT:
    case KEY_OTHERS:
        text_append(out_text, key->type);
        return;
    }
}
