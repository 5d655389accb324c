// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/key_reader.h"

#include "base/table.h"

#include <stdio.h>
#include <string.h>

// Names that are compared with an unknown one: more than there are, as a test holds.
enum { NAMES_MAX = 64, SECTIONS_MAX = 24, KEYS_MAX = 32 };

// -- Names -------------------------------------------------------------------------------------

// There is one, as a test holds for the rows.
static const char *title_of(const struct key_table *table, const char *section)
{
    size_t i = 0;

    while (strcmp(table->sections[i].name, section) != 0) {
        i++;
    }
    return table->sections[i].title;
}

// An unknown name is compared by what stands before its dot, which the answer then keeps.
static void refuse_section(const struct key_table *table,
                           const struct ini *ini,
                           size_t index,
                           struct problems *problems)
{
    const char *name = ini->sections[index];
    const unsigned line = ini->section_lines[index];
    const char *names[SECTIONS_MAX + 1] = {NULL};
    const char *dot = strchr(name, '.');
    char head[NAMES_MAX];

    (void)snprintf(head, sizeof(head), "%.*s", dot != NULL ? (int)(dot + 1 - name) : NAMES_MAX - 1,
                   name);
    for (size_t i = 0; i < SECTIONS_MAX && i < table->section_count; i++) {
        names[i] = table->sections[i].name;
    }
    const char *near = text_nearest(head, names);

    if (near == NULL) {
        problems_add(problems, "%s:%u: unknown section [%s], %s", ini->name, line, name,
                     table->manual);
        return;
    }
    if (near[strlen(near) - 1] == '.' && dot != NULL && dot[1] != '\0') {
        problems_add(problems, "%s:%u: unknown section [%s], did you mean [%s%s]?", ini->name, line,
                     name, near, dot + 1);
    } else {
        problems_add(problems, "%s:%u: unknown section [%s], did you mean [%s]?", ini->name, line,
                     name, title_of(table, near));
    }
}

// The title of a section that has the key, or NULL.
static const char *other_section(const struct key_table *table, const char *key)
{
    for (size_t i = 0; i < table->key_count; i++) {
        if (strcmp(table->keys[i].name, key) == 0) {
            return title_of(table, table->keys[i].section);
        }
    }
    return NULL;
}

static void refuse_key(const struct key_table *table,
                       const struct ini *ini,
                       const struct ini_entry *entry,
                       struct problems *problems)
{
    const struct key_section *section = key_table_section(table, entry->section);
    const char *names[KEYS_MAX + 1] = {NULL};
    const char *other = other_section(table, entry->key);
    size_t count = 0;

    for (size_t i = 0; i < table->key_count && count < KEYS_MAX; i++) {
        if (strcmp(table->keys[i].section, section->name) == 0) {
            names[count++] = table->keys[i].name;
        }
    }
    const char *near = text_nearest(entry->key, names);

    if (near != NULL) {
        problems_add(problems, "%s:%u: unknown key '%s' in [%s], did you mean '%s'?", ini->name,
                     entry->line, entry->key, entry->section, near);
    } else {
        problems_add(problems, "%s:%u: unknown key '%s' in [%s], %s%s%s", ini->name, entry->line,
                     entry->key, entry->section,
                     other != NULL ? "there is one in [" : table->manual,
                     other != NULL ? other : "", other != NULL ? "]" : "");
    }
}

// A second value would silently win.
static void
check_repeats(const struct key_table *table, const struct ini *ini, struct problems *problems)
{
    struct table seen;

    table_init(&seen);
    for (size_t i = 0; i < ini->count; i++) {
        const struct ini_entry *entry = &ini->entries[i];
        const struct key *key = key_table_find(table, entry->section, entry->key);
        char name[2 * NAMES_MAX];
        size_t line = 0;

        (void)snprintf(name, sizeof(name), "%s]%s", entry->section, entry->key);
        if (key != NULL && key->may_repeat) {
            continue;
        }
        if (table_find(&seen, name, &line)) {
            problems_add(problems, "%s:%u: expected '%s' once in [%s], found it in line %zu too",
                         ini->name, entry->line, entry->key, entry->section, line);
        } else if (table_set(&seen, name, entry->line) != TAPML_OK) {
            problems->text.failed = 1;
        }
    }
    table_release(&seen);
}

void key_reader_check(const struct key_table *table,
                      const struct ini *ini,
                      struct problems *problems)
{
    for (size_t i = 0; i < ini->section_count; i++) {
        if (key_table_section(table, ini->sections[i]) == NULL) {
            refuse_section(table, ini, i, problems);
        }
    }
    for (size_t i = 0; i < ini->count; i++) {
        const struct ini_entry *entry = &ini->entries[i];
        const struct key_section *section = key_table_section(table, entry->section);

        if (entry->section[0] == '\0') {
            problems_add(problems, "%s:%u: expected a [section] before '%s'", ini->name,
                         entry->line, entry->key);
        } else if (section != NULL && !section->takes_any_key &&
                   key_table_find(table, entry->section, entry->key) == NULL) {
            refuse_key(table, ini, entry, problems);
        }
    }
    check_repeats(table, ini, problems);
}

// -- Values ------------------------------------------------------------------------------------

// The place of `word` among `words`, or -1.
static int place_of(const char *words, const char *word)
{
    int place = 0;

    for (const char *at = words; *at != '\0'; at += strspn(at, " "), place++) {
        const size_t length = strcspn(at, " ");

        if (strlen(word) == length && strncmp(at, word, length) == 0) {
            return place;
        }
        at += length;
    }
    return -1;
}

// Writes the member; 0 where `value` is none that the key takes.
static int set_member(const struct key *key, const char *value, void *member)
{
    int64_t number = 0;
    double real = 0;
    int place = 0;

    switch (key->kind) {
    case KEY_TEXT:
        memcpy(member, &value, sizeof(value));
        return 1;
    case KEY_NUMBER:
        if (text_parse_i64(value, &number) != TAPML_OK || number < key->low || number > key->high) {
            return 0;
        }
        memcpy(member, &number, sizeof(number));
        return 1;
    case KEY_REAL:
        if (text_parse_f64(value, &real) != TAPML_OK || !(real > (double)key->low) ||
            !(real <= (double)key->high)) {
            return 0;
        }
        memcpy(member, &real, sizeof(real));
        return 1;
    case KEY_CHOICE:
        place = place_of(key->words, value);
        memcpy(member, &place, sizeof(place));
        return place >= 0;
    case KEY_OTHERS:
        return 1;
    }
    return 0;
}

// Whether the key that a needed one may be absent for is there.
static int is_excused(const struct ini *ini, const struct key *key)
{
    const char *dot = key->unless != NULL ? strrchr(key->unless, '.') : NULL;
    char section[NAMES_MAX];

    if (dot == NULL) {
        return 0;
    }
    (void)snprintf(section, sizeof(section), "%.*s", (int)(dot - key->unless), key->unless);
    return ini_find(ini, section, dot + 1) != NULL;
}

static void read_key(const struct ini *ini,
                     const struct key *key,
                     const char *section,
                     void *member,
                     struct problems *problems)
{
    const char *value = ini_get(ini, section, key->name);
    const int is_absent = value == NULL || (key->kind == KEY_TEXT && *value == '\0');
    struct text type;

    if (key->is_needed && is_absent && !is_excused(ini, key)) {
        problems_add(problems, "%s: [%s] has no '%s'", ini->name, section, key->name);
    }
    if (!is_absent && !set_member(key, value, member)) {
        text_init(&type);
        key_table_type(key, &type);
        problems_refuse(problems, ini, section, key->name, "expected %s, found '%s'", type.data,
                        value);
        text_release(&type);
    } else if (!is_absent) {
        return;
    }
    if (key->fallback != NULL) {
        (void)set_member(key, key->fallback, member); // A test holds every default to its row.
    }
}

void key_reader_read(const struct key_table *table,
                     const struct ini *ini,
                     const char *section,
                     void *object,
                     struct problems *problems)
{
    const struct key_section *known = key_table_section(table, section);
    char *members = object;

    for (size_t i = 0; i < table->key_count; i++) {
        const struct key *key = &table->keys[i];
        char unused[sizeof(int64_t)];
        const int has_member = key->offset != KEYS_NOWHERE;

        if (strcmp(key->section, known->name) == 0) {
            read_key(ini, key, section, has_member ? members + key->offset : unused, problems);
        }
    }
}
