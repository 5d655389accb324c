// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/key_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_BYTES = 160 }; // Below what a value may have.

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

// A semicolon would begin a comment.
static int is_kept(char c)
{
    return c > ' ' && c <= '~' && c != ';';
}

static const char *find_kept(const char *value)
{
    while (*value != '\0' && !is_kept(*value)) {
        value++;
    }
    return value;
}

int key_table_can_print(const char *value)
{
    return *find_kept(value) != '\0';
}

void key_table_print(struct text *out_text, const char *name, const char *value)
{
    char plain[VALUE_BYTES];

    (void)snprintf(plain, sizeof(plain), "%s", find_kept(value)); // Or cut.
    for (size_t i = 0; plain[i] != '\0'; i++) {
        plain[i] = (char)(is_kept(plain[i]) ? plain[i] : ' ');
    }
    text_format(out_text, "%s = %s\n", name, plain);
}
