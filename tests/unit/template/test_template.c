// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/rendering.h"
#include "../../harness/scratch.h"
#include "base/json_file.h"
#include "base/text.h"

// The template of a row: a text, or pieces of which some repeat.
static void write_template(const json_t *value, struct text *out)
{
    if (json_is_string(value)) {
        text_append(out, json_string_value(value));
    }
    for (size_t i = 0; i < json_array_size(value); ++i) {
        const json_t *piece = json_array_get(value, i);
        const json_int_t count =
            json_is_array(piece) ? json_integer_value(json_array_get(piece, 1)) : 1;
        for (json_int_t k = 0; k < count; ++k) {
            text_append(out,
                        json_string_value(json_is_array(piece) ? json_array_get(piece, 0) : piece));
        }
    }
}

static void check_row(const json_t *root, const json_t *row)
{
    const json_t *own = json_object_get(row, "variables");
    const char *expected = json_string_value(json_object_get(row, "expected"));
    const char *refused = json_string_value(json_object_get(row, "refused"));
    struct template *template = NULL;
    struct text source;
    char *text = NULL;
    size_t length = 0;
    text_init(&source);
    write_template(json_object_get(row, "template"), &source);
    tapml_status status = template_create("t", source.data, source.length, &template);
    if (status == TAPML_OK) {
        status = template_render(template, own ? own : json_object_get(root, "variables"),
                                 json_integer_value(json_object_get(root, "now")), &text, &length);
    }
    if (expected) {
        cr_assert_eq(status, TAPML_OK, "%.200s: %s", source.data, status_message());
        cr_assert_str_eq(text, expected, "%.200s", source.data);
    } else {
        cr_assert_eq(status, TAPML_INVALID, "%.200s", source.data);
        cr_assert_not_null(strstr(status_message(), refused), "%.200s: %s", source.data,
                           status_message());
    }
    alloc_free(text);
    template_destroy(template);
    text_release(&source);
}

Test(template, renders_as_jinja_does)
{
    json_t *root = NULL;
    const tapml_status status =
        json_file_load(scratch_source("tests/data/templates/cases.json"), &root);
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    const json_t *rows = json_object_get(root, "cases");
    cr_assert_gt(json_array_size(rows), 100);
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        check_row(root, json_array_get(rows, i));
    }
    json_decref(root);
}

#define LARGE_TEXTS "{% set a = 'x' * 8000000 %}{% set b = a[1:] ~ 'y' %}"

// What looks at megabytes takes more than a step.
Test(template, pays_for_what_it_looks_at)
{
    rendering_refused(LARGE_TEXTS "{% for i in range(99999) %}{% if a == b %}{% endif %}"
                                  "{% endfor %}",
                      "more than 10000000 steps");
    rendering_refused(LARGE_TEXTS "{% for i in range(99999) %}{% set c = a.removeprefix(b) %}"
                                  "{% endfor %}",
                      "more than 10000000 steps");
}

Test(template, refuses_keywords_without_end)
{
    enum { COUNT = 20000 };
    struct text source;
    text_init(&source);
    text_append(&source, "{% macro m(");
    for (int i = 0; i < COUNT; ++i) {
        text_format(&source, "a%d,", i);
    }
    text_append(&source, ") %}{% endmacro %}{{ m(");
    for (int i = 0; i < COUNT; ++i) {
        text_format(&source, "b%d=1,", i);
    }
    text_append(&source, ") }}");
    rendering_refused(source.data, "more than 10000000 steps");
    text_release(&source);
}

Test(template, gives_all_memory_back)
{
    const size_t before = alloc_live();
    char *text = NULL;
    rendering_is("{% for x in 'ab' %}{% set y %}{{ x }}{% endset %}{{ y }}{% endfor %}", NULL,
                 "ab");
    rendering_refused("{% for x in 'ab' %}{% set y %}{{ x.y.z }}{% endset %}{% endfor %}",
                      "undefined");
    for (size_t i = 1; i < 40; ++i) {
        alloc_fail_at(i);
        const tapml_status status =
            rendering_of("{% for x in 'ab' %}{{ x }}{% endfor %}", NULL, &text);
        alloc_fail_at(0);
        cr_assert(status == TAPML_OK || status == TAPML_NO_MEMORY);
        if (status == TAPML_OK) {
            alloc_free(text);
        }
    }
    cr_assert_eq(alloc_live(), before);
}
