// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A linear predictor that begins as an analytic model and is corrected by what was measured: a
// value is the sum of columns times weights, and of each weight there is a guess with a spread
// before anything is known. What was measured pulls the weights away from their guesses, as far as
// the noise allows: Bayesian linear regression with a Gaussian prior, which is ridge regression
// towards the guesses (Hoerl and Kennard 1970; Rasmussen and Williams, Gaussian Processes for
// Machine Learning, 2006, 2.1), in the form whose matrix has a row for each measured value:
//
//   w = w0 + S X' (X S X' + N)^-1 (y - X w0)
//   variance of x w = x S x' - x S X' (X S X' + N)^-1 X S x'
//
// with S the squares of the spreads and N those of the noise.
//
// Pure; one thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/status.h"

#include <stddef.h>

struct arena;

struct plan_model_input {
    size_t width;              // Columns.
    const double *guesses;     // Of the weights,
    const double *spreads;     // and their standard deviations; 0: the guess is right.
    const double *const *rows; // What was measured: its columns,
    const double *values;      // its value,
    const double *noises;      // and the standard deviation of that.
    size_t count;
};

struct plan_model {
    const struct plan_model_input *input; // Borrowed.
    double *weights;
    double *factor;  // Cholesky's, of the matrix above: `count` squared.
    double *scratch; // `count` numbers.
};

// Fits. What the model has is in `arena`.
tapml_status plan_model_fit(const struct plan_model_input *input,
                            struct arena *arena,
                            struct plan_model *out_model) STATUS_USED;

// The value of a row, and its standard deviation without noise.
double plan_model_predict(const struct plan_model *model, const double *row);
double plan_model_spread(const struct plan_model *model, const double *row);

// The rank correlation of two lists (Spearman 1904), with the mean rank for equal numbers; NaN for
// fewer than two, or if one list has equal numbers only.
tapml_status plan_model_correlate(const double *a,
                                  const double *b,
                                  size_t count,
                                  double *out_correlation) STATUS_USED;
