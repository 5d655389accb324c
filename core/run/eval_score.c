// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/eval_score.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct eval_score eval_score_begin(double tolerance, int64_t greedy_count)
{
    return (struct eval_score){
        .tolerance = tolerance, .greedy_count = greedy_count, .first_hidden = -1};
}

void eval_score_note(struct eval_score *score, const char *name, double error, size_t rows)
{
    score->compared += rows;
    if (strncmp(name, "hidden.", 7) == 0 && !(error <= score->tolerance)) {
        const int64_t layer = strtol(name + 7, NULL, 10);

        score->first_hidden =
            score->first_hidden < 0 || layer < score->first_hidden ? layer : score->first_hidden;
    }
    if (!(error <= score->worst)) {
        score->worst = error;
        (void)snprintf(score->worst_name, sizeof(score->worst_name), "%s", name);
    }
}

int eval_score_agrees(const struct eval_score *score)
{
    return score->compared > 0 && score->worst <= score->tolerance &&
           score->greedy_equal == score->greedy_count;
}

void eval_score_print(const struct eval_score *score, const char *way)
{
    char hidden[64] = "no hidden layer diverges";

    if (score->first_hidden >= 0) {
        (void)snprintf(hidden, sizeof(hidden), "the first hidden layer that diverges: %lld",
                       (long long)score->first_hidden);
    }
    (void)printf("%-16s %s  worst relative error %.2e (%s), %s, greedy %lld / %lld, %zu rows\n",
                 way, eval_score_agrees(score) ? "agrees " : "DIVERGES", score->worst,
                 score->worst_name, hidden, (long long)score->greedy_equal,
                 (long long)score->greedy_count, score->compared);
}
