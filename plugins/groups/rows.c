// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <math.h>
#include <string.h>

int64_t rows_of(const tapml_tensor *tensor)
{
    int64_t rows = 1;
    for (uint32_t i = 0; i + 1 < tensor->rank; i++) {
        rows *= tensor->shape[i];
    }
    return rows;
}

int64_t width_of(const tapml_tensor *tensor)
{
    return tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
}

int64_t step_of(const tapml_tensor *tensor)
{
    return tensor->stride && tensor->rank > 0 ? tensor->stride[tensor->rank - 1] : 1;
}

// Elements from the first one to the beginning of a row.
static int64_t offset_of(const tapml_tensor *tensor, int64_t row)
{
    int64_t offset = 0;
    if (!tensor->stride) {
        return row * width_of(tensor);
    }
    for (uint32_t i = tensor->rank - 1; i > 0; i--) {
        offset += row % tensor->shape[i - 1] * tensor->stride[i - 1];
        row /= tensor->shape[i - 1];
    }
    return offset;
}

float *row_at(const tapml_tensor *tensor, int64_t row)
{
    return (float *)memory_at(tensor) + offset_of(tensor, row);
}

static float half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const float sign = (bits & 0x8000u) != 0 ? -1 : 1;
    if (exponent == 31) {
        return mantissa != 0 ? (float)NAN : sign * (float)INFINITY;
    }
    return exponent == 0 ? sign * ldexpf((float)mantissa, -24)
                         : sign * ldexpf((float)(mantissa + 1024), exponent - 25);
}

float weight_at(const tapml_tensor *weight, int64_t row, int64_t index)
{
    const int64_t at = offset_of(weight, row) + index * step_of(weight);
    const unsigned char *bytes =
        (const unsigned char *)memory_at(weight) + at * (int64_t)TAPML_DT_BYTES(weight->dtype);
    uint16_t half = 0;
    uint32_t bits = 0;
    float value = 0;
    if (weight->dtype == TAPML_F32) {
        memcpy(&value, bytes, sizeof(value));
        return value;
    }
    memcpy(&half, bytes, sizeof(half));
    if (weight->dtype == TAPML_F16) {
        return half_value(half);
    }
    bits = (uint32_t)half << 16;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static int is_plain(const tapml_tensor *tensor)
{
    return tensor && !tensor->encoding && !tensor->next && !tensor->spans;
}

int is_activation(const tapml_tensor *tensor)
{
    return is_plain(tensor) && tensor->dtype == TAPML_F32;
}

int is_plain_weight(const tapml_tensor *tensor)
{
    return is_plain(tensor) && (tensor->dtype == TAPML_F32 || tensor->dtype == TAPML_F16 ||
                                tensor->dtype == TAPML_BF16);
}
