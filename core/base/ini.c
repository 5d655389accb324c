// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ini.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/table.h"

// inih has a function of the same name as one of ours, which is not called here.
#define ini_parse inih_parse
#include <ini.h>
#undef ini_parse
#include <string.h>

enum {
    FILE_SIZE_MAX = 1 << 20,
    LINE_LENGTH_MAX = 198, // inih's buffer holds 200 bytes, two of them for the ends.
    NAME_LENGTH_MAX = 49,  // Of a section or a key.
    VALUE_LENGTH_MAX = 189,
};

struct ini_parser {
    struct ini *ini;
    const char *rest; // What inih has not been given yet.
    const char *end;
    unsigned line;
    size_t entry_capacity;
    size_t section_capacity;
    size_t line_capacity;  // Of the sections' lines.
    struct table sections; // What is in the list of them: a file may have a hundred thousand.
    tapml_status status;   // Of the first failure.
    ini_problem_fn report; // Or NULL: the first failure ends it all.
    void *user;
    int is_lost; // The section that the entries stand in could not be read.
};

static const char *keep(struct ini_parser *parser, const char *text, size_t length)
{
    char *copy = arena_new(parser->ini->arena, length + 1);
    if (!copy) {
        parser->status = status_no_memory();
        return NULL;
    }
    memcpy(copy, text, length);
    return copy;
}

// Makes room in one of the two arrays; the grown array is in the arena, the old one stays there.
static int grow(struct ini_parser *parser, void *items, size_t *capacity, size_t count, size_t size)
{
    enum { FIRST_CAPACITY = 16 };
    if (count < *capacity) {
        return 1;
    }
    const size_t more = *capacity > 0 ? *capacity * 2 : FIRST_CAPACITY;
    void *grown = arena_array(parser->ini->arena, more, size);
    void *old = NULL;
    if (!grown) {
        parser->status = status_no_memory();
        return 0;
    }
    memcpy(&old, items, sizeof(old));
    if (old) {
        memcpy(grown, old, count * size);
    }
    memcpy(items, &grown, sizeof(grown));
    *capacity = more;
    return 1;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static tapml_status check_section(struct ini_parser *parser, const char *line, size_t length)
{
    struct ini *ini = parser->ini;
    const char *close = memchr(line, ']', length);
    const size_t name_length = close ? (size_t)(close - line) - 1 : 0;
    if (!close || name_length == 0) {
        return status_fail(TAPML_INVALID, "%s:%u: expected '[section]', found '%.*s'", ini->name,
                           parser->line, (int)length, line);
    }
    for (const char *at = close + 1; at < line + length && *at != ';' && *at != '#'; ++at) {
        if (!is_blank(*at)) {
            return status_fail(TAPML_INVALID, "%s:%u: expected nothing behind '%.*s', found '%.*s'",
                               ini->name, parser->line, (int)name_length + 2, line,
                               (int)(line + length - at), at);
        }
    }
    if (name_length > NAME_LENGTH_MAX) {
        return status_fail(TAPML_INVALID,
                           "%s:%u: expected a section name of at most %d bytes, found %zu",
                           ini->name, parser->line, NAME_LENGTH_MAX, name_length);
    }
    const char *name = keep(parser, line + 1, name_length);
    size_t known = 0;
    if (!name || table_find(&parser->sections, name, &known)) {
        return parser->status;
    }
    TAPML_TRY(table_set(&parser->sections, name, ini->section_count));
    if (grow(parser, &ini->sections, &parser->section_capacity, ini->section_count,
             sizeof(*ini->sections)) &&
        grow(parser, &ini->section_lines, &parser->line_capacity, ini->section_count,
             sizeof(*ini->section_lines))) {
        ini->section_lines[ini->section_count] = parser->line;
        ini->sections[ini->section_count++] = name;
    }
    return parser->status;
}

// Whether there is a '=' or ':' before the end of the line or a comment.
static int has_value(const char *line, size_t length)
{
    for (size_t i = 0; i < length && (line[i] != ';' || i == 0 || !is_blank(line[i - 1])); ++i) {
        if (line[i] == '=' || line[i] == ':') {
            return 1;
        }
    }
    return 0;
}

static int has_byte_order_mark(const char *line, size_t length)
{
    return length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0;
}

static tapml_status check_line(struct ini_parser *parser, const char *line, size_t length)
{
    const char *name = parser->ini->name;
    // inih would pass over a second one, and read a line that was not checked.
    if (parser->line == 1 && has_byte_order_mark(line, length)) {
        return status_fail(TAPML_INVALID, "%s:1: found a second byte order mark", name);
    }
    if (memchr(line, '\0', length)) {
        return status_fail(TAPML_INVALID, "%s:%u: found a zero byte", name, parser->line);
    }
    if (length > LINE_LENGTH_MAX) {
        return status_fail(TAPML_INVALID, "%s:%u: expected a line of at most %d bytes, found %zu",
                           name, parser->line, LINE_LENGTH_MAX, length);
    }
    size_t indent = 0;
    while (indent < length && is_blank(line[indent])) {
        ++indent;
    }
    const int has_text = indent < length && line[indent] != ';' && line[indent] != '#';
    if (has_text && indent > 0) {
        return status_fail(TAPML_INVALID, "%s:%u: expected no blank at the start of a line", name,
                           parser->line);
    }
    if (has_text && line[0] != '[' && !has_value(line, length)) {
        return status_fail(TAPML_INVALID,
                           "%s:%u: expected 'key = value' or '[section]', found '%.*s'", name,
                           parser->line, (int)length, line);
    }
    return has_text && line[0] == '[' ? check_section(parser, line, length) : TAPML_OK;
}

// Reports a failure and continues, if all of them are wanted.
static tapml_status reported(const struct ini_parser *parser, tapml_status status)
{
    if (status != TAPML_INVALID || !parser->report) {
        return status;
    }
    parser->report(parser->user, status_message());
    return TAPML_OK;
}

// Gives inih the next line, as fgets would, once it has been checked.
static char *next_line(char *buffer, int size, void *user)
{
    struct ini_parser *parser = user;
    if (parser->status != TAPML_OK || parser->rest == parser->end) {
        return NULL;
    }
    const char *line = parser->rest;
    if (parser->line == 0 && has_byte_order_mark(line, (size_t)(parser->end - line))) {
        line += 3;
    }
    const char *line_end = memchr(line, '\n', (size_t)(parser->end - line));
    parser->rest = line_end ? line_end + 1 : parser->end;
    ++parser->line;
    const size_t length = (size_t)((line_end ? line_end : parser->end) - line);
    const tapml_status status = check_line(parser, line, length);
    if (length > 0 && line[0] == '[') {
        parser->is_lost = status != TAPML_OK;
    }
    parser->status = reported(parser, status);
    if (parser->status != TAPML_OK) {
        return NULL;
    }
    if (status != TAPML_OK) {
        memcpy(buffer, "\n", 2);
        return buffer;
    }
    ASSERT(length + 2 <= (size_t)size); // Otherwise inih was built with a smaller buffer.
    memcpy(buffer, line, length);
    memcpy(buffer + length, "\n", 2);
    return buffer;
}

static tapml_status check_entry(const struct ini_parser *parser, const char *key, const char *value)
{
    const size_t key_length = strlen(key);
    if (key_length == 0 || key_length > NAME_LENGTH_MAX) {
        return status_fail(TAPML_INVALID, "%s:%u: expected a key of 1 to %d bytes, found %zu",
                           parser->ini->name, parser->line, NAME_LENGTH_MAX, key_length);
    }
    if (strlen(value) > VALUE_LENGTH_MAX) {
        return status_fail(TAPML_INVALID,
                           "%s:%u: expected a value of at most %d bytes for '%s', found %zu",
                           parser->ini->name, parser->line, VALUE_LENGTH_MAX, key, strlen(value));
    }
    return TAPML_OK;
}

// Answers as inih wants it: 0 is a failure.
static int add_entry(void *user, const char *section, const char *key, const char *value)
{
    struct ini_parser *parser = user;
    struct ini *ini = parser->ini;
    if (parser->is_lost) {
        return 1;
    }
    if (parser->status == TAPML_OK) {
        const tapml_status status = check_entry(parser, key, value);
        parser->status = reported(parser, status);
        if (parser->status == TAPML_OK && status != TAPML_OK) {
            return 1;
        }
    }
    if (parser->status != TAPML_OK ||
        !grow(parser, &ini->entries, &parser->entry_capacity, ini->count, sizeof(*ini->entries))) {
        return 0;
    }
    const struct ini_entry entry = {
        .section = keep(parser, section, strlen(section)),
        .key = keep(parser, key, strlen(key)),
        .value = keep(parser, value, strlen(value)),
        .line = parser->line,
    };
    if (parser->status != TAPML_OK) {
        return 0;
    }
    ini->entries[ini->count++] = entry;
    return 1;
}

static tapml_status parse_into(struct ini_parser *parser, const char *name)
{
    table_init(&parser->sections);
    parser->ini->name = keep(parser, name, strlen(name));
    const int bad_line =
        parser->status == TAPML_OK ? ini_parse_stream(next_line, parser, add_entry, parser) : 0;
    table_release(&parser->sections);
    TAPML_TRY(parser->status);
    if (bad_line != 0) {
        return status_fail(TAPML_INVALID, "%s:%d: expected 'key = value' or '[section]'", name,
                           bad_line);
    }
    return TAPML_OK;
}

static tapml_status parse(struct ini_parser parser, const char *name, struct ini *out_ini)
{
    struct ini ini = {.arena = arena_create()};
    if (!ini.arena) {
        return status_no_memory();
    }
    parser.ini = &ini;
    const tapml_status status = parse_into(&parser, name);
    if (status != TAPML_OK) {
        ini_release(&ini);
        return status;
    }
    *out_ini = ini;
    return TAPML_OK;
}

tapml_status ini_survey(const char *path, ini_problem_fn report, void *user, struct ini *out_ini)
{
    char *text = NULL;
    size_t size = 0;
    TAPML_TRY(file_read(path, FILE_SIZE_MAX, &text, &size));
    const struct ini_parser parser = {
        .rest = text, .end = text + size, .report = report, .user = user};
    const tapml_status status = parse(parser, path, out_ini);
    alloc_free(text);
    return status;
}

tapml_status ini_load(const char *path, struct ini *out_ini)
{
    return ini_survey(path, NULL, NULL, out_ini);
}

tapml_status ini_parse(const char *name, const char *text, size_t size, struct ini *out_ini)
{
    return parse((struct ini_parser){.rest = text, .end = text + size}, name, out_ini);
}

void ini_release(struct ini *ini)
{
    if (ini) {
        arena_destroy(ini->arena);
        *ini = (struct ini){0};
    }
}

const struct ini_entry *ini_find(const struct ini *ini, const char *section, const char *key)
{
    for (size_t i = ini->count; i > 0; --i) {
        const struct ini_entry *entry = &ini->entries[i - 1];
        if (strcmp(entry->section, section) == 0 && strcmp(entry->key, key) == 0) {
            return entry;
        }
    }
    return NULL;
}

const char *ini_get(const struct ini *ini, const char *section, const char *key)
{
    const struct ini_entry *entry = ini_find(ini, section, key);
    return entry ? entry->value : NULL;
}

int ini_has_section(const struct ini *ini, const char *section)
{
    for (size_t i = 0; i < ini->section_count; ++i) {
        if (strcmp(ini->sections[i], section) == 0) {
            return 1;
        }
    }
    return 0;
}
