// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/cost_output.h"

#include "base/duration.h"
#include "base/json_file.h"
#include "report/report_maker.h"

#include <math.h>
#include <stdio.h>

enum { AMOUNT_TEXT = 64, TABLE_ROWS = 16 };

// -- Text --------------------------------------------------------------------------------------

// Of a run: money, or without a rate the time of all members.
static const char *print_amount(const struct cost_answer *answer,
                                const struct pool_option *option,
                                char out_text[AMOUNT_TEXT])
{
    if (answer->has_rate) {
        rate_print_money(option->cost, answer->rates[POOL_ON_DEMAND].currency, out_text);
    } else {
        char held[DURATION_TEXT];

        duration_print(option->held_s, held);
        (void)snprintf(out_text, AMOUNT_TEXT, "%s of places", held);
    }
    return out_text;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_option(const struct cost_answer *answer, enum pool_kind kind, struct text *out)
{
    const struct pool_option *option = &answer->cost.best[kind];
    char time[DURATION_TEXT], amount[AMOUNT_TEXT];

    duration_print(option->time_s, time);
    text_format(out, "%zu member%s %s: a run takes %s and costs %s\n", option->members,
                plural(option->members), pool_cost_kind_name(kind), time,
                print_amount(answer, option, amount));
}

static void print_refusal(const struct cost_answer *answer, struct text *out)
{
    const size_t most = answer->input.most;
    const struct pool_option resident = pool_cost_option(&answer->input, POOL_RESIDENT, most);
    const struct pool_option on_demand = pool_cost_option(&answer->input, POOL_ON_DEMAND, most);
    char deadline[DURATION_TEXT], kept[DURATION_TEXT], opened[DURATION_TEXT];

    duration_print(answer->input.deadline_s, deadline);
    duration_print(resident.time_s, kept);
    duration_print(on_demand.time_s, opened);
    text_format(out,
                "no pool of up to %zu members meets %s: with so many a run takes %s on resident "
                "ones, %s on demand\n",
                most, deadline, kept, opened);
}

static void print_choice(const struct cost_answer *answer, struct text *out)
{
    const struct pool_cost *cost = &answer->cost;
    const enum pool_kind other = cost->kind == POOL_RESIDENT ? POOL_ON_DEMAND : POOL_RESIDENT;

    if (!cost->has_choice) {
        print_refusal(answer, out);
        return;
    }
    print_option(answer, cost->kind, out);
    if (cost->best[other].members > 0) {
        text_append(out, "else ");
        print_option(answer, other, out);
    } else {
        text_format(out, "else none: no pool of up to %zu members %s is fast enough\n",
                    answer->input.most, pool_cost_kind_name(other));
    }
}

static void print_prediction(const struct cost_answer *answer, struct text *out)
{
    const struct case_price *price = &answer->price;
    char work[DURATION_TEXT], call[DURATION_TEXT], transfer[DURATION_TEXT], host[DURATION_TEXT];
    char start[DURATION_TEXT], firsts[DURATION_TEXT];

    duration_print(price->work_s, work);
    duration_print(price->call_s, call);
    duration_print(price->transfer_s, transfer);
    duration_print(price->host_s, host);
    duration_print(answer->input.start_s - price->firsts_s, start);
    duration_print(price->firsts_s, firsts);
    text_format(out,
                "\npredicted on '%s': %zu cases take %s on one member; a case %s for its call, %s "
                "for transfer, %s on the host%s\n",
                answer->target, price->count, work, call, transfer, host,
                price->is_host_assumed ? ", which is assumed: no start has replayed without limits "
                                         "to measure"
                                       : "");
    if (price->predicted > 0) {
        text_format(out,
                    "calls: %zu of them were not measured%s; of times that the predictor had not "
                    "seen half are within a factor of %.2f\n",
                    price->predicted,
                    price->is_of_source ? " on it, and are those of the source" : "",
                    price->factor);
    }
    if (answer->is_start_given) {
        text_format(out, "start: %s, as given", start);
    } else {
        text_format(out, "start: %s, the median of %zu on %s", start, price->starts, price->device);
    }
    if (price->firsts_s > 0) {
        text_format(out, ", and %s for the first cases of %zu operators", firsts, price->ops);
    }
    text_append(out, "\n");
}

// One, two, and then half as many again up to the most, so that a large pool is a short table.
static size_t next_row(size_t members, size_t most)
{
    const size_t next = members < 4 ? members + 1 : members + members / 2;

    return members < most && next > most ? most : next;
}

static void print_members(const struct cost_answer *answer, struct text *out)
{
    text_format(out, "\n%8s %12s %20s %12s %20s\n", "members", "on demand", "a run costs",
                "resident", "a run costs");
    for (size_t n = 1; n <= answer->input.most; n = next_row(n, answer->input.most)) {
        const struct pool_option on_demand = pool_cost_option(&answer->input, POOL_ON_DEMAND, n);
        const struct pool_option resident = pool_cost_option(&answer->input, POOL_RESIDENT, n);
        char opened[DURATION_TEXT], kept[DURATION_TEXT], one[AMOUNT_TEXT], other[AMOUNT_TEXT];

        duration_print(on_demand.time_s, opened);
        duration_print(resident.time_s, kept);
        text_format(out, "%8zu %12s %20s %12s %20s\n", n, opened,
                    print_amount(answer, &on_demand, one), kept,
                    print_amount(answer, &resident, other));
    }
}

static void print_even(const struct cost_answer *answer, struct text *out)
{
    const struct pool_cost *cost = &answer->cost;

    if (isnan(cost->even_runs)) {
        text_append(out, "\nbreak-even: however many runs a day, members on demand cost less, or "
                         "one of the kinds does not meet the deadline\n");
        return;
    }
    text_format(out, "\nbreak-even: from %.4g runs a day on resident members cost less",
                cost->even_runs);
    if (!isnan(cost->even_cases)) {
        text_format(out, "; at %.4g a day from %.4g cases a run on", answer->input.runs,
                    cost->even_cases);
    }
    text_append(out, "\n");
}

// The value of a lever as it is written.
static void print_value(const struct cost_answer *answer,
                        enum pool_lever lever,
                        double value,
                        char out_text[AMOUNT_TEXT])
{
    char time[DURATION_TEXT];

    if (lever == POOL_START || lever == POOL_DEADLINE) {
        duration_print(value, time);
        (void)snprintf(out_text, AMOUNT_TEXT, "%s", time);
    } else if (lever == POOL_RATE_RESIDENT || lever == POOL_RATE_ON_DEMAND) {
        (void)snprintf(out_text, AMOUNT_TEXT, "%.4g %s/h", value,
                       answer->rates[POOL_ON_DEMAND].currency);
    } else {
        (void)snprintf(out_text, AMOUNT_TEXT, "%.4g", value);
    }
}

static void print_flips(const struct cost_answer *answer, struct text *out)
{
    const struct pool_cost *cost = &answer->cost;

    text_append(out, cost->flip_count > 0 ? "what turns the choice, the nearest first:\n"
                                          : "nothing turns the choice within a factor of 1000\n");
    for (size_t i = 0; i < cost->flip_count; i++) {
        const struct pool_flip *flip = &cost->flips[i];
        char now[AMOUNT_TEXT], at[AMOUNT_TEXT];

        if (!answer->has_rate && (flip->lever == POOL_RATE_RESIDENT || // Only time counts.
                                  flip->lever == POOL_RATE_ON_DEMAND)) {
            continue;
        }
        print_value(answer, flip->lever, flip->now, now);
        print_value(answer, flip->lever, flip->at, at);
        text_format(out, "  %s %s instead of %s (%.3g times): ", pool_cost_lever_name(flip->lever),
                    at, now, flip->at / flip->now);
        if (flip->has_choice) {
            text_format(out, "%zu member%s %s\n", flip->members, plural(flip->members),
                        pool_cost_kind_name(flip->kind));
        } else {
            text_append(out, "no pool is fast enough\n");
        }
    }
}

void cost_output_text(const struct cost_answer *answer, int explains, struct text *out)
{
    print_choice(answer, out);
    if (explains) {
        print_prediction(answer, out);
        print_members(answer, out);
        print_even(answer, out);
        print_flips(answer, out);
    }
}

// -- JSON --------------------------------------------------------------------------------------

static void put_number(struct report_maker *maker, const char *key, double value)
{
    report_maker_put(maker, key, report_maker_margin(value));
}

static void
put_option(struct report_maker *maker, const char *key, const struct pool_option *option)
{
    struct report_maker part = report_maker_begin();

    report_maker_count(&part, "members", option->members);
    put_number(&part, "time_s", option->time_s);
    put_number(&part, "held_s", option->held_s);
    put_number(&part, "cost", option->cost);
    report_maker_part(maker, key, &part);
}

// The kind and its members, as a choice or as what one turns to.
static void
put_chosen(struct report_maker *part, int has_choice, enum pool_kind kind, size_t members)
{
    report_maker_text(part, "kind", has_choice ? pool_cost_kind_name(kind) : "none");
    report_maker_count(part, "members", has_choice ? members : 0);
}

static void put_flips(struct report_maker *maker, const struct pool_cost *cost)
{
    json_t *flips = json_array();

    for (size_t i = 0; i < cost->flip_count; i++) {
        const struct pool_flip *flip = &cost->flips[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "what", pool_cost_lever_name(flip->lever));
        put_number(&part, "now", flip->now);
        put_number(&part, "at", flip->at);
        put_chosen(&part, flip->has_choice, flip->kind, flip->members);
        report_maker_append(maker, flips, &part);
    }
    report_maker_put(maker, "flips", flips);
}

static void put_prediction(struct report_maker *maker, const struct cost_answer *answer)
{
    const struct case_price *price = &answer->price;
    struct report_maker part = report_maker_begin();

    report_maker_count(&part, "cases", price->count);
    put_number(&part, "work_s", price->work_s);
    put_number(&part, "call_s", price->call_s);
    put_number(&part, "transfer_s", price->transfer_s);
    put_number(&part, "host_s", price->host_s);
    report_maker_put(&part, "is_host_assumed", json_boolean(price->is_host_assumed));
    report_maker_count(&part, "predicted", price->predicted);
    put_number(&part, "factor", price->factor);
    put_number(&part, "start_s", answer->input.start_s);
    put_number(&part, "first_cases_s", price->firsts_s);
    report_maker_count(&part, "starts", answer->is_start_given ? 0 : price->starts);
    report_maker_text(&part, "device", price->device);
    report_maker_part(maker, "predicted", &part);
}

void cost_output_json(const struct cost_answer *answer, struct text *out)
{
    const struct pool_cost *cost = &answer->cost;
    struct report_maker made = report_maker_begin(), choice = report_maker_begin();
    static const char *const rates[POOL_KINDS] = {"resident_rate", "rate"};

    report_maker_text(&made, "target", answer->target);
    put_chosen(&choice, cost->has_choice, cost->kind, cost->best[cost->kind].members);
    report_maker_part(&made, "choice", &choice);
    put_option(&made, "resident", &cost->best[POOL_RESIDENT]);
    put_option(&made, "on_demand", &cost->best[POOL_ON_DEMAND]);
    put_number(&made, "deadline_s",
               isinf(answer->input.deadline_s) ? NAN : answer->input.deadline_s);
    put_number(&made, "runs", answer->input.runs);
    report_maker_text(&made, "currency",
                      answer->has_rate ? answer->rates[POOL_ON_DEMAND].currency : "");
    for (int kind = 0; kind < POOL_KINDS; kind++) {
        put_number(&made, rates[kind], answer->has_rate ? answer->rates[kind].per_hour : NAN);
    }
    put_prediction(&made, answer);
    put_number(&made, "even_runs", cost->even_runs);
    put_number(&made, "even_cases", cost->even_cases);
    put_flips(&made, cost);
    out->failed |= made.failed;
    json_file_print(out, made.object, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    text_append(out, "\n");
    json_decref(made.object);
}
