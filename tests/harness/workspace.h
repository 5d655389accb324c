// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of templates share: a budget of their own, and texts of values.
#pragma once

#include "template/spelling.h"

#include <criterion/criterion.h>
#include <string.h>

struct workspace {
    struct arena *arena;
    struct budget budget;
};

static inline void workspace_open(struct workspace *workspace)
{
    workspace->arena = arena_create();
    cr_assert_not_null(workspace->arena);
    budget_init(&workspace->budget, workspace->arena);
}

static inline void workspace_close(struct workspace *workspace)
{
    arena_destroy(workspace->arena);
}

// Checks what a value is printed as.
static inline void
workspace_is(struct workspace *workspace, const struct datum *datum, const char *expected)
{
    struct datum text;
    cr_assert_eq(spelling_of(&workspace->budget, datum, &text), TAPML_OK, "%s", status_message());
    cr_assert(datum_is_word(&text, expected), "expected '%s', found '%.*s'", expected,
              (int)text.text.length, text.text.bytes);
}

// A value from JSON.
static inline struct datum workspace_datum(struct workspace *workspace, const char *text)
{
    struct datum datum;
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    cr_assert_not_null(json, "%s", text);
    cr_assert_eq(datum_from_json(&workspace->budget, json, &datum), TAPML_OK);
    json_decref(json);
    return datum;
}

// Checks that a call was refused with a sentence that has `part`.
static inline void workspace_refused(tapml_status status, const char *part)
{
    cr_assert_eq(status, TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), part), "%s", status_message());
}
