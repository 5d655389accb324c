// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How an op is computed on a device that loses digits on purpose, and the formats of numbers that
// it may be computed in: what `tapml.arithmetic/1` declares (tapml/backend.h). Any thread.
#pragma once

#include "base/status.h"
#include "tensor/activation.h"

#include <stddef.h>
#include <stdint.h>

enum { ARITHMETIC_TEXT = 128 };

// Formats are TAPML_FORMAT_*. All zero: f32, and nothing is lost on purpose.
struct arithmetic {
    uint32_t inputs;      // To which activations are rounded before the op,
    uint32_t block;       // in blocks of so many values of a row, 0: all, where it has a scale.
    uint32_t weights;     // To which plain weights are.
    uint32_t accumulator; // Of sums.
    uint32_t result;      // To which outputs are rounded.
};

// Static.
extern const struct arithmetic arithmetic_f32;

// Whether an op loses anything by it.
int arithmetic_is_reduced(const struct arithmetic *arithmetic);

// TAPML_INVALID if a number is no format that its member may have; the message ends a sentence
// about the op.
tapml_status arithmetic_check(const struct arithmetic *arithmetic) STATUS_USED;

// Whether numbers of a format have a scale that they share.
int arithmetic_has_scale(uint32_t format);

// "f16"; static. The format is known.
const char *arithmetic_format_name(uint32_t format);

// "inputs q8 in blocks of 32, sums f16, results f16"; "" for f32. Cut at ARITHMETIC_TEXT bytes.
void arithmetic_describe(const struct arithmetic *arithmetic, char out_text[ARITHMETIC_TEXT]);

// The activation dtype that loses as much as sums and outputs lose by it.
enum activation arithmetic_loss(const struct arithmetic *arithmetic);

// Rounds `row_count` rows of `width` values to a format, in place. What is not finite stays.
void arithmetic_round(
    uint32_t format, uint32_t block, float *values, size_t row_count, size_t width);
