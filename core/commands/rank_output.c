// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/rank_output.h"

#include <math.h>
#include <stdio.h>

void rank_output_end(const struct contest *contest,
                     const struct rank_words *words,
                     char out[RANK_OUTPUT_END])
{
    const struct race *race = &contest->race;
    const size_t all = contest_count(contest);
    const char *why = contest->is_out_of_time ? ", when its time was over"
                      : race->spent == all    ? ""
                      : race->is_settled      ? ", when no other case could change the first"
                                              : ", when its budget was spent";

    (void)snprintf(out, RANK_OUTPUT_END, "%s: %zu of %zu %s in %zu round%s, %zu of them %s now%s",
                   race_method_name(race->method), race->spent, all, words->cases, race->round,
                   race->round == 1 ? "" : "s", contest->spent.runs, words->done, why);
}

void rank_output_cost(const struct contest *contest,
                      const struct rank_words *words,
                      struct text *out)
{
    char seconds[CONTEST_TIME_TEXT];

    contest_print_time(contest->predicted.seconds, seconds);
    text_format(out, "predicted: %zu %s, %s; spent: %zu, %.3g s\n", contest->predicted.runs,
                words->runs, seconds, contest->spent.runs, contest->spent.seconds);
}

void rank_output_number(const char *name, double value, struct text *out)
{
    text_format(out, isfinite(value) ? ", \"%s\": %.9g" : ", \"%s\": null", name, value);
}

void rank_output_json(const struct contest *contest,
                      const struct rank_words *words,
                      struct text *out)
{
    const struct race *race = &contest->race;
    char end[RANK_OUTPUT_END];

    rank_output_end(contest, words, end);
    text_append(out, "\"sentence\": ");
    text_append_json(out, end);
    text_format(out,
                ", \"method\": \"%s\", \"rounds\": %zu, \"budget\": %zu, \"taken\": %zu, "
                "\"settled\": %s, \"predicted\": {\"%s\": %zu",
                race_method_name(race->method), race->round, race->budget, race->spent,
                race->is_settled ? "true" : "false", words->runs, contest->predicted.runs);
    rank_output_number("seconds", contest->predicted.seconds, out);
    text_format(out, "}, \"spent\": {\"%s\": %zu", words->runs, contest->spent.runs);
    rank_output_number("seconds", contest->spent.seconds, out);
    text_append(out, "}");
}
