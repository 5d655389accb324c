// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What one way of feeding a prompt gave, against what is expected: a line of `eval`.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct eval_score {
    double tolerance;     // Of the relative error of a row.
    int64_t greedy_count; // Ids that are expected.

    double worst; // Relative error.
    char worst_name[64];
    int64_t first_hidden; // The first hidden layer that diverges, or -1.
    int64_t greedy_equal;
    size_t compared; // Rows.
};

// A score of nothing.
struct eval_score eval_score_begin(double tolerance, int64_t greedy_count);

// Notes `rows` rows of the tensor `name`, of which the worst has `error`.
void eval_score_note(struct eval_score *score, const char *name, double error, size_t rows);

// Whether rows were compared, all of them agree, and so do the ids.
int eval_score_agrees(const struct eval_score *score);

// Prints the line of a way of feeding.
void eval_score_print(const struct eval_score *score, const char *way);
