// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The mean of numbers that come one after the other, and how uncertain it is.
//
// Sums are those of differences from the mean so far (Welford 1962), so that nothing cancels where
// the numbers are large beside their spread. Any thread; nothing fails.
#pragma once

#include <stdint.h>

// All zeros: no number yet.
struct running_mean {
    uint64_t count;
    double mean;
    double squares; // sum (x - mean)^2
};

void running_mean_add(struct running_mean *mean, double value);

// The standard error of the mean, sqrt(sum (x - mean)^2 / n / (n - 1)); 0 of fewer than two
// numbers.
double running_mean_error(const struct running_mean *mean);

// Two series of numbers that come in pairs.
struct running_pair {
    struct running_mean first, second;
    double products; // sum (x - mean of x) (y - mean of y)
};

void running_mean_add_pair(struct running_pair *pair, double first, double second);

// The covariance of both means: sum (x - mean of x) (y - mean of y) / n / (n - 1); 0 of fewer than
// two pairs.
double running_mean_covariance(const struct running_pair *pair);

// The standard error of mean of second - mean of first, in which what both have in common is left
// out: sqrt(sum ((y - mean of y) - (x - mean of x))^2 / n / (n - 1)).
double running_mean_difference_error(const struct running_pair *pair);

// Pearson's coefficient of correlation; NaN where one of both does not vary.
double running_mean_correlation(const struct running_pair *pair);
