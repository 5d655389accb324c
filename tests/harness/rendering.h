// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Templates rendered within a test.
#pragma once

#include "base/alloc.h"
#include "template/template.h"

#include <criterion/criterion.h>
#include <string.h>

// Renders `source` with variables of JSON, or none. The caller frees `*out_text` on success.
static inline tapml_status rendering_of(const char *source, const char *variables, char **out_text)
{
    struct template *template = NULL;
    json_t *json = json_loads(variables ? variables : "{}", 0, NULL);
    size_t length = 0;
    cr_assert_not_null(json);
    tapml_status status = template_create("t", source, strlen(source), &template);
    if (status == TAPML_OK) {
        status = template_render(template, json, 0, out_text, &length);
    }
    if (status == TAPML_OK) {
        cr_assert_eq(strlen(*out_text), length);
    }
    template_destroy(template);
    json_decref(json);
    return status;
}

static inline void rendering_is(const char *source, const char *variables, const char *expected)
{
    char *text = NULL;
    cr_assert_eq(rendering_of(source, variables, &text), TAPML_OK, "%s: %s", source,
                 status_message());
    cr_assert_str_eq(text, expected, "%s: '%s'", source, text);
    alloc_free(text);
}

static inline void rendering_refused(const char *source, const char *part)
{
    char *text = NULL;
    cr_assert_eq(rendering_of(source, NULL, &text), TAPML_INVALID, "%s", source);
    cr_assert_not_null(strstr(status_message(), part), "%s: %s", source, status_message());
}
