// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/open_store.h"
#include "report/report_bottleneck.h"
#include "report/report_markup.h"
#include "store/stage.h"
#include "store/target.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(report_bottleneck, .init = open_store_begin, .fini = open_store_end);

static json_t *make(void)
{
    struct report_maker maker = report_maker_begin();

    MUST(report_bottleneck_put(store, &maker));
    MUST(report_maker_finish(&maker));
    return maker.object;
}

static void prints(const json_t *report,
                   void (*print)(const json_t *report, struct text *out),
                   const char *expected)
{
    struct text text;

    text_init(&text);
    print(report, &text);
    cr_expect(strstr(text.data, expected) != NULL, "%s", text.data);
    text_release(&text);
}

Test(report_bottleneck, a_store_without_rows_has_none)
{
    json_t *report = make();

    cr_expect_eq(json_object_size(report), 0u);
    prints(report, report_bottleneck_print, "does not say where the time");
    json_decref(report);
}

Test(report_bottleneck, the_worst_stage_is_named_with_what_can_be_set)
{
    static const struct stage_row rows[] = {
        {"replay", "read", 9, 8 << 20, 3000000000, 2900000000},
        {"derive", "other", 0, 0, 500000000, 0},
        {"pipeline", "store", 0, 2 << 20, 0, 0},
    };

    MUST(stage_write(store, STAGE_RUN, rows, 3));
    json_t *report = make();
    const json_t *part = json_object_get(report, "bottleneck");
    const json_t *remedy = json_object_get(part, "remedy");

    cr_expect_str_eq(report_markup_string(part, "stage"), "read");
    cr_expect_str_eq(report_markup_string(part, "bound"), "memory");
    cr_expect_str_eq(report_markup_string(remedy, "section"), "run");
    cr_expect_str_eq(report_markup_string(remedy, "key"), "cache");
    cr_expect_str_eq(report_markup_string(remedy, "value"), "3");
    cr_expect(json_is_false(json_object_get(remedy, "is_guess")));
    cr_expect_eq(json_array_size(json_object_get(part, "stages")), 3u);
    prints(report, report_bottleneck_print, "set [run] cache = 3");
    prints(report, report_bottleneck_print_html, "What the run waits for most");
    json_decref(report);
}
