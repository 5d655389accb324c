// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Copies of the hand-made report as several runs, and what they say together.
#pragma once

#include "harness/compared.h"
#include "report/changes.h"

enum { CHANGED_RUNS = 5 };

struct changed {
    json_t *reports[CHANGED_RUNS];
    struct comparison_side sides[CHANGED_RUNS];
    size_t count;
};

// So many runs, all alike, in folders "run0", "run1" ...
static inline void changed_begin(struct changed *changed, size_t count)
{
    static const char *const names[CHANGED_RUNS] = {"run0", "run1", "run2", "run3", "run4"};

    changed->count = count;
    for (size_t i = 0; i < count; i++) {
        changed->reports[i] = report_make();
        changed->sides[i] = (struct comparison_side){names[i], changed->reports[i]};
    }
}

// Twice is allowed.
static inline void changed_end(struct changed *changed)
{
    for (size_t i = 0; i < changed->count; i++) {
        json_decref(changed->reports[i]);
    }
    changed->count = 0;
}

// The case that passes in the hand-made report is 2.
static inline json_t *changed_case(const struct changed *changed, size_t run, size_t index)
{
    return compared_item(changed->reports[run], "cases", index);
}

static inline void
changed_set(const struct changed *changed, size_t run, size_t index, const char *verdict)
{
    compared_set(changed_case(changed, run, index), "verdict", json_string(verdict));
}

// As the command makes it: a comparison with the member `changes`. The caller owns it.
static inline json_t *changed_make(const struct changed *changed, struct baseline *baseline)
{
    const struct changes_options options = {changed->sides, changed->count, baseline,
                                            baseline != NULL ? "known.ini" : NULL};
    json_t *comparison = NULL, *changes = NULL;

    cr_assert_eq(
        comparison_create(&changed->sides[0], &changed->sides[changed->count - 1], &comparison),
        TAPML_OK);
    cr_assert_eq(changes_create(&options, &changes), TAPML_OK, "%s", status_message());
    compared_set(comparison, "changes", changes);
    return comparison;
}

static inline const json_t *changed_changes(const json_t *comparison)
{
    return json_object_get(comparison, "changes");
}

static inline const json_t *changed_at(const json_t *comparison, const char *list, size_t index)
{
    const json_t *items = json_object_get(changed_changes(comparison), list);

    cr_assert_lt(index, json_array_size(items), "%zu items in '%s'", json_array_size(items), list);
    return json_array_get(items, index);
}

static inline size_t changed_count(const json_t *comparison, const char *list)
{
    return json_array_size(json_object_get(changed_changes(comparison), list));
}
