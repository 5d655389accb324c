// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Block-quantised tensors: their layout in memory, encoding and decoding. docs/encodings.md defines
// the meaning of the bits; plugins have their own decoders.
//
// An encoded tensor is dense and complete: its last axis consists of complete blocks, it begins at
// a multiple of ENCODING_ALIGN bytes, and it has no partial views.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

enum { ENCODING_ALIGN = 16, ENCODING_BLOCK_MAX = 32 };

// Returns the encoding with this id, or NULL. It is constant. [any]
const tapml_encoding *encoding_find(const char *id);

// Returns the encoding of a user's word, "q8_0" or "q4_0"; NULL for another word. [any]
const tapml_encoding *encoding_find_word(const char *word);

// Returns the id of an encoding, or the name of `dtype` if `encoding` is NULL: "tapml.q8/1", "f32".
// [any]
const char *encoding_name(const tapml_encoding *encoding, uint32_t dtype);

// Counts the bytes of a dense tensor, which is plain if `encoding` is NULL. The size of an encoded
// tensor is a multiple of ENCODING_ALIGN. TAPML_INVALID if the size does not fit into 63 bits, or
// the last axis does not consist of complete blocks. [any]
tapml_status encoding_bytes(const tapml_encoding *encoding,
                            uint32_t dtype,
                            const int64_t *shape,
                            uint32_t rank,
                            uint64_t *out_bytes) STATUS_USED;

// Returns the offset in bytes of span `index` in a tensor of `block_count` blocks. [any]
uint64_t encoding_span_begin(const tapml_encoding *encoding, uint64_t block_count, uint32_t index);

// The loss of precision of an encoding.
struct encoding_loss {
    double error_squares; // Sum over all values of (encoded - value)^2
    double value_squares; // and of value^2.
    double error_max;     // The largest |encoded - value|.
};

// Returns the root of error squares over value squares; 0 if all values are zero. [any]
double encoding_loss_relative(const struct encoding_loss *loss);

// Encodes `block_count` blocks of plain values of a float type to `out_target`, which has room for
// encoding_bytes, and adds to `loss`. TAPML_INVALID names the first block with a value that is not
// finite or that exceeds the range of the scales.
tapml_status encoding_encode(const tapml_encoding *encoding,
                             uint32_t dtype,
                             const void *source,
                             uint64_t block_count,
                             void *out_target,
                             struct encoding_loss *loss) STATUS_USED;

// Decodes one block of a tensor of `block_count` blocks at `source`. [any]
void encoding_decode(const tapml_encoding *encoding,
                     const void *source,
                     uint64_t block_count,
                     uint64_t block,
                     float out_values[ENCODING_BLOCK_MAX]);

// Copies blocks `first` .. `first + count - 1` of a tensor of `block_count` blocks into a tensor of
// `count` blocks. [any]
void encoding_slice(const tapml_encoding *encoding,
                    const void *source,
                    uint64_t block_count,
                    uint64_t first,
                    uint64_t count,
                    void *out_target);
