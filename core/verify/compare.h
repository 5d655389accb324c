// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How far two tensors are from each other, in measures that need no scale. Any thread.
#pragma once

#include "base/status.h"
#include "tensor/activation.h"

#include <stddef.h>
#include <stdint.h>

// Distances of `computed` from `expected`, both dense, `rows` x `width`.
//
// A row error is the largest |a - b| of a row's elements, each divided by its scale, which is the
// largest of the row's root mean square, |b| (an outlier is rounded at its own size) and a
// thousandth of the tensor's root mean square (a row that is tiny beside the others has no scale of
// its own).
//
// Units in the last place are those of f32, counted from number to number, across zero too. A |a -
// b| of at most 2^-126 counts as 0, because devices may flush subnormals.
//
// Elements that are NaN or infinite on either side count as mismatches if the sides differ, and are
// left out of the distances.
struct compare_result {
    int is_equal_bits;
    double nmse;      // sum (a - b)^2 / sum b^2; 0 if both are 0, infinite if only b is.
    double row_error; // Of the worst row.
    double ulp;       // The largest.
    double cosine;    // sum a b / sqrt(sum a^2 sum b^2); 1 if both are 0, 0 if one is.
    uint64_t mismatched_non_finite; // Elements that are NaN or infinite on one side only.

    // Of the first mismatch; without one, of the largest |a - b|; if that is 0, of the first
    // element whose bits differ.
    size_t worst_index;
    double worst_expected, worst_computed;
};

// Compares two dense tensors of `dtype`.
struct compare_result compare_tensors(
    uint32_t dtype, const void *expected, const void *computed, size_t rows, size_t width);

// The class of an op, which decides what its limit measures: "exact", "elementwise", "reduction".
// TAPML_INVALID for any other name.
enum compare_class { COMPARE_EXACT, COMPARE_ELEMENTWISE, COMPARE_REDUCTION };
tapml_status compare_class_of(const char *tolerance, enum compare_class *out_class) STATUS_USED;

// The name of a class, which `compare_class_of` reads. Static.
const char *compare_class_name(enum compare_class class_);

struct compare_limit {
    enum compare_class class_;
    double ulp;       // Elementwise.
    double nmse;      // Reduction.
    double row_error; // Reduction.
};

// The floor of a class: the limit even if the devices of the reference agree in every bit.
//
// Elementwise: 16 units in the last place. Reduction: a relative error of 1e-6, which is 16
// roundings of f32, in every element (NMSE 1e-12) and in one (row error 1e-6). Two correct kernels
// with different orders of summation may need more over some hundred terms, which calibration adds;
// for a single case in which the devices happen to agree better the floor is enough.
struct compare_limit compare_floor(enum compare_class class_);

// The floor for outputs that are computed from activations of a dtype and rounded to it. In a
// reduced dtype exact stays exact, since the expected values are rounded too. Every other class is
// a reduction, since rounded inputs that cancel leave no measure of a single element: 16 roundings
// in an element (of f16: row error 2^-7), and in all of them (NMSE 2^-14).
struct compare_limit compare_floor_in(enum compare_class class_, enum activation activation);

// observed / limit: at most 1 passes. Infinite if the bits of an exact op differ or a value is
// non-finite on one side only.
double compare_margin(const struct compare_result *result, const struct compare_limit *limit);

// Makes `limit` at least `factor` times the distances of `result`; NMSE, which is a square, at
// least the square of `factor` times. An exact limit stays as it is, and an infinite distance
// changes nothing.
void compare_widen(struct compare_limit *limit, const struct compare_result *result, double factor);

// The root mean square of the finite values of a row, or of a tensor.
double compare_scale(uint32_t dtype, const void *values, size_t count);

// The largest |a - b| that `limit` allows an element whose row and tensor have these root mean
// squares. The NMSE measures a whole tensor and is left out.
double compare_allowed(const struct compare_limit *limit,
                       double expected,
                       double row_rms,
                       double tensor_rms);

// "NMSE 3e-02, limit 1e-12": the measure that decides the margin, with its limit. Cut at `size`
// bytes.
void compare_explain(const struct compare_result *result,
                     const struct compare_limit *limit,
                     char *out_text,
                     size_t size);
