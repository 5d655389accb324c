// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/quant_format.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

static const struct quant_format formats[] = {
    [QUANT_FORMAT_E4M3] = {0, 3, -6, 448, 448},
    [QUANT_FORMAT_E5M2] = {0, 2, -14, 57344, 57344},
    [QUANT_FORMAT_E2M1] = {0, 1, 0, 6, 6},
    [QUANT_FORMAT_I8] = {1, 0, 0, 127, 127.5},
};

const struct quant_format *quant_format_get(int64_t format)
{
    ASSERT(format >= 0 && format < (int64_t)(sizeof(formats) / sizeof(formats[0])));
    return &formats[format];
}

int quant_format_is_op(const tapml_op *op)
{
    return strcmp(op->name, "tapml.fake_quantise") == 0 && op->version == 1;
}

double quant_format_step(const struct quant_format *format, double magnitude)
{
    const int exponent = magnitude > 0 ? ilogb(magnitude) : format->least_exponent;
    const int used = exponent > format->least_exponent ? exponent : format->least_exponent;
    return format->is_whole ? 1 : ldexp(1, used - format->digits);
}

double quant_format_round(const struct quant_format *format, double value)
{
    const double step = quant_format_step(format, fabs(value));
    const double nearest = step * nearbyint(value / step);
    return fmax(-format->most, fmin(format->most, nearest));
}
