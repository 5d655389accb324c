// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The events of a timeline's file, as tests read them.
#pragma once

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

// The file is whole at any moment.
static inline json_t *events_read(const char *path)
{
    json_error_t error;
    json_t *events = json_load_file(path, 0, &error);
    cr_assert_not_null(events, "line %d: %s", error.line, error.text);
    cr_assert(json_is_array(events));
    return events;
}

static inline const char *events_text(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static inline double events_number(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

static inline int64_t events_argument(const json_t *event, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(event, "args"), key));
}

// Those of a phase, "X" or "C"; with that name, or NULL.
static inline size_t events_count(const json_t *events, const char *phase, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        count += strcmp(events_text(event, "ph"), phase) == 0 &&
                 (!name || strcmp(events_text(event, "name"), name) == 0);
    }
    return count;
}

// The last one of a name, which has to be there.
static inline const json_t *events_find(const json_t *events, const char *name)
{
    const json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        found = strcmp(events_text(event, "name"), name) == 0 ? event : found;
    }
    cr_assert_not_null(found, "no event '%s'", name);
    return found;
}
