// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/open_store.h"
#include "report/report_selection.h"
#include "store/metadata.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

TestSuite(report_selection, .init = open_store_begin, .fini = open_store_end);

static json_t *make(int64_t not_run)
{
    const struct report_rows rows = {.store = store, .target = {.name = "gpu"}};
    struct report_maker made = report_maker_begin();
    struct report_maker counts = report_maker_begin();

    report_maker_count(&counts, "not_run", (uint64_t)not_run);
    report_maker_part(&made, "counts", &counts);
    report_selection_put(&rows, &made);
    cr_assert_not(made.failed);
    return made.object;
}

static void print(const json_t *target, struct text *out)
{
    text_init(out);
    report_selection_print(target);
    report_selection_print_html(target, out);
    (void)fflush(stdout);
}

Test(report_selection, nothing_is_said_where_all_have_run)
{
    struct text text;
    json_t *target = make(0);
    const json_t *made = json_object_get(target, "selection");

    cr_redirect_stdout();
    print(target, &text);
    cr_expect_eq(text.length, 0);
    cr_expect_str_eq(json_string_value(json_object_get(made, "budget")), "");
    cr_expect(json_is_null(json_object_get(made, "share")));
    text_release(&text);
    json_decref(target);
}

Test(report_selection, what_is_not_run_is_counted_in_each_view)
{
    struct text text;

    MUST(metadata_set(store, "select.gpu", "60 of 1294 cases & more"));
    MUST(metadata_set(store, "select.gpu.budget", "60"));
    MUST(metadata_set(store, "select.gpu.share", "0.75"));
    json_t *target = make(1234);
    const json_t *made = json_object_get(target, "selection");

    cr_redirect_stdout();
    print(target, &text);
    cr_assert_stdout_eq_str("not run: 1234 kept cases: 60 of 1294 cases & more\n");
    cr_expect(strstr(text.data, "1,234 kept cases were not run"), "%s", text.data);
    cr_expect(strstr(text.data, "60 of 1294 cases &amp; more"), "%s", text.data);
    cr_expect_eq(json_real_value(json_object_get(made, "share")), 0.75);
    text_release(&text);
    json_decref(target);
}

Test(report_selection, what_a_later_case_lacks_runs_at_the_next_start)
{
    struct text text;
    json_t *target = make(2);

    cr_redirect_stdout();
    print(target, &text);
    cr_assert_stdout_eq_str("not run: 2 kept cases: the next start replays them\n");
    text_release(&text);
    json_decref(target);
}
