// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Numbers that are known at the call: sums of T, P, R and C.
#pragma once

#include "base/status.h"

#include <stdint.h>

// Index k stands for the symbol with the code -(k + 1) of tapml/model.h.
enum { AFFINE_TOKENS, AFFINE_POSITION, AFFINE_ROWS, AFFINE_CAPACITY, AFFINE_SYMBOLS };

// What the symbols are in one call: tokens, position of the first, logit rows, state capacity.
struct affine_point {
    int64_t value[AFFINE_SYMBOLS];
};

// constant + factor[0] T + factor[1] P + factor[2] R + factor[3] C
struct affine {
    int64_t constant;
    int64_t factor[AFFINE_SYMBOLS];
};

struct affine affine_constant(int64_t value);
int affine_is_constant(const struct affine *a);

// Whether it is this plain number.
int affine_is(const struct affine *a, int64_t value);

int affine_equal(const struct affine *a, const struct affine *b);

// Wraps nowhere: the builder bounds constants and factors, the session bounds the point.
int64_t affine_at(const struct affine *a, const struct affine_point *point);

tapml_status
affine_add(const struct affine *a, const struct affine *b, struct affine *out_sum) STATUS_USED;
tapml_status affine_subtract(const struct affine *a,
                             const struct affine *b,
                             struct affine *out_difference) STATUS_USED;

// TAPML_INVALID where a part does not fit in 64 bits; of a product also where neither is constant.
tapml_status affine_multiply(const struct affine *a,
                             const struct affine *b,
                             struct affine *out_product) STATUS_USED;

// Exact division by a constant that is not 0; TAPML_INVALID where a part does not divide.
tapml_status affine_divide(const struct affine *a,
                           const struct affine *b,
                           struct affine *out_quotient) STATUS_USED;

// "128", "T", "T + P", "2 T + 1"; cut where `size` is too small.
void affine_text(const struct affine *a, char *out_text, size_t size);
