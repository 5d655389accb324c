// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/plugin.h"

#include <tapml/codec/codec.h>
#include <tapml/codec/tiles.h>

// A tensor in a buffer of a plugin's device, in any layout, with poison around and between its
// values: a NaN in floats, -1 in integers. Where the device's memory is ordinary, the buffer is a
// block of exactly its size, so that a sanitizer sees every step beside it.
struct operand {
    tapml_tensor tensor;
    struct plugin *plugin;
    unsigned char *original; // The bytes as they were made; the size rounded up to 16.
    unsigned char *memory;   // Where the device's memory is ordinary: the block, else NULL.
    size_t skew_bytes;       // Where in the block the buffer begins.
    size_t size_bytes, count;
    int64_t shape[TAPML_MAX_RANK], stride[TAPML_MAX_RANK];

    // Spans with buffers of their own.
    tapml_tensor spans[CODEC_TILES_SPANS_MAX];
    const tapml_tensor *span_list[CODEC_TILES_SPANS_MAX];
    int64_t span_bytes[CODEC_TILES_SPANS_MAX];
};

// In place of a dtype: a dense weight in the encoding with this index (codec_at), of values that
// op_fixture_values gave for it. `lead` then counts units of 16 bytes.
#define OPERAND_ENCODED(index) TAPML_DT(8, index)
#define OPERAND_Q8             OPERAND_ENCODED(0)
#define OPERAND_Q4             OPERAND_ENCODED(1)

// Likewise a state in TAPML_ENCODING_Q8_ROWS.
#define OPERAND_ROWS OPERAND_ENCODED(0xffff)

// Likewise a weight of two axes in the tiles with this index (codec_tiles_at), of the values
// nearest to those given. Its spans lie in one buffer, or have buffers of their own, of ordinary
// memory.
#define OPERAND_TILES(index) TAPML_DT(9, index)
#define OPERAND_APART(index) TAPML_DT(10, index)

// Returns the tiles of such a weight, or NULL.
const struct codec_tiles *operand_tiles(uint32_t dtype);

// Returns the codec of such a weight or state, or NULL of a dtype.
const struct codec *operand_codec(uint32_t dtype);

// Whether a plugin's device is to take weights of such a kind: blocks of files are for those that
// say so.
bool operand_is_taken(struct plugin *plugin, uint32_t dtype);

struct operand_spec {
    uint32_t dtype;
    uint32_t rank;
    int64_t shape[TAPML_MAX_RANK];
    int64_t stride[TAPML_MAX_RANK]; // In elements, not negative. Of all axes or, as 0s, dense.
    bool strided;                   // `stride` is to be used.
    size_t lead;                    // Elements of the buffer before the first.
    size_t skew_bytes;              // Moves ordinary memory off its alignment.
    const double *values;           // Dense, rounded here; NULL leaves poison: an output.
};

// Makes an operand; the test fails where the device has no memory. The caller destroys it.
struct operand *operand_create(struct plugin *plugin, const struct operand_spec *spec);
void operand_destroy(struct operand *operand);

// Reads all values, dense.
void operand_read(const struct operand *operand, double *values);

// Whether every byte is as it was made, but for those of values where `written`.
bool operand_is_intact(const struct operand *operand, bool written);

// Arguments. NULL is an optional operand left out.
tapml_value operand_in(const struct operand *operand);
tapml_value operand_out(const struct operand *operand);
tapml_value operand_inout(const struct operand *operand);
tapml_value operand_i64(int64_t value);
tapml_value operand_f64(double value);
