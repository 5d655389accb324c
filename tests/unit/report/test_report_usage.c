// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/open_store.h"
#include "report/report_markup.h"
#include "report/report_usage.h"
#include "store/row.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(report_usage, .init = open_store_begin, .fini = open_store_end);

static void execute(const char *sql)
{
    char *message = NULL;

    cr_assert_eq(sqlite3_exec(store_connection(store), sql, NULL, NULL, &message), SQLITE_OK, "%s",
                 message);
}

static json_t *make(void)
{
    struct report_maker made = report_maker_begin();

    MUST(report_usage_put(store, arena, &made));
    cr_assert_not(made.failed);
    return made.object;
}

// Two starts of `gpu`, for an hour and half of one, and one of the source without a rate.
static const char STARTS[] =
    "INSERT INTO run VALUES ('a', '', '', 1), ('b', '', '', 2);"
    "INSERT INTO usage VALUES"
    " ('a', 'gpu', 'cpu:0', '', 2, 'USD', 1, 2000000000, 3600000000000, 60000000000, 100, 80, 3,"
    "  1, 1, 1, 1, 0, 0),"
    " ('b', 'gpu', 'cpu:0', '', 3, 'USD', 2, 4000000000, 1800000000000, 60000000000, 20, 0, 0, 0,"
    "  0, 0, 0, 0, 0),"
    " ('a', 'source', 'reference:f32', '', NULL, '', 1, NULL, 3600000000000, 0, NULL, 0, 0, 0, 0,"
    "  0, 0, 0, 0);";

Test(report_usage, a_store_that_does_not_know_says_nothing)
{
    json_t *report = make();
    struct text text;

    text_init(&text);
    cr_expect_null(json_object_get(report, "cost"));
    report_usage_print(report, &text);
    report_usage_print_html(report, &text);
    cr_expect_eq(text.length, 0);
    text_release(&text);
    json_decref(report);
}

Test(report_usage, starts_of_a_place_are_added_up)
{
    execute(STARTS);
    json_t *report = make();
    const json_t *cost = json_object_get(report, "cost");
    const json_t *places = json_object_get(cost, "places");
    const json_t *gpu = json_array_get(places, 0), *source = json_array_get(places, 1);

    cr_assert_eq(json_array_size(places), 2);
    cr_expect_eq(report_markup_count(gpu, "starts"), 2);
    cr_expect_eq(report_markup_count(gpu, "start_ns"), 3000000000);
    cr_expect_eq(report_markup_count(gpu, "held_ns"), 5400000000000);
    cr_expect_eq(report_markup_count(gpu, "bytes"), 120);
    cr_expect_eq(report_markup_count(gpu, "replays"), 80);
    cr_expect_float_eq(report_markup_number(gpu, "money"), 3.5, 1e-9);
    cr_expect(json_is_null(json_object_get(source, "money")));
    cr_expect(json_is_null(json_object_get(source, "bytes")));
    cr_expect(json_is_null(json_object_get(source, "start_ns")));
    cr_expect_eq(report_markup_count(cost, "held_ns"), 9000000000000);
    cr_assert_eq(json_array_size(json_object_get(cost, "totals")), 1);
    json_decref(report);
}

Test(report_usage, money_is_told_where_there_is_a_rate)
{
    struct text text;

    execute(STARTS);
    json_t *report = make();

    text_init(&text);
    report_usage_print(report, &text);
    cr_expect(strstr(text.data,
                     "cost: gpu held for 1.5 h, with work for 2 min, its start took 3 s; "
                     "2 starts; 3.5 USD at 3 USD/h\n"),
              "%s", text.data);
    cr_expect(strstr(text.data, "cost: source held for 1 h, with work for 0 ms\n"), "%s",
              text.data);
    cr_expect(strstr(text.data, "cost: 3.5 USD in all, for 2.5 h of places\n"), "%s", text.data);
    text_clear(&text);
    report_usage_print_html(report, &text);
    cr_expect(strstr(text.data, "<h2>What it cost</h2>\n<p>3.5 USD in all."), "%s", text.data);
    cr_expect(strstr(text.data, "<bdi>gpu</bdi>"), "%s", text.data);
    text_release(&text);
    json_decref(report);
}

// Amounts of two currencies are two amounts.
Test(report_usage, currencies_are_not_added)
{
    struct text text;

    execute(STARTS);
    execute("UPDATE usage SET currency = 'EUR' WHERE run = 'b'");
    json_t *report = make();
    const json_t *cost = json_object_get(report, "cost");

    text_init(&text);
    report_usage_print(report, &text);
    cr_expect_eq(json_array_size(json_object_get(cost, "totals")), 2);
    cr_expect(
        json_is_null(json_object_get(json_array_get(json_object_get(cost, "places"), 0), "money")));
    cr_expect(strstr(text.data, "cost: 2 USD and 1.5 EUR in all"), "%s", text.data);
    text_release(&text);
    json_decref(report);
}

Test(report_usage, without_a_rate_time_alone_is_told)
{
    struct text text;

    execute(STARTS);
    execute("UPDATE usage SET rate = NULL, currency = ''");
    json_t *report = make();

    text_init(&text);
    report_usage_print(report, &text);
    cr_expect_null(strstr(text.data, "in all"), "%s", text.data);
    cr_expect_null(strstr(text.data, "USD"), "%s", text.data);
    report_usage_print_html(report, &text);
    cr_expect(strstr(text.data, "The run's file has no rate") ||
                  strstr(text.data, "The run&#39;s file has no rate"),
              "%s", text.data);
    text_release(&text);
    json_decref(report);
}
