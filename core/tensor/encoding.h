// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Block-quantised tensors: where their bytes lie, and the way from plain values and back. What the
// bits mean is written down in docs/encodings.md; plugins have decoders of their own.
//
// An encoded tensor is dense and whole: its last axis consists of whole blocks, it begins on a
// multiple of ENCODING_ALIGN, and no view looks at a part of it.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

enum { ENCODING_ALIGN = 16, ENCODING_BLOCK_MAX = 32 };

// The encoding of that id, or NULL. Constant.
const tapml_encoding *encoding_find(const char *id);

// What users call the way into one: "q8_0" and "q4_0". NULL for another word.
const tapml_encoding *encoding_find_word(const char *word);

// Its id, or the name of the type where there is no encoding: "tapml.q8/1", "f32".
const char *encoding_name(const tapml_encoding *encoding, uint32_t dtype);

// Bytes of a dense tensor; `encoding` NULL: plain. An encoded one ends on a multiple of
// ENCODING_ALIGN. TAPML_INVALID where they do not fit in 63 bits, or the last axis does not consist
// of whole blocks.
tapml_status encoding_bytes(const tapml_encoding *encoding,
                            uint32_t dtype,
                            const int64_t *shape,
                            uint32_t rank,
                            uint64_t *out_bytes) STATUS_USED;

// Where span `index` of a tensor of `block_count` blocks begins, in bytes.
uint64_t encoding_span_begin(const tapml_encoding *encoding, uint64_t block_count, uint32_t index);

// What was lost on the way into an encoding.
struct encoding_loss {
    double error_squares; // Sum over all values of (encoded - value)^2
    double value_squares; // and of value^2.
    double error_max;     // The largest |encoded - value|.
};

// The root of error over value squares: 0 where all values are zero.
double encoding_loss_relative(const struct encoding_loss *loss);

// Encodes `block_count` blocks of plain values of a float type to `out_target`, which has room for
// encoding_bytes, and adds to `loss`. TAPML_INVALID names the first block with a value that is not
// finite or beyond what the scales hold.
tapml_status encoding_encode(const tapml_encoding *encoding,
                             uint32_t dtype,
                             const void *source,
                             uint64_t block_count,
                             void *out_target,
                             struct encoding_loss *loss) STATUS_USED;

// The values of one block of `block_count`.
void encoding_decode(const tapml_encoding *encoding,
                     const void *source,
                     uint64_t block_count,
                     uint64_t block,
                     float out_values[ENCODING_BLOCK_MAX]);

// Makes a tensor of its own of blocks `first` .. `first + count - 1` of `block_count`.
void encoding_slice(const tapml_encoding *encoding,
                    const void *source,
                    uint64_t block_count,
                    uint64_t first,
                    uint64_t count,
                    void *out_target);
