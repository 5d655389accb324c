// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/rank_output.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct race_arm arms[] = {{.count = 30, .taken = 20}, {.count = 20, .taken = 10}};
static const struct rank_words words = {"chunks", "run", "runs"};

static struct contest contest_of(void)
{
    return (struct contest){.race = {.method = RACE_HALVING,
                                     .arms = arms,
                                     .arm_count = 2,
                                     .budget = 30,
                                     .round = 2,
                                     .spent = 30},
                            .predicted = {12, NAN},
                            .spent = {11, 0.5}};
}

Test(rank_output, an_end_says_why)
{
    struct contest contest = contest_of();
    char end[RANK_OUTPUT_END];

    rank_output_end(&contest, &words, end);
    cr_expect_str_eq(end, "halving: 30 of 50 chunks in 2 rounds, 11 of them run now, when its "
                          "budget was spent");
    contest.race.is_settled = 1;
    rank_output_end(&contest, &words, end);
    cr_expect_not_null(strstr(end, ", when no other case could change the first"));
    contest.is_out_of_time = 1;
    rank_output_end(&contest, &words, end);
    cr_expect_not_null(strstr(end, ", when its time was over"));
    contest = contest_of();
    contest.race.spent = 50;
    rank_output_end(&contest, &words, end);
    cr_expect_str_eq(end, "halving: 50 of 50 chunks in 2 rounds, 11 of them run now");
}

Test(rank_output, costs_are_printed_and_what_is_unknown_is_null)
{
    const struct contest contest = contest_of();
    struct text text;

    text_init(&text);
    rank_output_cost(&contest, &words, &text);
    cr_expect_not_null(strstr(text.data, "predicted: 12 runs, a time that is not known; "
                                         "spent: 11, 0.5 s\n"),
                       "%s", text.data);
    text_clear(&text);
    rank_output_json(&contest, &words, &text);
    cr_expect_not_null(strstr(text.data, "\"method\": \"halving\", \"rounds\": 2, \"budget\": 30, "
                                         "\"taken\": 30, \"settled\": false, \"predicted\": "
                                         "{\"runs\": 12, \"seconds\": null}, \"spent\": "
                                         "{\"runs\": 11, \"seconds\": 0.5}"),
                       "%s", text.data);
    text_release(&text);
}
