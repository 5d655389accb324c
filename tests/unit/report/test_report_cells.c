// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_cells.h"
#include "report/report_markup.h"

#include <criterion/criterion.h>
#include <string.h>

static struct text text;
static json_t *item;

static void begin(void)
{
    text_init(&text);
    item = json_pack("{s:s,s:s,s:i,s:f,s:s,s:i}", "text", "<b>", "op", "tapml.silu", "count", 12345,
                     "number", 0.12345, "infinite", "Infinity", "time_ns", 1500000);
    cr_assert_not_null(item);
}

static void end(void)
{
    text_release(&text);
    json_decref(item);
}

TestSuite(report_cells, .init = begin, .fini = end);

static void prints(void (*print)(const json_t *item, const char *key, struct text *out),
                   const char *key,
                   const char *expected)
{
    text_clear(&text);
    print(item, key, &text);
    cr_assert_eq(text_status(&text), TAPML_OK);
    cr_expect_str_eq(text.data, expected);
}

Test(report_cells, a_strangers_text_is_escaped)
{
    prints(report_cells_text, "text", "<td>&lt;b&gt;</td>");
    prints(report_cells_code, "text", "<td><code>&lt;b&gt;</code></td>");
    prints(report_cells_op, "op", "<td>silu</td>");
    prints(report_cells_op_code, "op", "<td><code>silu</code></td>");
}

Test(report_cells, numbers_are_sorted_as_such)
{
    prints(report_cells_count, "count", "<td class=\"num\">12,345</td>");
    prints(report_cells_number, "number", "<td class=\"num\" data-n=\"0.123\">0.123</td>");
    prints(report_cells_margin, "infinite",
           "<td class=\"num\" data-n=\"1e+300\">\xe2\x88\x9e</td>");
    prints(report_cells_time, "time_ns", "<td class=\"num\" data-n=\"1500000\">1.5 ms</td>");
}

Test(report_cells, words_are_of_the_item)
{
    char out[REPORT_MARKUP_SHORT];

    cr_expect_str_eq(report_cells_word_text(item, "text", out), "<b>");
    cr_expect_str_eq(report_cells_word_count(item, "count", out), "12345");
    cr_expect_str_eq(report_cells_word_number(item, "number", out), "0.123");
    cr_expect_str_eq(report_cells_word_number(item, "none", out), "0");
}
