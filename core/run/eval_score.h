// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What one way of feeding a prompt gave, against what is expected: a line of `eval`.
#pragma once

#include "config/options.h"
#include "model/checkpoint.h"
#include "tensor/activation.h"

#include <stddef.h>
#include <stdint.h>

// A row agrees if max|a - b| <= error * max(1, max|b|).
struct eval_limit {
    double error;
    int is_given; // By the user, for weights that lost something: the ids may differ then.
    int is_lossy; // Activations are reduced: ids may differ where the margin is as small.
};

struct eval_score {
    struct eval_limit limit;
    int64_t greedy_count; // Ids that are expected.

    double worst; // Relative error.
    char worst_name[64];
    int64_t first_hidden; // The first hidden layer that diverges, or -1.
    int64_t greedy_equal;
    int64_t greedy_near;   // Of the others, near ties.
    double near_margin;    // The largest margin of these.
    int64_t greedy_behind; // That follow from a near tie of routing.
    size_t compared;       // Rows.
    size_t behind;         // Rows that follow from a near tie of routing: not compared.
};

// A score of nothing.
struct eval_score eval_score_begin(struct eval_limit limit, int64_t greedy_count);

// Reads the option --limit, without which the limit is that of roundings. TAPML_INVALID if it is no
// number above 0, or not there although `checkpoint` has weights in blocks, or quantises inputs and
// activations are reduced.
tapml_status eval_score_read_limit(const struct options *options,
                                   const struct checkpoint *checkpoint,
                                   enum activation activation,
                                   struct eval_limit *out_limit) STATUS_USED;

// Notes `rows` rows of the tensor `name`, of which the worst has `error`.
void eval_score_note(struct eval_score *score, const char *name, double error, size_t rows);

// Notes an id of a step. `margin` is by how much the expected logit of the expected id exceeds that
// of the id, and `most` the largest magnitude of the expected logits. In reduced activations both
// logits may be off by the limit, so that a margin of twice that is a near tie.
void eval_score_note_greedy(struct eval_score *score, int is_equal, double margin, double most);

// Whether rows were compared, all of them agree, and so do the ids unless the limit was given.
int eval_score_agrees(const struct eval_score *score);

// Prints the line of a way of feeding.
void eval_score_print(const struct eval_score *score, const char *way);
