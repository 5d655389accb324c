// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed.h"
#include "report/comparison_text.h"

#include <criterion/redirect.h>
#include <stdio.h>

static struct text text;

static void begin(void)
{
    text_init(&text);
}

static void end(void)
{
    text_release(&text);
}

TestSuite(comparison_text, .init = begin, .fini = end);

static json_t *compare_targets(const char *key, json_t *first_value, json_t *second_value)
{
    json_t *first = report_make(), *second = report_make();

    compared_set(compared_target(first), key, first_value);
    compared_set(compared_target(second), key, second_value);
    return compared_make(first, second);
}

Test(comparison_text, values_are_reported_as_people_read_them)
{
    json_t *comparison =
        compare_targets("plan", json_string("* -> gpu\na -> source\n"), json_string(""));

    comparison_text_value(compared_only(comparison), "first", &text);
    text_append(&text, " | ");
    comparison_text_value(compared_only(comparison), "second", &text);
    cr_assert_str_eq(text.data, "* -> gpu; a -> source | ''");
    json_decref(comparison);
    comparison = compare_targets("offload_ns", json_integer(1500000000), json_integer(12));
    text_clear(&text);
    comparison_text_value(compared_only(comparison), "first", &text);
    cr_assert_str_eq(text.data, "1.5 s");
    json_decref(comparison);
}

Test(comparison_text, a_place_is_target_list_and_item)
{
    json_t *second = report_make();

    compared_set(compared_target(second), "name", json_string("gpu"));
    json_t *first = json_deep_copy(second);

    compared_set(compared_item(second, "cases", 2), "margin", json_real(3));
    json_t *comparison = compared_make(first, second);

    comparison_text_place(compared_only(comparison), &text);
    cr_assert_str_eq(text.data, "gpu: cases: layers.0/b, decode");
    json_decref(comparison);
}

Test(comparison_text, the_sentence_counts)
{
    json_t *comparison = compared_make(report_make(), report_make());

    comparison_text_sentence(comparison, &text);
    cr_assert_str_eq(text.data, "The runs are alike (no difference at all).");
    json_decref(comparison);
    comparison = compare_targets("verdict", json_string("right"), json_string("wrong"));
    text_clear(&text);
    comparison_text_sentence(comparison, &text);
    cr_assert_str_eq(text.data, "The runs differ (verdicts: 1).");
    json_decref(comparison);
}

Test(comparison_text, a_kind_has_a_title_and_its_first_lines, .init = cr_redirect_stdout)
{
    json_t *first = report_make(), *second = report_make();
    json_t *weights = json_object();

    for (int i = 0; i < 30; i++) {
        char name[16];

        snprintf(name, sizeof(name), "t%d", i);
        compared_set(weights, name, json_integer(i));
    }
    compared_set(json_object_get(second, "model"), "weight_bytes", weights);
    compared_set(json_object_get(first, "model"), "weight_bytes", json_object());
    json_t *comparison = compared_make(first, second);

    cr_assert_eq(comparison_text_print(comparison), TAPML_OK);
    (void)fflush(stdout);
    json_decref(comparison);
    char printed[8192] = "";
    FILE *out = cr_get_redirected_stdout();
    const size_t size = fread(printed, 1, sizeof(printed) - 1, out);

    cr_assert_gt(size, 0);
    cr_expect_not_null(strstr(printed, "first: one (run run-"));
    cr_expect_not_null(
        strstr(printed, "\nsettings: 30\n  run: model.weight_bytes.t0: none -> 0\n"));
    cr_expect_null(strstr(printed, "weight_bytes.t20"));
    cr_expect_not_null(strstr(printed, "and 10 more"));
}

Test(comparison_text, several_runs_are_named_and_one_alone_is, .init = cr_redirect_stdout)
{
    struct changed changed;
    char printed[8192] = "";

    changed_begin(&changed, 3);
    json_t *comparison = changed_make(&changed, NULL);

    cr_assert_eq(comparison_text_print(comparison), TAPML_OK);
    json_decref(comparison);
    changed.count = 1;
    comparison = changed_make(&changed, NULL);
    cr_assert_eq(comparison_text_print(comparison), TAPML_OK);
    (void)fflush(stdout);
    const size_t size = fread(printed, 1, sizeof(printed) - 1, cr_get_redirected_stdout());

    cr_assert_gt(size, 0);
    cr_expect_not_null(strstr(printed, "between: run1 (run run-"));
    cr_expect_not_null(strstr(printed, "Failures: 2 as before.\n"));
    const char *alone = strstr(printed, "\nrun: run0 (run run-");

    cr_assert_not_null(alone);
    cr_expect_null(strstr(alone, "The runs are alike"));
    cr_expect_not_null(strstr(alone, "Failures: 2 new.\n"));
    json_decref(comparison);
    changed.count = 3;
    changed_end(&changed);
}
