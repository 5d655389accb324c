// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/open_store.h"
#include "report/report_invariance.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>

TestSuite(report_invariance, .init = open_store_begin, .fini = open_store_end);

static struct invariant_row rows[] = {
    {.op = "tapml.add",
     .axis = "run",
     .verdict = "equal bits",
     .tried = 15,
     .instance = "",
     .shape = "",
     .margin = 0.5,
     .reason = ""},
    {.op = "tapml.linear",
     .axis = "run",
     .verdict = "equal bits",
     .tried = 15,
     .instance = "",
     .shape = "",
     .margin = 0.5,
     .reason = ""},
    {.op = "tapml.linear",
     .axis = "rows",
     .verdict = "within limits",
     .size = 8,
     .tried = 17,
     .instance = "layers.0/q",
     .shape = "rows=8",
     .margin = 0.25,
     .reason = ""},
    {.op = "tapml.linear",
     .axis = "order",
     .verdict = "wrong",
     .size = 2,
     .tried = 8,
     .instance = "layers.0/<q>",
     .shape = "x=[4,64]",
     .margin = 30,
     .reason = "y[0] is 2"},
    {.op = "tapml.linear",
     .axis = "chunk",
     .verdict = "not tried",
     .instance = "",
     .shape = "",
     .margin = NAN,
     .reason = "it has no states"},
};

static json_t *make(size_t count)
{
    const struct report_rows all = {.store = store, .invariants = rows, .invariant_count = count};
    struct report_maker made = report_maker_begin();

    report_invariance_put(&all, &made);
    cr_assert_not(made.failed);
    return made.object;
}

Test(report_invariance, where_nothing_is_asked_nothing_is_said)
{
    struct text text;
    json_t *target = make(0);

    text_init(&text);
    cr_assert_null(json_object_get(target, "invariance"));
    cr_assert_eq(report_invariance_count_wrong(target), 0u);
    report_invariance_print_html(target, &text);
    report_invariance_print_first(target, &text);
    cr_assert_eq(text.length, 0);
    text_release(&text);
    json_decref(target);
}

Test(report_invariance, what_changes_has_a_size)
{
    struct text text;
    json_t *target = make(5);
    const json_t *items = json_object_get(target, "invariance");

    cr_assert_eq(json_array_size(items), 5);
    cr_assert_null(json_object_get(json_array_get(items, 0), "size"));
    cr_assert_eq(json_integer_value(json_object_get(json_array_get(items, 2), "size")), 8);
    cr_assert_str_eq(json_string_value(json_object_get(json_array_get(items, 2), "unit")), "rows");
    cr_assert_eq(report_invariance_count_wrong(target), 1u);
    text_init(&text);
    report_invariance_print_html(target, &text);
    cr_assert_not_null(strstr(text.data, "layers.0/&lt;q&gt;"));
    cr_assert_not_null(strstr(text.data, "8 rows"));
    text_release(&text);
    text_init(&text);
    report_invariance_print_first(target, &text);
    cr_assert_str_eq(text.data, "order: tapml.linear is wrong with 2 queues busy, first at "
                                "layers.0/<q> (x=[4,64]): y[0] is 2");
    text_release(&text);
    json_decref(target);
}

Test(report_invariance, is_printed)
{
    json_t *target = make(5);

    cr_redirect_stdout();
    MUST(report_invariance_print(target));
    (void)fflush(stdout);
    cr_assert_stdout_eq_str(
        "invariance: run 2 equal bits; rows 1 within limits; order 1 wrong\n"
        "  rows: tapml.linear is within limits from 8 rows on, first at layers.0/q (rows=8)\n"
        "  order: tapml.linear is wrong with 2 queues busy, first at layers.0/<q> (x=[4,64]): y[0] "
        "is "
        "2\n");
    json_decref(target);
}
