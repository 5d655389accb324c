// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The comparison of the hand-made report with a changed copy of it.
#pragma once

#include "harness/report.h"
#include "report/comparison.h"

#include <string.h>

static inline json_t *compared_target(json_t *report)
{
    return json_array_get(json_object_get(report, "targets"), 0);
}

static inline json_t *compared_item(json_t *report, const char *list, size_t index)
{
    return json_array_get(json_object_get(compared_target(report), list), index);
}

static inline void compared_set(json_t *object, const char *key, json_t *value)
{
    cr_assert_eq(json_object_set_new(object, key, value), 0);
}

// Takes the reports over. The caller owns the comparison.
static inline json_t *compared_make(json_t *first, json_t *second)
{
    json_t *comparison = NULL;

    cr_assert_eq(comparison_create(&(struct comparison_side){"one", first},
                                   &(struct comparison_side){"two", second}, &comparison),
                 TAPML_OK);
    json_decref(first);
    json_decref(second);
    return comparison;
}

static inline json_int_t compared_count(const json_t *comparison, const char *kind)
{
    return json_integer_value(json_object_get(json_object_get(comparison, "counts"), kind));
}

// The only difference.
static inline const json_t *compared_only(const json_t *comparison)
{
    const json_t *differences = json_object_get(comparison, "differences");

    cr_assert_eq(json_array_size(differences), 1, "%zu differences", json_array_size(differences));
    return json_array_get(differences, 0);
}

static inline const char *compared_string(const json_t *difference, const char *key)
{
    const char *value = json_string_value(json_object_get(difference, key));

    return value != NULL ? value : "";
}
