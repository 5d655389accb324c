// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Encodings of weights and states as functions: one module for each, which knows its layout in
// memory, reads its blocks, writes them and spreads them out for devices. docs/encodings.md defines
// the bits.
//
// The host and any plugin may link this library, so that a plugin need not read the bits itself.
// Everything is constant and pure: any thread may call any function at any time.
#ifndef TAPML_CODEC_CODEC_H
#define TAPML_CODEC_CODEC_H

#include <tapml/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CODEC_VALUES_MAX = 256, // In one block of any encoding.
    CODEC_GROUPS_MAX = 16,  // Of values that share a scale.
    CODEC_SPANS_MAX = 4,
};

// The numbers of one block. Value i is scales[g] * quants[i], plus mins[g] where there are mins;
// g is i / group_values. The product is rounded to f32, and so is the sum.
struct codec_block {
    uint32_t group_values;
    int has_mins;
    float quants[CODEC_VALUES_MAX]; // Whole numbers.
    float scales[CODEC_GROUPS_MAX];
    float mins[CODEC_GROUPS_MAX];
};

// One encoding. `spans[k]` points to what span k of a tensor has for the block.
struct codec {
    const tapml_encoding *encoding;
    const char *word; // What users call it: "q4_k". NULL where they name another that becomes it.

    // Reads a block: all but values behind the encoding's `block_values`.
    void (*read)(const struct codec *codec,
                 const unsigned char *const *spans,
                 struct codec_block *out_block);

    // Writes the block nearest to finite values of a magnitude below CODEC_VALUE_LIMIT, or to any
    // values of f32 if `takes_all`.
    void (*write)(const struct codec *codec, const double *values, unsigned char *const *out_spans);

    // The encoding of the same values whose spans can be read in words of 32 bits, and how a block
    // becomes one of it. Returns 0 where this block cannot. Both are NULL in such an encoding.
    const struct codec *spread;
    int (*spread_block)(const struct codec *codec,
                        const unsigned char *const *spans,
                        unsigned char *const *out_spans);

    int takes_all;    // Every value of f32 has a block, also what is not finite.
    const void *form; // What the functions of the module know about this encoding.
};

// Values of this magnitude and larger ones have no block.
#define CODEC_VALUE_LIMIT 65520.0

// Returns the codec of an encoding's id, or NULL. It is constant.
const struct codec *codec_find(const char *id);

// Returns the codec of a user's word, or NULL. It is constant.
const struct codec *codec_find_word(const char *word);

// Returns the codec of weights with this index, or NULL behind the last. Those of states have none.
const struct codec *codec_at(uint32_t index);

// Decodes a block to the `block_values` values of `codec`.
void codec_decode(const struct codec *codec, const unsigned char *const *spans, float *out_values);

#ifdef __cplusplus
}
#endif

#endif
