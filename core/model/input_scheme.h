// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How the inputs of a quantised weight are rounded before a product, as a checkpoint says. The
// numbers are those of the op `fake_quantise`; docs/quantised.md has the formulas.
#pragma once

#include "tensor/quant_format.h"

#include <stdint.h>

struct input_scheme {
    int64_t block; // Values of a row that share a scale; 0 is all.
    enum quant_format_name format;
    enum quant_format_scaling scaling;
    double low, high; // To which a magnitude is clamped.
    double factor;    // Where `scaling` has one.
};

// The schemes that methods have under one name.
enum input_scheme_name {
    INPUT_SCHEME_NONE,
    INPUT_SCHEME_F8_GIVEN,  // The scale is in the file.
    INPUT_SCHEME_F8_ROW,    // A scale a row.
    INPUT_SCHEME_F8_BLOCKS, // A scale a block, as DeepSeek makes it,
    INPUT_SCHEME_F8_POWERS, // or a power of two.
    INPUT_SCHEME_MX8,
    INPUT_SCHEME_NV4,
};

// Returns a scheme that is not NONE. `*out_factors` are the suffixes of the tensors that may have
// its factor, separated by blanks; NULL: it has none.
struct input_scheme input_scheme_get(enum input_scheme_name name, const char **out_factors);

// The words that compressed-tensors has for a scheme.
struct input_scheme_words {
    const char *type, *strategy; // Or NULL.
    int64_t bits;
    int64_t block; // Of the strategies with groups, more than 0.
    int is_given;  // The scales are in the file, not of each call.
    int is_power;  // Scales are powers of two.
    int has_zeros; // Zero points are not 0.
};

// Finds the scheme that words stand for, and the suffixes as above. Returns 0, and writes nothing,
// for one that is not known.
int input_scheme_find(const struct input_scheme_words *words,
                      struct input_scheme *out_scheme,
                      const char **out_factors);

// Makes of `*scheme` and `more` what serves two weights of one product: the factor of the wider
// range. Returns 0, and changes nothing, if they differ in anything else.
int input_scheme_join(struct input_scheme *scheme, const struct input_scheme *more);
