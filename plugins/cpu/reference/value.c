// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/value.h"

#include "reference/reference.h"

#include <tapml/codec/codec.h>

#include <math.h>
#include <string.h>

size_t value_row_count(const tapml_tensor *tensor)
{
    size_t count = 1;

    for (uint32_t axis = 0; axis + 1 < tensor->rank; axis++) {
        count *= (size_t)tensor->shape[axis];
    }
    return count;
}

size_t value_width(const tapml_tensor *tensor)
{
    return (size_t)tensor->shape[tensor->rank - 1];
}

ptrdiff_t value_stride(const tapml_tensor *tensor, uint32_t axis)
{
    ptrdiff_t stride = 1;

    if (tensor->stride != NULL) {
        return (ptrdiff_t)tensor->stride[axis];
    }
    for (uint32_t inner = axis + 1; inner < tensor->rank; inner++) {
        stride *= (ptrdiff_t)tensor->shape[inner];
    }
    return stride;
}

void *value_row(const tapml_tensor *tensor, size_t row)
{
    ptrdiff_t index = 0;

    for (uint32_t axis = tensor->rank - 1; axis-- > 0;) {
        const size_t length = (size_t)tensor->shape[axis];

        index += (ptrdiff_t)(row % length) * value_stride(tensor, axis);
        row /= length;
    }
    return (unsigned char *)memory_at(tensor) + index * (ptrdiff_t)TAPML_DT_BYTES(tensor->dtype);
}

struct value_row value_of(const tapml_tensor *tensor, size_t row)
{
    return (struct value_row){value_row(tensor, row), tensor->dtype == TAPML_F16};
}

size_t value_panel_row_count(const tapml_tensor *weight)
{
    size_t count = 0;

    for (; weight != NULL; weight = weight->next) {
        count += (size_t)weight->shape[0];
    }
    return count;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

float value_widen_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;

    if (rest >= 0x7c00u) { // Infinite, or not a number.
        return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    }
    if (rest >= 0x400u) { // The exponent counts from -127 instead of -15.
        return float_of(sign | ((rest << 13) + (112u << 23)));
    }
    return copysignf((float)rest * 0x1p-24f, float_of(sign | 0x3f800000u));
}

void value_widen(uint32_t dtype, const void *source, size_t count, float *target)
{
    const unsigned char *bytes = source;

    if (dtype == TAPML_F32) {
        memcpy(target, source, count * sizeof(*target));
        return;
    }
    for (size_t i = 0; dtype == TAPML_BF16 && i < count; i++) {
        uint16_t word;

        memcpy(&word, bytes + i * sizeof(word), sizeof(word));
        target[i] = float_of((uint32_t)word << 16);
    }
    for (size_t i = 0; dtype == TAPML_F16 && i < count; i++) {
        uint16_t word;

        memcpy(&word, bytes + i * sizeof(word), sizeof(word));
        target[i] = value_widen_half(word);
    }
}

bool value_is_known(const tapml_encoding *encoding, bool is_state)
{
    if (encoding == NULL || codec_tiles_find(encoding->id) != NULL) {
        return encoding == NULL || !is_state;
    }
    return codec_find(encoding->id) != NULL &&
           is_state == (strcmp(encoding->id, TAPML_ENCODING_Q8_ROWS) == 0);
}

const unsigned char *value_span(const tapml_tensor *tensor, uint32_t index, size_t block)
{
    const tapml_encoding *encoding = tensor->encoding;
    const size_t count = value_row_count(tensor) * value_width(tensor) / encoding->block_values;
    uint64_t begin = 0;

    for (uint32_t i = 0; i < index; i++) {
        const uint64_t align = encoding->spans[i + 1]->align;

        begin = (begin + count * encoding->spans[i]->block_bytes + align - 1) / align * align;
    }
    return (unsigned char *)memory_at(tensor) + begin + block * encoding->spans[index]->block_bytes;
}

struct codec_matrix value_matrix(const tapml_tensor *tensor)
{
    const tapml_encoding *encoding = tensor->encoding;
    struct codec_matrix matrix = {value_row_count(tensor), value_width(tensor), {NULL}};
    const bool has_buffers = TAPML_HAS(tapml_tensor, tensor, spans) && tensor->spans != NULL;
    uint64_t begin = 0;

    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        const tapml_span *span = encoding->spans[i];
        const tapml_tensor *place = has_buffers ? tensor->spans[i] : tensor;

        begin = has_buffers ? 0 : (begin + span->align - 1) / span->align * span->align;
        matrix.spans[i] = (unsigned char *)memory_at(place) + begin;
        begin += codec_tiles_bytes(span, matrix.rows, matrix.columns);
    }
    return matrix;
}

// The same as value_decode where there are tiles.
static void decode_tiles(const tapml_tensor *tensor,
                         const struct codec_tiles *tiles,
                         size_t first,
                         size_t count,
                         float *target)
{
    const struct codec_matrix matrix = value_matrix(tensor);

    while (count > 0) {
        const size_t at = first % matrix.columns, rest = matrix.columns - at;
        const size_t here = count < rest ? count : rest;

        codec_tiles_read(tiles, &matrix, first / matrix.columns, at, here, target);
        first += here;
        count -= here;
        target += here;
    }
}

// Values `first` .. `first` + `count` of one block.
static void
decode_block(const tapml_tensor *tensor, size_t block, size_t first, size_t count, float *target)
{
    const unsigned char *spans[CODEC_SPANS_MAX];
    float values[CODEC_VALUES_MAX];

    for (uint32_t i = 0; i < tensor->encoding->n_spans; i++) {
        spans[i] = value_span(tensor, i, block);
    }
    codec_decode(codec_find(tensor->encoding->id), spans, values);
    memcpy(target, values + first, count * sizeof(*target));
}

void value_decode(const tapml_tensor *tensor, size_t first, size_t count, float *target)
{
    const size_t block_values = tensor->encoding->block_values;
    const struct codec_tiles *tiles = codec_tiles_find(tensor->encoding->id);

    if (tiles != NULL) {
        decode_tiles(tensor, tiles, first, count, target);
        return;
    }
    for (size_t at = first; count > 0;) {
        const size_t rest = block_values - at % block_values, here = count < rest ? count : rest;

        decode_block(tensor, at / block_values, at % block_values, here, target);
        at += here;
        target += here;
        count -= here;
    }
}

void value_panel_get(
    const tapml_tensor *weight, size_t row, size_t first, size_t count, float *target)
{
    for (; row >= (size_t)weight->shape[0]; weight = weight->next) {
        row -= (size_t)weight->shape[0];
    }
    if (weight->encoding == NULL) {
        const unsigned char *values = value_row(weight, row);

        value_widen(weight->dtype, values + first * TAPML_DT_BYTES(weight->dtype), count, target);
        return;
    }
    value_decode(weight, row * value_width(weight) + first, count, target);
}

void value_get(const tapml_tensor *tensor, size_t first, size_t count, float *target)
{
    const unsigned char *row = value_row(tensor, 0);

    value_widen(tensor->dtype, row + first * TAPML_DT_BYTES(tensor->dtype), count, target);
}

float value_round_f16(float value)
{
    const float magnitude = fabsf(value);
    uint32_t bits = bits_of(magnitude);

    if (isnan(value)) {
        return value;
    }
    if (magnitude >= 65520.0f) { // Halfway between the largest f16 and the next power of two.
        return copysignf(INFINITY, value);
    }
    if (magnitude < 0x1p-14f) { // Subnormal: the last digit of 0.75 in f32 is that of all these.
        return copysignf((magnitude + 0.75f) - 0.75f, value);
    }
    bits += 0xfffu + (bits >> 13 & 1u);
    return copysignf(float_of(bits & ~0x1fffu), value);
}

uint16_t value_narrow_half(float value)
{
    const float rounded = value_round_f16(value), magnitude = fabsf(rounded);
    const uint32_t bits = bits_of(rounded), sign = bits >> 16 & 0x8000u;

    if (isnan(rounded)) { // Quiet, with the first digits of what it says.
        return (uint16_t)(sign | 0x7e00u | (bits >> 13 & 0x3ffu));
    }
    if (isinf(rounded)) {
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude < 0x1p-14f) {
        return (uint16_t)(sign | (uint32_t)(magnitude * 0x1p24f));
    }
    return (uint16_t)(sign | ((bits >> 13 & 0x3ffffu) - (112u << 10)));
}

float value_round_bf16(float value)
{
    const uint32_t bits = bits_of(value);

    if (isnan(value)) {
        return value;
    }
    return float_of((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

void value_encode(struct value_row x, ptrdiff_t first, const char *encoding, unsigned char *block)
{
    const struct codec *codec = codec_find(encoding);
    double values[CODEC_VALUES_MAX];

    for (uint32_t i = 0; i < codec->encoding->block_values; i++) {
        values[i] = value_read(x, first + (ptrdiff_t)i);
    }
    codec->write(codec, values, &block);
}
