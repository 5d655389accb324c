// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derive_quants.h"

#include "base/assert.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/quant_format.h"

#include <math.h>

static double with_sign(struct random *random, double value)
{
    return random_below(random, 2) == 0 ? value : -value;
}

// Halfway between two neighbouring numbers. Of floats all exponents are as likely.
static double draw_tie(struct random *random, const struct quant_format *format)
{
    const uint64_t steps = UINT64_C(1) << format->digits;
    if (format->is_whole) {
        return (double)random_below(random, (uint64_t)format->most) + 0.5;
    }
    const int exponents = ilogb(format->most) - format->least_exponent + 1;
    const int exponent = (int)random_below(random, (uint64_t)exponents + 1); // 0: below the least.
    const double first = exponent > 0 ? (double)steps : 0;
    const double half = first + (double)random_below(random, steps) + 0.5;
    const double tie =
        ldexp(half, format->least_exponent + (exponent > 0 ? exponent - 1 : 0) - format->digits);
    return tie < format->most ? tie : format->most;
}

// The scale of a block, which the op finds again if the largest quant is the format's divisor.
static double draw_scale(const struct derive_quants *drawing)
{
    enum { KINDS = 12, ZERO = 0, LEAST = 1 };
    const uint64_t kind = random_below(drawing->random, KINDS);
    const double power = ldexp(1, (int)random_below(drawing->random, 8) - 4);
    const double held = kind == LEAST ? 0x1p-9 : power; // Of e4m3 the least is subnormal.
    if (drawing->scaling == QUANT_FORMAT_GIVEN) {
        return drawing->factor;
    }
    if (kind == ZERO) {
        return 0;
    }
    if (drawing->scaling == QUANT_FORMAT_SCALED) {
        return held / drawing->factor;
    }
    if (drawing->scaling == QUANT_FORMAT_DIVIDED) {
        return held * drawing->factor;
    }
    return kind == LEAST ? 0x1p-99 : power;
}

// Value `index` of a block: the largest first.
static double draw(const struct derive_quants *drawing, uint64_t index)
{
    enum { BEYOND = 8 };
    const struct quant_format *format = quant_format_get(drawing->format);
    if (index == 0) {
        return format->divisor;
    }
    if (drawing->scaling == QUANT_FORMAT_GIVEN && random_below(drawing->random, BEYOND) == 0) {
        return format->most * random_between(drawing->random, 1, 2);
    }
    return draw_tie(drawing->random, format);
}

void derive_quants_fill(const struct derive_quants *drawing,
                        uint32_t dtype,
                        uint64_t count,
                        void *out_data)
{
    const uint64_t width = drawing->width;
    const uint64_t block = drawing->block > 0 ? (uint64_t)drawing->block : width;
    double scale = 0;
    ASSERT(width > 0);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t index = i % width % block;
        scale = index == 0 ? draw_scale(drawing) : scale;
        const double value = with_sign(drawing->random, draw(drawing, index) * scale);
        convert_from_f64(dtype, &value, 1, (unsigned char *)out_data + i * dtype_bytes(dtype));
    }
}
