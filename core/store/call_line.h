// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tables `call` and `statistic`: one line for each call of the source, whether or not it was kept
// as a case, with statistics of its outputs.
//
// One thread. Failures are those of the store, which name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stdint.h>

struct store;

// Kinds of values that are not finite.
enum { CALL_LINE_NAN = 1, CALL_LINE_PLUS_INFINITY = 2, CALL_LINE_MINUS_INFINITY = 4 };
enum { CALL_LINE_OUTPUTS_MAX = 8 };

struct call_line {
    int64_t id; // Of its row, where it was read.
    const char *instance;
    struct hash prompt;
    int64_t step;
    int64_t part; // As of a case.
    const char *phase;
    const char *shape_class;
    uint64_t time_ns;
    int is_kept; // As a case.
    uint32_t output_count;
    struct call_statistics {
        const char *param;
        double least, largest; // Magnitudes of finite values that are not 0.
        double mean_square;
        uint64_t non_finite;
        uint32_t non_finite_kinds; // CALL_LINE_NAN ...
        uint64_t count;
    } outputs[CALL_LINE_OUTPUTS_MAX];
};

// Adds a call. One of the same instance, prompt, step and part is replaced; once kept it stays
// marked so. Several statements: call it inside of a transaction.
tapml_status call_line_add(struct store *store, const struct call_line *call) STATUS_USED;

// Calls `visit` for each call, in the order in which they were added, with its outputs by name.
// `call` and its texts live until `visit` returns. TAPML_INVALID names a damaged row.
typedef void (*call_line_visit_fn)(void *user, const struct call_line *call);
tapml_status call_line_visit(struct store *store, call_line_visit_fn visit, void *user) STATUS_USED;
