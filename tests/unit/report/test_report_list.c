// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_list.h"
#include "report/report_markup.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>

struct dish {
    const char *name;
    uint64_t grams;
    double margin;
    int is_sold;
};

static int is_sold(const void *item)
{
    return ((const struct dish *)item)->is_sold;
}

static json_t *make_letter(const void *item)
{
    return json_stringn(((const struct dish *)item)->name, 1);
}

static void print_name(const json_t *item, const char *key, struct text *out)
{
    REPORT_MARKUP(out, "<td>{}</td>", report_markup_string(item, key));
}

static const char *word_of_name(const json_t *item, const char *key, char *out)
{
    (void)out;
    return report_markup_string(item, key);
}

static const char *word_of_grams(const json_t *item, const char *key, char *out)
{
    return report_markup_thousands_of(item, key, out);
}

static const struct report_member members[] = {
    {"name", REPORT_VALUE(struct dish, name)},
    {"grams", REPORT_VALUE(struct dish, grams), .is_there = is_sold},
    {"margin", REPORT_VALUE(struct dish, margin)},
    {"letter", REPORT_MADE, .make = make_letter},
};
static const struct report_cell cells[] = {{"dish of {}", 0, "name", print_name},
                                           {"letter", 1, "letter", print_name}};
static const struct report_word words[] = {{"dish", -6, "name", word_of_name},
                                           {"g", 5, "grams", word_of_grams}};
static const struct report_list list = {members, 4, cells, 2, words, 2, NULL};

static json_t *make(const char *name, uint64_t grams, double margin, int sold)
{
    const struct report_maker made =
        report_list_make(&list, &(struct dish){name, grams, margin, sold});

    cr_assert_eq(report_maker_finish(&made), TAPML_OK);
    return made.object;
}

Test(report_list, an_item_has_the_members_that_are_there)
{
    json_t *sold = make("soup", 1200, 0.5, 1), *other = make("<b>", 0, NAN, 0);
    char *first = json_dumps(sold, JSON_COMPACT), *second = json_dumps(other, JSON_COMPACT);

    cr_expect_str_eq(first, "{\"name\":\"soup\",\"grams\":1200,\"margin\":0.5,\"letter\":\"s\"}");
    cr_expect_str_eq(second, "{\"name\":\"<b>\",\"margin\":null,\"letter\":\"<\"}");
    free(first);
    free(second);
    json_decref(sold);
    json_decref(other);
}

Test(report_list, the_page_has_headings_cells_and_words)
{
    json_t *item = make("<b>", 0, NAN, 0);
    struct text out;

    text_init(&out);
    report_list_print_headings(&list, "a&b", &out);
    cr_expect_str_eq(out.data, "<th scope=\"col\">dish of a&amp;b</th>"
                               "<th scope=\"col\" class=\"num\">letter</th>");
    text_clear(&out);
    report_list_print_cells(&list, item, &out);
    cr_expect_str_eq(out.data, "<td>&lt;b&gt;</td><td>&lt;</td>");
    text_clear(&out);
    report_list_print_phrase(&list, item, &out);
    cr_expect_str_eq(out.data, "<td>&lt;b&gt;</td>, <td>&lt;</td>");
    text_release(&out);
    json_decref(item);
}

Test(report_list, the_text_has_a_line_for_each_item)
{
    json_t *items = json_array();

    cr_redirect_stdout();
    cr_assert_eq(json_array_append_new(items, make("soup", 1200, 0.5, 1)), 0);
    cr_assert_eq(json_array_append_new(items, make("a long dish", 7, 0.5, 1)), 0);
    report_list_print_lines(&list, items, 0);
    (void)fflush(stdout);
    cr_assert_stdout_eq_str("dish            g\nsoup        1,200\na long dish     7\n");
    json_decref(items);
}
