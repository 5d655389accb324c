// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the cases judged so far say of all of them, if every prefix of their order is like the whole
// (choose/balance.h): the pass rate and the time left, each with its spread.
//
// Spreads are two standard errors of a sample without replacement (Cochran, Sampling Techniques,
// sections 2.5 and 3.2). A balanced order is closer to the whole than such a sample: they are upper
// bounds. Plain data, one thread.
#pragma once

#include "verify/judgement.h"

#include <stddef.h>
#include <stdint.h>

struct outlook {
    size_t all;              // Cases that will be judged.
    size_t judged, passed;   // So far, those of earlier starts among them.
    size_t timed;            // Of them, those of this start,
    double seconds, squares; // the sum of what they took, and of its squares.
};

enum { OUTLOOK_LEAST = 20 }; // Cases below which nothing is said.

// Counts a case; `seconds` that it took, NaN of an earlier start.
void outlook_add(struct outlook *outlook, enum verdict_kind kind, double seconds);

// Bounds of the pass rate of all cases, from 0 to 1. 0 if nothing can be said yet.
int outlook_pass_rate(const struct outlook *outlook, double *out_low, double *out_high);

// The seconds left, and their spread to either side. 0 if nothing can be said yet.
int outlook_left(const struct outlook *outlook, double *out_seconds, double *out_spread);

enum { OUTLOOK_TEXT = 128 };

// ", within 2 s; 96 % pass, 93 to 98 % of all expected", to stand behind the time left; or "".
void outlook_print(const struct outlook *outlook, char out_text[OUTLOOK_TEXT]);
