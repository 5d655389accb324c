// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/running_mean.h"

#include <math.h>

// The part of a sum over `count` numbers that is the variance of their mean, or a covariance.
static double share_of(double sum, uint64_t count)
{
    return count > 1 ? sum / (double)count / (double)(count - 1) : 0;
}

void running_mean_add(struct running_mean *mean, double value)
{
    const double distance = value - mean->mean;

    mean->count++;
    mean->mean += distance / (double)mean->count;
    mean->squares += distance * (value - mean->mean);
}

double running_mean_error(const struct running_mean *mean)
{
    return sqrt(share_of(mean->squares, mean->count));
}

void running_mean_add_pair(struct running_pair *pair, double first, double second)
{
    const double distance = first - pair->first.mean;

    running_mean_add(&pair->first, first);
    running_mean_add(&pair->second, second);
    pair->products += distance * (second - pair->second.mean);
}

double running_mean_covariance(const struct running_pair *pair)
{
    return share_of(pair->products, pair->first.count);
}

double running_mean_difference_error(const struct running_pair *pair)
{
    const double squares = pair->first.squares + pair->second.squares - 2 * pair->products;

    return sqrt(
        share_of(fmax(squares, 0), pair->first.count)); // Rounding may leave less than nothing.
}

double running_mean_correlation(const struct running_pair *pair)
{
    return pair->products / sqrt(pair->first.squares * pair->second.squares);
}
