// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/name_pattern.h"

#include "base/arena.h"

#include <string.h>

int name_pattern_is_open(const char *pattern)
{
    return strchr(pattern, '*') != NULL;
}

// Whether `name` is the pattern with a part of `length` bytes at `part` in each place.
static int is_filled(const char *pattern, const char *name, const char *part, size_t length)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '*') {
            if (*name++ != *pattern) {
                return 0;
            }
        } else if (strncmp(name, part, length) == 0) {
            name += length;
        } else {
            return 0;
        }
    }
    return *name == '\0';
}

int name_pattern_match(const char *pattern, const char *name, char out_part[NAME_PATTERN_PART])
{
    const char *star = strchr(pattern, '*');
    const size_t before = star != NULL ? (size_t)(star - pattern) : 0;
    size_t stars = 1;

    out_part[0] = '\0';
    if (star == NULL) {
        return strcmp(pattern, name) == 0;
    }
    for (const char *at = star + 1; *at != '\0'; at++) {
        stars += *at == '*';
    }
    // Its length follows from those of both.
    const size_t fixed = strlen(pattern) - stars, whole = strlen(name);

    if (whole < fixed + stars || (whole - fixed) % stars != 0) {
        return 0;
    }
    const size_t length = (whole - fixed) / stars;

    if (length >= NAME_PATTERN_PART || !is_filled(pattern, name, name + before, length)) {
        return 0;
    }
    memcpy(out_part, name + before, length);
    out_part[length] = '\0';
    return 1;
}

const char *name_pattern_fill(struct arena *arena, const char *pattern, const char *part)
{
    const size_t length = strlen(part);
    size_t bytes = 1;

    for (const char *at = pattern; *at != '\0'; at++) {
        bytes += *at == '*' ? length : 1;
    }
    char *name = arena_new(arena, bytes);
    char *to = name;

    if (name == NULL) {
        return NULL;
    }
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '*') {
            memcpy(to, part, length);
            to += length;
        } else {
            *to++ = *at;
        }
    }
    return name;
}
