// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_usage.h"

#include "base/arena.h"
#include "base/duration.h"
#include "report/report_markup.h"
#include "store/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SECOND_NS = 1e9;

// What all starts together have held of a place, at one rate after the other.
struct account {
    const char *place, *device;
    uint64_t starts, opened; // With a first call.
    uint64_t start_ns, busy_ns, held_ns, bytes, cases;
    int has_bytes;
    double money;     // NaN: some start had no rate, or one of another currency.
    struct rate rate; // Of the last start.
};

// -- Gathering ---------------------------------------------------------------------------------

static double money_of(const struct usage_row *row)
{
    return rate_cost(&row->rate, (double)row->held_ns / SECOND_NS);
}

static void add_start(const struct usage_row *row, struct account *account)
{
    const int is_other =
        account->starts > 0 && strcmp(account->rate.currency, row->rate.currency) != 0;

    account->place = row->place;
    account->device = row->device;
    account->starts++;
    account->opened += row->start_ns > 0;
    account->start_ns += row->start_ns > 0 ? (uint64_t)row->start_ns : 0;
    account->busy_ns += (uint64_t)row->busy_ns;
    account->held_ns += (uint64_t)row->held_ns;
    account->bytes += row->bytes > 0 ? (uint64_t)row->bytes : 0;
    account->has_bytes |= row->bytes >= 0;
    account->cases += (uint64_t)row->cases.count;
    account->money += is_other ? NAN : money_of(row);
    account->rate = row->rate;
}

// Money that is not known is null, as a margin is.
static json_t *put_money(double money)
{
    return report_maker_margin(money);
}

static void put_account(const struct account *account, json_t *places, struct report_maker *cost)
{
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "place", account->place);
    report_maker_text(&part, "device", account->device);
    report_maker_count(&part, "starts", account->starts);
    report_maker_put(&part, "start_ns",
                     account->opened > 0
                         ? json_integer((json_int_t)(account->start_ns / account->opened))
                         : json_null());
    report_maker_count(&part, "busy_ns", account->busy_ns);
    report_maker_count(&part, "held_ns", account->held_ns);
    report_maker_put(&part, "bytes",
                     account->has_bytes ? json_integer((json_int_t)account->bytes) : json_null());
    report_maker_count(&part, "replays", account->cases);
    report_maker_put(&part, "rate", put_money(account->rate.per_hour));
    report_maker_text(&part, "currency", account->rate.currency);
    report_maker_put(&part, "money", put_money(account->money));
    report_maker_append(cost, places, &part);
}

// What was paid in each currency, over the starts that had a rate.
static void put_totals(const struct usage_row *rows, size_t count, struct report_maker *cost)
{
    json_t *totals = json_array();

    for (size_t i = 0; i < count; i++) {
        struct report_maker part = report_maker_begin();
        double money = 0;
        int is_later = 0;

        for (size_t k = 0; k < count; k++) {
            const int is_same = rate_is_known(&rows[k].rate) &&
                                strcmp(rows[k].rate.currency, rows[i].rate.currency) == 0;

            is_later |= is_same && k < i;
            money += is_same ? money_of(&rows[k]) : 0;
        }
        if (is_later || !rate_is_known(&rows[i].rate)) {
            json_decref(part.object);
            continue;
        }
        report_maker_text(&part, "currency", rows[i].rate.currency);
        report_maker_put(&part, "money", put_money(money));
        report_maker_append(cost, totals, &part);
    }
    report_maker_put(cost, "totals", totals);
}

tapml_status report_usage_put(struct store *store, struct arena *arena, struct report_maker *report)
{
    struct report_maker cost = report_maker_begin();
    struct usage_row *rows = NULL;
    size_t count = 0;
    uint64_t held_ns = 0;
    const tapml_status status = usage_list(store, NULL, arena, &rows, &count);

    if (status != TAPML_OK || count == 0) {
        json_decref(cost.object);
        return status;
    }
    json_t *places = json_array();

    for (size_t i = 0; i < count;) { // They are ordered by place.
        struct account account = {.money = 0};

        for (const char *place = rows[i].place; i < count && strcmp(rows[i].place, place) == 0;
             i++) {
            add_start(&rows[i], &account);
        }
        held_ns += account.held_ns;
        put_account(&account, places, &cost);
    }
    report_maker_put(&cost, "places", places);
    report_maker_count(&cost, "held_ns", held_ns);
    put_totals(rows, count, &cost);
    report_maker_part(report, "cost", &cost);
    return TAPML_OK;
}

// -- Printing ----------------------------------------------------------------------------------

static void print_time(const json_t *object, const char *key, char out[DURATION_TEXT])
{
    duration_print(report_markup_number(object, key) / SECOND_NS, out);
}

static void print_money(const json_t *object, char out[RATE_TEXT])
{
    rate_print_money(report_markup_number(object, "money"),
                     report_markup_string(object, "currency"), out);
}

// "0.0085 USD and 0.2 EUR", or "".
static void print_totals(const json_t *cost, struct text *out)
{
    const json_t *totals = json_object_get(cost, "totals");

    for (size_t i = 0; i < json_array_size(totals); i++) {
        char money[RATE_TEXT];

        print_money(json_array_get(totals, i), money);
        text_format(out, "%s%s", i > 0 ? " and " : "", money);
    }
}

static void print_place(const json_t *place, struct text *out)
{
    const int64_t starts = report_markup_count(place, "starts");
    char held[DURATION_TEXT], busy[DURATION_TEXT], start[DURATION_TEXT], money[RATE_TEXT];
    char rate[RATE_TEXT];

    print_time(place, "held_ns", held);
    print_time(place, "busy_ns", busy);
    print_time(place, "start_ns", start);
    text_format(out, "cost: %s held for %s, with work for %s", report_markup_string(place, "place"),
                held, busy);
    if (!isnan(report_markup_number(place, "start_ns"))) {
        text_format(out, ", its start took %s", start);
    }
    if (starts > 1) {
        text_format(out, "; %" PRId64 " starts", starts);
    }
    if (!isnan(report_markup_number(place, "money"))) {
        struct rate known = {.per_hour = report_markup_number(place, "rate")};

        (void)snprintf(known.currency, sizeof(known.currency), "%s",
                       report_markup_string(place, "currency"));
        rate_print(&known, rate);
        print_money(place, money);
        text_format(out, "; %s at %s", money, rate);
    }
    text_append(out, "\n");
}

void report_usage_print(const json_t *report, struct text *out)
{
    const json_t *cost = json_object_get(report, "cost");
    const json_t *places = json_object_get(cost, "places");
    char held[DURATION_TEXT];

    for (size_t i = 0; i < json_array_size(places); i++) {
        print_place(json_array_get(places, i), out);
    }
    if (json_array_size(json_object_get(cost, "totals")) > 0) {
        print_time(cost, "held_ns", held);
        text_append(out, "cost: ");
        print_totals(cost, out);
        text_format(out, " in all, for %s of places\n", held);
    }
}

static void print_row(const json_t *place, struct text *out)
{
    char held[DURATION_TEXT], busy[DURATION_TEXT], start[DURATION_TEXT], money[RATE_TEXT];
    struct report_markup_shorts s;

    print_time(place, "held_ns", held);
    print_time(place, "busy_ns", busy);
    print_time(place, "start_ns", start);
    print_money(place, money);
    REPORT_MARKUP(out,
                  "<tr><td><bdi>{}</bdi></td><td><code>{}</code></td><td class=\"num\">{}</td><td "
                  "class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
                  "class=\"num\">{}</td><td class=\"num\">{}</td></tr>\n",
                  report_markup_string(place, "place"), report_markup_string(place, "device"),
                  report_markup_thousands_of(place, "starts", s.a),
                  isnan(report_markup_number(place, "start_ns")) ? "" : start, busy, held,
                  report_markup_thousands_of(place, "replays", s.b),
                  isnan(report_markup_number(place, "money")) ? "" : money);
}

void report_usage_print_html(const json_t *report, struct text *out)
{
    const json_t *cost = json_object_get(report, "cost");
    const json_t *places = json_object_get(cost, "places");
    struct text totals;

    if (json_array_size(places) == 0) {
        return;
    }
    text_init(&totals);
    print_totals(cost, &totals);
    REPORT_MARKUP(out,
                  "<section><h2>What it cost</h2>\n<p>{}{}</p>\n<table "
                  "class=\"list\"><thead><tr><th>place</th>"
                  "<th>device</th><th>starts</th><th>a start</th><th>with work</th><th>held</th>"
                  "<th>replays</th><th>money</th></tr></thead><tbody>\n",
                  totals.length > 0 ? totals.data
                                    : "The run's file has no rate, so only time is counted",
                  totals.length > 0 ? " in all." : ".");
    for (size_t i = 0; i < json_array_size(places); i++) {
        print_row(json_array_get(places, i), out);
    }
    text_append(out, "</tbody></table></section>\n");
    out->failed |= totals.failed;
    text_release(&totals);
}
