// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How published checkpoints store a quantised weight: which tensors it consists of, and how these
// hold its numbers. One row of a table for each way; docs/quantised.md has the formulas.
//
// A weight is a matrix of rows and columns, or several. A tile is the part of a matrix that has one
// scale: value = scale * (quant - zero point), with a factor of the whole tensor on the scale in
// some layouts.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum quantised_packing {
    QUANTISED_BYTES,   // A value a byte.
    QUANTISED_NIBBLES, // Two values a byte, the first one in the low bits.
    QUANTISED_WORDS,   // Values in words of 32 bits, of as many bits as the scheme says.
};

// What a tensor of a weight is called behind the name of its module, and the types it may have, as
// safetensors names them: "F32 BF16 F16". An absent part has a NULL suffix.
struct quantised_part {
    const char *suffix;
    const char *types;
    int is_required;
};

struct quantised_layout {
    const char *name;    // For messages: "fp8".
    const char *becomes; // Suffix of the name that model plugins know: ".weight".
    struct quantised_part quants, scales;
    struct quantised_part zeros;   // Zero points, one for each scale.
    struct quantised_part factor;  // One number, with which the scales are multiplied,
    int factor_divides;            // or by which they are divided.
    struct quantised_part groups;  // For each column the index of its group of columns.
    struct quantised_part extents; // Rows and columns, where the words do not say them.
    const char *unused; // Suffixes of tensors that describe activations, separated by blanks.
    enum quantised_packing packing;
    int is_transposed;      // Tensors have the columns of the weight as their rows.
    int packs_rows;         // Of a transposed layout: a word has values of several rows.
    const uint8_t *places;  // Where value i of a word of 4-bit values is, in values; NULL: i.
    int is_split;           // The quants' last axis is split into groups and bytes.
    int zeros_down;         // Words of zero points run along the rows of the weight.
    int becomes_transposed; // Model plugins know the matrices as [columns, rows].
};

enum quantised_layout_id {
    QUANTISED_F8_INVERSE, // .weight, .weight_scale_inv
    QUANTISED_F8,         // .weight, .weight_scale
    QUANTISED_I8,         // The same with whole numbers.
    QUANTISED_PACKED,     // .weight_packed of whole numbers in words, .weight_scale
    QUANTISED_F4_PACKED,  // .weight_packed of 4-bit floats, .weight_scale of powers of two
    QUANTISED_F4_GLOBAL,  // The same, scales of 8-bit floats, divided by .weight_global_scale
    QUANTISED_F4_SCALE_2, // .weight of 4-bit floats, .weight_scale times .weight_scale_2
    QUANTISED_F4_BLOCKS,  // _blocks, _scales of stacked experts
    QUANTISED_GPTQ,       // .qweight, .qzeros, .scales, .g_idx
    QUANTISED_AWQ,        // .qweight, .qzeros, .scales
    QUANTISED_LAYOUT_COUNT,
};

// Returns the row of a layout. It is constant. [any]
const struct quantised_layout *quantised_layout_get(enum quantised_layout_id id);

// Whether `word` is one of `words`, which blanks separate. [any]
int quantised_layout_lists(const char *words, const char *word);
