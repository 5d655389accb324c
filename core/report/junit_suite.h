// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A suite of a JUnit file while its test cases are written: its head needs the counts.
//
// Appending cannot fail at once: where there is no memory the text is marked.
#pragma once

#include "base/text.h"

#include <stdint.h>

enum junit_outcome { JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR, JUNIT_SKIPPED };

struct junit_suite {
    const char *name; // Of the target.
    struct text cases;
    int64_t tests, failures, errors, skipped, time_ns;
};

// Several cases that are one test case to the reader.
struct junit_trial {
    const char *op;
    char name[512];
    enum junit_outcome kind;
    const char *reason;  // Of the worst.
    const char *details; // In place of "BAD of CASES cases: REASON"; or NULL.
    double margin;       // Of the same, if it has one.
    int has_margin;
    size_t cases, bad;
    int64_t time_ns;
};

// Appends a test case, and counts it.
void junit_suite_add(struct junit_suite *suite, const struct junit_trial *trial);

// Adds the counts of one suite to those of all.
void junit_suite_sum(struct junit_suite *all, const struct junit_suite *suite);

// Appends the counts and the time as attributes.
void junit_suite_print_counts(const struct junit_suite *suite, struct text *out);

// Appends the whole file: `name`, the counts of all, and the suites that have been written.
void junit_suite_print_all(const struct junit_suite *all,
                           const char *name,
                           const struct text *suites,
                           struct text *out);
