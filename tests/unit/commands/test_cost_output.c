// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/cost_output.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { MOST = 4 };

static const double LONGEST_S[MOST] = {600, 300, 200, 150};
static struct text text;

static void begin(void)
{
    text_init(&text);
}

static void end(void)
{
    text_release(&text);
}

TestSuite(cost_output, .init = begin, .fini = end);

static struct cost_answer made_answer(double deadline_s, int has_rate)
{
    const struct rate rate = {.per_hour = 3.6, .currency = "USD"};
    struct cost_answer answer = {.target = "gpu",
                                 .price = {.count = 1200,
                                           .work_s = 600,
                                           .factor = 1.2,
                                           .predicted = 7,
                                           .call_s = 0.4,
                                           .transfer_s = 0.02,
                                           .host_s = 0.08,
                                           .starts = 3,
                                           .device = "opencl:0"},
                                 .input = {.longest_s = LONGEST_S,
                                           .most = MOST,
                                           .work_s = 600,
                                           .scale = 1,
                                           .cases = 1200,
                                           .start_s = 30,
                                           .runs = 100,
                                           .deadline_s = deadline_s,
                                           .rates = {has_rate ? 3.6 : 1, has_rate ? 3.6 : 1}},
                                 .has_rate = has_rate,
                                 .rates = {rate, rate}};

    pool_cost_find(&answer.input, &answer.cost);
    return answer;
}

static void expect(const char *words)
{
    cr_expect(strstr(text.data, words), "'%s' is not in:\n%s", words, text.data);
}

Test(cost_output, the_choice_is_a_sentence)
{
    const struct cost_answer answer = made_answer(1200, 1);

    cost_output_text(&answer, 0, &text);
    cr_expect_str_eq(text.data, "1 member on demand: a run takes 10.5 min and costs 0.63 USD\n"
                                "else 1 member resident: a run takes 10 min and costs 0.864 USD\n");
}

Test(cost_output, what_is_predicted_and_what_turns_it_is_explained)
{
    const struct cost_answer answer = made_answer(1200, 1);

    cost_output_text(&answer, 1, &text);
    expect("predicted on 'gpu': 1200 cases take 10 min on one member; a case 400 ms for its call, "
           "20 ms for transfer, 80 ms on the host\n");
    expect("calls: 7 of them were not measured; of times that the predictor had not seen half are "
           "within a factor of 1.20\n");
    expect("start: 30 s, the median of 3 on opencl:0\n");
    expect("members");
    expect("break-even: from 137.1 runs a day on resident members cost less; at 100 a day from ");
    expect("what turns the choice, the nearest first:\n");
    expect("  runs a day 137.");
    expect(" times): 1 member resident\n");
}

Test(cost_output, without_a_rate_time_is_what_it_costs)
{
    const struct cost_answer answer = made_answer(INFINITY, 0);

    cost_output_text(&answer, 1, &text);
    expect("1 member on demand: a run takes 10.5 min and costs 10.5 min of places\n");
    cr_expect_null(strstr(text.data, "rate"), "%s", text.data);
}

Test(cost_output, a_deadline_that_nothing_meets_says_what_can_be_had)
{
    const struct cost_answer answer = made_answer(60, 1);

    cost_output_text(&answer, 0, &text);
    cr_expect_str_eq(text.data, "no pool of up to 4 members meets 1 min: with so many a run takes "
                                "2.5 min on resident ones, 3 min on demand\n");
}

Test(cost_output, one_kind_alone_may_be_fast_enough)
{
    const struct cost_answer answer = made_answer(160, 1);

    cost_output_text(&answer, 1, &text);
    expect("4 members resident: a run takes 2.5 min");
    expect("else none: no pool of up to 4 members on demand is fast enough\n");
    expect("break-even: however many runs a day");
}

Test(cost_output, all_of_it_is_json)
{
    const struct cost_answer answer = made_answer(INFINITY, 1);

    cost_output_json(&answer, &text);
    json_t *made = json_loads(text.data, 0, NULL);

    cr_assert_not_null(made, "%s", text.data);
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(made, "choice"), "kind")),
                     "on demand");
    cr_expect(json_is_null(json_object_get(made, "deadline_s")));
    cr_expect_str_eq(json_string_value(json_object_get(made, "currency")), "USD");
    cr_expect_float_eq(json_number_value(json_object_get(made, "even_runs")), 137.142857, 1e-3);
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(made, "predicted"), "cases")),
                 1200);
    cr_expect_gt(json_array_size(json_object_get(made, "flips")), 0);
    json_decref(made);
}
