// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/open_store.h"
#include "report/report_declared.h"
#include "store/declaration.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

TestSuite(report_declared, .init = open_store_begin, .fini = open_store_end);

// A target with two ops, one of which it declares something of.
static json_t *make(const char *form)
{
    struct verdict verdicts[] = {{.op_name = "tapml.linear", .op_version = 1},
                                 {.op_name = "tapml.silu", .op_version = 1}};
    struct report_rows rows = {.store = store, .target = {.name = "gpu"}};
    struct report_line items[] = {{.op_name = "tapml.linear", .cases = 4, .margin = 0.25},
                                  {.op_name = "tapml.silu", .cases = 4, .margin = 0.5}};
    const struct report_lines lines = {.items = items, .count = 2};
    struct report_maker made = report_maker_begin();

    rows.verdicts.items = verdicts;
    rows.verdicts.count = 2;
    if (form != NULL) {
        MUST(declaration_note(store,
                              &(struct declaration){"gpu", "tapml.linear", 1, form, 0.00390625}));
    }
    report_declared_put(&rows, &lines, &made);
    cr_assert_not(made.failed);
    return made.object;
}

Test(report_declared, nothing_declared_is_nothing_shown)
{
    struct text text;

    json_t *target = make(NULL);

    text_init(&text);
    cr_assert_null(json_object_get(target, "declared"));
    report_declared_print_html(target, &text);
    cr_assert_eq(text.length, 0);
    text_release(&text);
    json_decref(target);
}

Test(report_declared, has_both_columns)
{
    struct text text;
    json_t *target = make("inputs <q8>");
    const json_t *item = json_array_get(json_object_get(target, "declared"), 0);

    cr_assert_eq(json_array_size(json_object_get(target, "declared")), 1);
    cr_assert_str_eq(json_string_value(json_object_get(item, "form")), "inputs <q8>");
    cr_assert_str_eq(json_string_value(json_object_get(item, "verdict")), "right");
    cr_assert_eq(json_real_value(json_object_get(item, "cost")), 0.00390625);
    text_init(&text);
    report_declared_print_html(target, &text);
    cr_assert_not_null(strstr(text.data, "<td>inputs &lt;q8&gt;</td><td>right</td>"));
    cr_assert_not_null(strstr(text.data, ">0.00391</td>"));
    text_release(&text);
    json_decref(target);
}

Test(report_declared, is_printed)
{
    json_t *target = make("inputs q8");

    cr_redirect_stdout();
    report_declared_print(target, 0);
    (void)fflush(stdout);
    cr_assert_stdout_eq_str(
        "op                       declared arithmetic                      as declared    margin "
        "error to f32\n"
        "tapml.linear             inputs q8                                right            0.25 "
        "     0.00391\n");
    json_decref(target);
}
