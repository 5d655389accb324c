// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/name_map.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "dump/name_pattern.h"

#include <string.h>

enum { NAMES_BYTES_MAX = 1 << 22 };

void name_map_release(struct name_map *map)
{
    alloc_free(map->rows);
    arena_destroy(map->arena);
    *map = (struct name_map){0};
}

static char *take_word(char **io_at)
{
    char *word = *io_at + strspn(*io_at, " \t\r");
    char *end = word + strcspn(word, " \t\r");

    *io_at = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

static tapml_status read_line(struct name_map *map, const char *name, size_t line, char *text)
{
    void *rows = map->rows;
    char *remark = strchr(text, '#');

    if (remark != NULL) {
        *remark = '\0';
    }
    const char *first = take_word(&text);
    const char *second = take_word(&text);

    if (*first == '\0') {
        return TAPML_OK;
    }
    if (*second == '\0' || *take_word(&text) != '\0' ||
        (name_pattern_is_open(second) && !name_pattern_is_open(first))) {
        return status_fail(TAPML_INVALID, "%s:%zu: expected two names, '*' in both or in the first",
                           name, line);
    }
    if (!alloc_grow(&rows, &map->capacity, map->count, sizeof(*map->rows))) {
        return status_no_memory();
    }
    map->rows = rows;
    map->rows[map->count++] = (struct name_map_row){first, second};
    return TAPML_OK;
}

static tapml_status parse(struct name_map *map, const char *name, const char *text, size_t size)
{
    size_t line = 0;

    if (map->arena == NULL) {
        return status_no_memory();
    }
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        char *copy = arena_new(map->arena, length + 1);

        if (copy == NULL) {
            return status_no_memory();
        }
        memcpy(copy, text + at, length);
        TAPML_TRY(read_line(map, name, ++line, copy));
        at += length + 1;
    }
    return TAPML_OK;
}

tapml_status
name_map_parse(const char *name, const char *text, size_t size, struct name_map *out_map)
{
    struct name_map map = {.arena = arena_create()};
    const tapml_status status = parse(&map, name, text, size);

    if (status != TAPML_OK) {
        name_map_release(&map);
        return status;
    }
    *out_map = map;
    return TAPML_OK;
}

tapml_status name_map_load(const char *path, struct name_map *out_map)
{
    char *text = NULL;
    size_t size = 0;

    TAPML_TRY(file_read(path, NAMES_BYTES_MAX, &text, &size));
    const tapml_status status = name_map_parse(path, text, size, out_map);

    alloc_free(text);
    return status;
}

const char *name_map_find(const struct name_map *map, struct arena *arena, const char *name)
{
    char part[NAME_PATTERN_PART];

    for (size_t i = 0; i < map->count; i++) {
        if (name_pattern_match(map->rows[i].first, name, part)) {
            return name_pattern_fill(arena, map->rows[i].second, part);
        }
    }
    return name;
}
