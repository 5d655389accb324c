// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/value.h"

#include "object.h"

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
    return object_of(tensor->buffer)->data + tensor->offset +
           index * (ptrdiff_t)TAPML_DT_BYTES(tensor->dtype);
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
    for (size_t i = 0; i < count; i++) {
        uint16_t word;

        memcpy(&word, bytes + i * sizeof(word), sizeof(word));
        target[i] = dtype == TAPML_BF16 ? float_of((uint32_t)word << 16) : value_widen_half(word);
    }
}

bool value_is_known(const tapml_encoding *encoding)
{
    return encoding == NULL || strcmp(encoding->id, TAPML_ENCODING_Q8) == 0 ||
           strcmp(encoding->id, TAPML_ENCODING_Q4) == 0;
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
    return object_of(tensor->buffer)->data + tensor->offset + begin +
           block * encoding->spans[index]->block_bytes;
}

static float half_of(const tapml_tensor *tensor, uint32_t index, size_t block)
{
    float value;

    value_widen(TAPML_F16, value_span(tensor, index, block), 1, &value);
    return value;
}

// Values `first` .. `first + count` of one block, as docs/encodings.md defines them.
static void
decode_block(const tapml_tensor *tensor, size_t block, size_t first, size_t count, float *target)
{
    const unsigned char *quants = value_span(tensor, 0, block);
    const float scale = half_of(tensor, 1, block);

    if (tensor->encoding->n_spans == 2) {
        for (size_t i = 0; i < count; i++) {
            target[i] = scale * (float)(int8_t)quants[first + i];
        }
        return;
    }
    const float min = half_of(tensor, 2, block);

    for (size_t i = 0; i < count; i++) {
        const size_t at = first + i;

        target[i] = scale * (float)(quants[at / 2] >> at % 2 * 4 & 15) + min;
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
    const size_t block_values = weight->encoding->block_values;

    for (size_t at = row * value_width(weight) + first; count > 0;) {
        const size_t rest = block_values - at % block_values, here = count < rest ? count : rest;

        decode_block(weight, at / block_values, at % block_values, here, target);
        at += here;
        target += here;
        count -= here;
    }
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
