// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_measures.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

// Three cases of two ops, by one comparer; one output cannot be told, one is beyond the limit.
static void make(struct verdict *verdicts, struct measured *measures)
{
    static const double values[] = {NAN, 2, 0.5};

    for (int i = 0; i < 3; i++) {
        measures[i] = (struct measured){.comparer = "org.example.a/<a> 1.0",
                                        .unit = "dB",
                                        .param = "y",
                                        .value = values[i],
                                        .limit = 1};
        verdicts[i] = (struct verdict){.op_name = i < 2 ? "tapml.silu" : "tapml.add",
                                       .instance = i == 1 ? "layers.1/act" : "layers.0/act",
                                       .measures = &measures[i],
                                       .measure_count = 1};
    }
}

Test(report_measures, each_comparer_and_op_has_its_worst)
{
    struct verdict verdicts[3];
    struct measured measures[3];
    struct report_measures found;

    make(verdicts, measures);
    const struct verdict_list list = {.items = verdicts, .count = 3};

    cr_assert_eq(report_measures_make(&list, &found), TAPML_OK);
    cr_assert_eq(found.count, 2u);
    cr_expect_str_eq(found.items[0].op, "tapml.silu");
    cr_expect_eq(found.items[0].outputs, 2u);
    cr_expect_eq(found.items[0].beyond, 1u);
    cr_expect_eq(found.items[0].worst, 2);
    cr_expect_str_eq(found.items[0].instance, "layers.1/act");
    cr_expect_eq(found.items[1].beyond, 0u);
    report_measures_release(&found);
}

Test(report_measures, all_views_have_them)
{
    struct verdict verdicts[3];
    struct measured measures[3];
    struct report_measures found;
    struct report_maker target = report_maker_begin();
    struct text text;

    make(verdicts, measures);
    const struct verdict_list list = {.items = verdicts, .count = 3};

    text_init(&text);
    cr_assert_eq(report_measures_make(&list, &found), TAPML_OK);
    report_measures_print(&found, &text);
    report_measures_release(&found);
    cr_expect_not_null(strstr(text.data, "layers.1/act, y (dB)"), "%s", text.data);
    report_measures_put(&list, &target);
    cr_assert_not(target.failed);
    const json_t *item = json_array_get(json_object_get(target.object, "measures"), 0);

    cr_expect_eq(json_integer_value(json_object_get(item, "beyond")), 1);
    cr_expect_eq(json_number_value(json_object_get(item, "worst")), 2);
    text_clear(&text);
    report_measures_print_html(target.object, &text);
    cr_expect_not_null(strstr(text.data, "org.example.a/&lt;a&gt; 1.0"), "%s", text.data);
    text_clear(&text);
    report_measures_print_lines(target.object, &text);
    cr_expect_str_eq(text.data, "org.example.a/<a> 1.0: 1 of 3 outputs beyond its limit, worst 2 "
                                "(dB) at layers.1/act, y\n");
    text_release(&text);
    json_decref(target.object);
}

Test(report_measures, none_are_nothing)
{
    const struct verdict_list list = {.count = 0};
    struct report_maker target = report_maker_begin();
    struct text text;

    text_init(&text);
    report_measures_put(&list, &target);
    cr_expect_eq(json_array_size(json_object_get(target.object, "measures")), 0u);
    report_measures_print_html(target.object, &text);
    cr_expect_eq(text.length, 0u);
    json_decref(target.object);
}
