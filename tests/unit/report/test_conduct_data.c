// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "report/conduct_data.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct element element = {
    .param = "y", .place = "1, 2", .expected = 1.5, .computed = INFINITY};

static const struct verdict failure = {.instance = "layers.0/silu",
                                       .phase = "prefill",
                                       .source = "shape",
                                       .label = "rows=1",
                                       .output = "y",
                                       .reason = "y[1, 2] is inf, expected 1.5",
                                       .margin = INFINITY,
                                       .elements = {.items = &element, .count = 1}};

static struct conduct_result result = {.kind = CONDUCT_SHAPES,
                                       .why = "every case of a kept shape passes: y[1, 2] is inf",
                                       .kept = 3,
                                       .derived = 20,
                                       .failed = 2,
                                       .calls = 25,
                                       .failure = &failure,
                                       .shape = "x=[1,3]"};

static json_t *make(int hides_cases)
{
    json_t *document = NULL;

    cr_assert_eq(conduct_data_create(&(struct conduct_data){.file = "k.so",
                                                            .op = "tapml.silu",
                                                            .backend = "function",
                                                            .hides_cases = hides_cases,
                                                            .result = &result},
                                     &document),
                 TAPML_OK);
    return document;
}

static char *print(const json_t *document)
{
    struct text text;

    text_init(&text);
    conduct_data_print(document, &text);
    cr_assert_eq(text_status(&text), TAPML_OK);
    return text.data;
}

Test(conduct_data, a_failure_has_its_case_and_its_elements)
{
    json_t *document = make(0);
    const json_t *made = json_object_get(document, "failure");
    const json_t *first = json_array_get(json_object_get(made, "elements"), 0);
    char *text = print(document);

    cr_expect_str_eq(json_string_value(json_object_get(document, "verdict")),
                     "right at the shown shapes only");
    cr_expect_str_eq(json_string_value(json_object_get(first, "index")), "1, 2");
    cr_expect(json_is_null(json_object_get(first, "computed")), "infinity is no number of JSON");
    cr_expect(json_is_null(json_object_get(document, "times")));
    cr_expect_eq(
        strncmp(text, "tapml.silu: right at the shown shapes only: every case of a kept", 64), 0,
        "%s", text);
    cr_expect_not_null(strstr(text, "layers.0/silu, prefill, shape rows=1\n  x=[1,3]\n"), "%s",
                       text);
    alloc_free(text);
    json_decref(document);
}

// Whoever writes kernels by such a verdict is not to fit the cases.
Test(conduct_data, values_can_be_hidden)
{
    json_t *document = make(1);
    char *json = json_dumps(document, 0);
    char *text = print(document);

    cr_expect_not_null(strstr(json, "rows=1"), "%s", json);
    cr_expect_null(strstr(json, "1.5"), "%s", json);
    cr_expect_null(strstr(json, "inf"), "%s", json);
    cr_expect_null(strstr(text, "inf"), "%s", text);
    free(json);
    alloc_free(text);
    json_decref(document);
}

Test(conduct_data, what_is_right_has_times)
{
    struct conduct_result right = {.kind = CONDUCT_RIGHT,
                                   .why = "",
                                   .cold_ns = 5000,
                                   .warm_ns = 3000,
                                   .copy_ns = 100,
                                   .written_bytes = 64};
    json_t *document = NULL;

    cr_assert_eq(
        conduct_data_create(&(struct conduct_data){"k.so", "tapml.silu", "function", 0, &right},
                            &document),
        TAPML_OK);
    char *text = print(document);

    cr_expect_eq(strncmp(text, "tapml.silu: right\n", 18), 0, "%s", text);
    cr_expect_not_null(strstr(text, "first call 5.0 us, later ones 3.0 us; a copy of the 64 bytes"),
                       "%s", text);
    alloc_free(text);
    json_decref(document);
}
