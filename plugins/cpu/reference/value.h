// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/codec/tiles.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Where the values of a tensor lie, and what their bits mean.
//
// A row is the last axis of a tensor; rows are numbered over all other axes, the last fastest. A
// weight may be a chain of panels of its rows (`next`): functions with `panel` in the name walk it.

// The number of rows of `tensor`, without those of further panels. Its rank is at least 1.
size_t value_row_count(const tapml_tensor *tensor);

// The length of a row.
size_t value_width(const tapml_tensor *tensor);

// From one element to the next along `axis`, in elements; 0 repeats the same one.
ptrdiff_t value_stride(const tapml_tensor *tensor, uint32_t axis);

// The first element of row `row`. May be written where the tensor is an output.
void *value_row(const tapml_tensor *tensor, size_t row);

// The rows of a weight of two axes in all its panels, and values `first` .. `first` + `count` of
// one of them as f32: widened, which is exact, or decoded where it is encoded.
size_t value_panel_row_count(const tapml_tensor *weight);
void value_panel_get(
    const tapml_tensor *weight, size_t row, size_t first, size_t count, float *target);

// A row of activations in f32 or f16, or of a weight in f32 at any address. Its values are read as
// f32, which is exact, and written rounded to the nearest, ties to even. `value_of` finds it by its
// number.
struct value_row {
    void *data;
    bool is_half;
};

struct value_row value_of(const tapml_tensor *tensor, size_t row);

// `half` as f32, and `value` rounded to f16.
float value_widen_half(uint16_t half);
uint16_t value_narrow_half(float value);

static inline float value_read(struct value_row row, ptrdiff_t i)
{
    const unsigned char *data = row.data;
    uint16_t half;
    float value;

    if (row.is_half) {
        memcpy(&half, data + i * (ptrdiff_t)sizeof(half), sizeof(half));
        return value_widen_half(half);
    }
    memcpy(&value, data + i * (ptrdiff_t)sizeof(value), sizeof(value));
    return value;
}

static inline void value_write(struct value_row row, ptrdiff_t i, float value)
{
    if (row.is_half) {
        ((uint16_t *)row.data)[i] = value_narrow_half(value);
    } else {
        ((float *)row.data)[i] = value;
    }
}

// Whether the encoding of a weight, or that of a state, is known; what is plain has none.
bool value_is_known(const tapml_encoding *encoding, bool is_state);

// Decodes values `first` .. `first` + `count` of an encoded tensor, counted from its start.
void value_decode(const tapml_tensor *tensor, size_t first, size_t count, float *target);

// Encodes the values of `x` from `first` on, as many as a block has, to `block`. The encoding is
// known and has one span.
void value_encode(struct value_row x, ptrdiff_t first, const char *encoding, unsigned char *block);

// The spans of a tensor of two axes whose encoding is one of tiles.
struct codec_matrix value_matrix(const tapml_tensor *tensor);

// Block `block` of span `index` of a tensor that is encoded in blocks.
const unsigned char *value_span(const tapml_tensor *tensor, uint32_t index, size_t block);

// Widens `count` neighbouring values of type `dtype` (f32, f16 or bf16) to f32, which is exact. The
// source may lie at any address.
void value_widen(uint32_t dtype, const void *source, size_t count, float *target);

// Values `first` .. `first + count` of a dense tensor of one axis, widened.
void value_get(const tapml_tensor *tensor, size_t first, size_t count, float *target);

// The nearest number of f16 and of bf16, ties to even, as f32.
float value_round_f16(float value);
float value_round_bf16(float value);
