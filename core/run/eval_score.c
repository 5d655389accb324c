// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/eval_score.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of what is computed in f32.
static const double limit_plain = 1e-4;

// In f16, whose roundings are 2^13 times as large, over all layers.
static const double limit_reduced = 1e-2;

struct eval_score eval_score_begin(struct eval_limit limit, int64_t greedy_count)
{
    return (struct eval_score){.limit = limit, .greedy_count = greedy_count, .first_hidden = -1};
}

// A tensor whose type lost something that the expected values have; NULL: there is none.
static const struct checkpoint_tensor *find_loss(const struct checkpoint *checkpoint)
{
    static const char blocks[] = "gguf.";

    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
        const tapml_encoding *encoding = tensor->tensor.encoding;

        if (encoding != NULL && strncmp(encoding->id, blocks, strlen(blocks)) == 0) {
            return tensor;
        }
    }
    return NULL;
}

// A weight whose inputs the checkpoint quantises; NULL: there is none. What f16 loses of an input
// moves it by a whole step where it lies near the middle of two.
static const struct checkpoint_tensor *find_steps(const struct checkpoint *checkpoint)
{
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        if (checkpoint_at(checkpoint, i)->inputs != NULL) {
            return checkpoint_at(checkpoint, i);
        }
    }
    return NULL;
}

tapml_status eval_score_read_limit(const struct options *options,
                                   const struct checkpoint *checkpoint,
                                   enum activation activation,
                                   struct eval_limit *out_limit)
{
    const char *word = options_get(options, "--limit");
    const struct checkpoint_tensor *loss = find_loss(checkpoint);
    const struct checkpoint_tensor *steps =
        activation_is_reduced(activation) ? find_steps(checkpoint) : NULL;
    struct eval_limit limit = {.error =
                                   activation_is_reduced(activation) ? limit_reduced : limit_plain,
                               .is_lossy = activation_is_reduced(activation)};

    if (word == NULL && loss != NULL) {
        return status_fail(TAPML_INVALID,
                           "%s: tensor '%s' is in blocks of '%s', which lost something: give "
                           "--limit, the relative error that is allowed",
                           loss->file, loss->name, loss->tensor.encoding->id);
    }
    if (word == NULL && steps != NULL) {
        return status_fail(TAPML_INVALID,
                           "%s: inputs of tensor '%s' are quantised, and %s moves some by a whole "
                           "step: give --limit, the relative error that is allowed",
                           steps->file, steps->name, activation_type(activation)->name);
    }
    if (word != NULL) {
        limit.is_given = 1;
        if (text_parse_f64(word, &limit.error) != TAPML_OK || !(limit.error > 0)) {
            return status_fail(TAPML_INVALID, "--limit is '%s', expected a number above 0", word);
        }
    }
    *out_limit = limit;
    return TAPML_OK;
}

void eval_score_note(struct eval_score *score, const char *name, double error, size_t rows)
{
    score->compared += rows;
    if (strncmp(name, "hidden.", 7) == 0 && !(error <= score->limit.error)) {
        const int64_t layer = strtol(name + 7, NULL, 10);

        score->first_hidden =
            score->first_hidden < 0 || layer < score->first_hidden ? layer : score->first_hidden;
    }
    if (!(error <= score->worst)) {
        score->worst = error;
        (void)snprintf(score->worst_name, sizeof(score->worst_name), "%s", name);
    }
}

void eval_score_note_greedy(struct eval_score *score, int is_equal, double margin, double most)
{
    const double allowed = 2 * score->limit.error * fmax(1, most);

    if (is_equal) {
        score->greedy_equal++;
    } else if (score->limit.is_lossy && margin <= allowed) {
        score->greedy_near++;
        score->near_margin = fmax(score->near_margin, margin);
    }
}

int eval_score_agrees(const struct eval_score *score)
{
    return score->compared > 0 && score->worst <= score->limit.error &&
           (score->limit.is_given ||
            score->greedy_equal + score->greedy_near + score->greedy_behind == score->greedy_count);
}

void eval_score_print(const struct eval_score *score, const char *way)
{
    char hidden[64] = "no hidden layer diverges";

    if (score->first_hidden >= 0) {
        (void)snprintf(hidden, sizeof(hidden), "the first hidden layer that diverges: %lld",
                       (long long)score->first_hidden);
    }
    (void)printf("%-16s %s  worst relative error %.2e (%s), %s, greedy %lld / %lld, %zu rows", way,
                 eval_score_agrees(score) ? "agrees " : "DIVERGES", score->worst, score->worst_name,
                 hidden, (long long)score->greedy_equal, (long long)score->greedy_count,
                 score->compared);
    if (score->greedy_near > 0) {
        (void)printf(", %lld near ties of ids by at most %.2g", (long long)score->greedy_near,
                     score->near_margin);
    }
    if (score->behind > 0 || score->greedy_behind > 0) {
        (void)printf(", %zu rows and %lld ids behind near ties of routing left out", score->behind,
                     (long long)score->greedy_behind);
    }
    if (score->limit.is_given) {
        (void)printf(", limit %.2e", score->limit.error);
    }
    (void)printf("\n");
}
