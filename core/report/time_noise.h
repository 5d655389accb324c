// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether times of several runs have moved beyond their noise. docs/comparing.md has the method in
// words.
//
// A group is the cases of an op on a target. Of each run it has a shift: the median, over its
// cases, of the logarithm of the time there over the time in the first run; and the standard error
// of that median, by the median absolute deviation (1.4826 MAD estimates the standard deviation of
// normal values, and 1.2533 sigma / sqrt(n) the error of their median: P. J. Huber, Robust
// Statistics, 1981).
#pragma once

#include "base/status.h"

#include <stddef.h>

enum { TIME_NOISE_CASES = 4 }; // Fewer of them say nothing about their spread.

struct time_noise_group {
    double *shifts; // One for each run: natural logarithms; NaN where a run has none of the cases.
    double *errors; // Likewise.
    size_t cases;   // In the last run.
};

enum time_noise_move {
    TIME_NOISE_UNKNOWN, // There are too few cases, or no other run.
    TIME_NOISE_STILL,
    TIME_NOISE_SLOWER,
    TIME_NOISE_FASTER
};

struct time_noise_change {
    double ratio; // The time now over that before; NaN if it is not known.
    double noise; // A ratio above 1: beyond it, or below one over it, is a move.
    enum time_noise_move move;
};

// The median of `count` values above 0, which are sorted by this; NaN if there are none.
double time_noise_median(double *values, size_t count);

// The shift of a group in one run, from the logarithms of the ratios of its cases, which are
// sorted. NaN, both, if there are none.
void time_noise_shift(double *logs, size_t count, double *out_shift, double *out_error);

// How the last of `run_count` runs differs from those before it: each group against the median of
// all groups, into `out_changes`, and that median, into `out_whole`, if there are three runs
// before. `controls` has the shift of what did not change between the runs, such as the source,
// whose absolute value is noise of the whole; NaN where it is not known. TAPML_NO_MEMORY.
tapml_status time_noise_judge(const struct time_noise_group *groups,
                              size_t group_count,
                              const double *controls,
                              size_t run_count,
                              struct time_noise_change *out_changes,
                              struct time_noise_change *out_whole) STATUS_USED;

// "slower", "faster", "still", "unknown". Static.
const char *time_noise_move_name(enum time_noise_move move);
