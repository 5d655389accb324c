// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Cases made by hand, for tests of stores and of what works with them.
#pragma once

#include "store/case.h"

#include <tapml/ops.h>

enum { CASES_ROWS = 2, CASES_WIDTH = 3, CASES_CAPACITY = 40, CASES_HEADS = 2, CASES_HEAD = 4 };

// y = silu(x) over [2, 3], with x as the middle columns of a [2, 5] base and y dense.
struct cases_silu {
    float x[CASES_ROWS * CASES_WIDTH];
    float y[CASES_ROWS * CASES_WIDTH];
    struct case_argument arguments[2];
    struct carved_case item;
};
void cases_make_silu(struct cases_silu *made, const char *instance, int64_t step);

// Rows 15 and 16 of a state [40, 2, 4] written: two pages are kept.
struct cases_append {
    float before[2 * CASE_PAGE_ROWS * CASES_HEADS * CASES_HEAD];
    float after[2 * CASE_PAGE_ROWS * CASES_HEADS * CASES_HEAD];
    float rows[2 * CASES_HEADS * CASES_HEAD];
    struct case_argument arguments[3];
    struct carved_case item;
};
void cases_make_append(struct cases_append *made, const char *instance, int64_t step);

// Likewise of a state [40, 2, 32] in blocks, as tapml.q8_rows/1, that was zero. The rows are zero
// but for the first value of the first, which is 127.
enum { CASES_ROW_WIDTH = 32, CASES_ROW_BYTES = CASES_HEADS * 36 };
struct cases_rows {
    unsigned char before[2 * CASE_PAGE_ROWS * CASES_ROW_BYTES];
    unsigned char after[2 * CASE_PAGE_ROWS * CASES_ROW_BYTES];
    float rows[2 * CASES_HEADS * CASES_ROW_WIDTH];
    struct case_argument arguments[3];
    struct carved_case item;
};
void cases_make_rows(struct cases_rows *made, const char *instance, int64_t step);

// y = linear(x, w): x [2, 64], and w [4, 64] with its bytes, as tapml.q4/1. The values of y are 0.
enum { CASES_BLOCK_ROWS = 4, CASES_BLOCK_WIDTH = 64, CASES_BLOCK_BYTES = 160 };
struct cases_blocks {
    float x[CASES_ROWS * CASES_BLOCK_WIDTH];
    unsigned char w[CASES_BLOCK_BYTES];
    float y[CASES_ROWS * CASES_BLOCK_ROWS];
    struct case_argument arguments[5];
    struct carved_case item;
};
void cases_make_blocks(struct cases_blocks *made, const char *instance, int64_t step);

// y = rms_norm(x, weight): x [2, 3], the weight "norm.weight" by name.
struct cases_norm {
    float x[CASES_ROWS * CASES_WIDTH];
    float weight[CASES_WIDTH];
    float y[CASES_ROWS * CASES_WIDTH];
    struct case_argument arguments[5];
    struct carved_case item;
};
void cases_make_norm(struct cases_norm *made, const char *instance, int64_t step);
