// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/fault_quants.h"

#include "base/assert.h"
#include "tensor/convert.h"
#include "tensor/quant_format.h"

#include <math.h>
#include <string.h>

int fault_quants_has_scales(int64_t scaling)
{
    return scaling != QUANT_FORMAT_GIVEN;
}

struct fault_quants fault_quants_read(const tapml_value *args, uint64_t count, uint64_t width)
{
    ASSERT(width > 0);
    return (struct fault_quants){.block = args[QUANT_FORMAT_BLOCK].u.i,
                                 .format = args[QUANT_FORMAT_FORMAT].u.i,
                                 .scaling = args[QUANT_FORMAT_SCALING].u.i,
                                 .low = args[QUANT_FORMAT_LOW].u.d,
                                 .high = args[QUANT_FORMAT_HIGH].u.d,
                                 .factor = args[QUANT_FORMAT_FACTOR].u.d,
                                 .count = count,
                                 .width = width};
}

// -- Scales ------------------------------------------------------------------------------------

static double nearest_e4m3(double value)
{
    const struct quant_format *format = quant_format_get(QUANT_FORMAT_E4M3);
    const double size = fmin(value, format->most);
    const double step = quant_format_step(format, size);

    return nearbyint(size / step) * step;
}

static double scale_of(const struct fault_quants *quants, double largest)
{
    const double divisor = quant_format_get(quants->format)->divisor, factor = quants->factor;
    const double magnitude = fmin(fmax(largest, quants->low), quants->high);

    switch (quants->scaling) {
    case QUANT_FORMAT_QUOTIENT:
        return magnitude / divisor;
    case QUANT_FORMAT_POWER_ABOVE:
        return exp2(ceil(log2(magnitude / divisor)));
    case QUANT_FORMAT_POWER_OF:
        return exp2(floor(log2(magnitude)) - floor(log2(divisor)));
    case QUANT_FORMAT_SCALED:
        return nearest_e4m3(factor * magnitude / divisor) / factor;
    case QUANT_FORMAT_DIVIDED:
        return nearest_e4m3(magnitude / (divisor * factor)) * factor;
    default:
        return factor;
    }
}

// -- Blocks ------------------------------------------------------------------------------------

static uint64_t blocks_in_row(const struct fault_quants *quants)
{
    const uint64_t block = (uint64_t)quants->block;

    return block > 0 ? (quants->width + block - 1) / block : 1;
}

static uint64_t block_count(const struct fault_quants *quants)
{
    return quants->count / quants->width * blocks_in_row(quants);
}

// The values of a block.
struct span {
    uint64_t begin, end;
};

static struct span span_of(const struct fault_quants *quants, uint64_t index)
{
    const uint64_t in_row = blocks_in_row(quants);
    ASSERT(in_row > 0); // Rows have a width.
    const uint64_t block = in_row > 1 ? (uint64_t)quants->block : quants->width;
    const uint64_t at = index % in_row * block, rest = quants->width - at;
    const uint64_t begin = index / in_row * quants->width + at;

    return (struct span){begin, begin + (rest < block ? rest : block)};
}

static double scale_at(const struct fault_quants *quants, uint64_t index, const double *x)
{
    const struct span span = span_of(quants, index);
    double largest = 0;

    for (uint64_t i = span.begin; i < span.end; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    return scale_of(quants, largest);
}

void fault_quants_truncate(const struct fault_quants *quants, const double *x, double *out_y)
{
    const struct quant_format *format = quant_format_get(quants->format);

    for (uint64_t b = 0; b < block_count(quants); b++) {
        const struct span span = span_of(quants, b);
        const double scale = scale_at(quants, b, x);

        for (uint64_t i = span.begin; i < span.end; i++) {
            const double size = fmin(fabs(x[i]) / scale, format->most);
            const double step = quant_format_step(format, size);

            out_y[i] = scale > 0 ? copysign(trunc(size / step) * step * scale, x[i]) : 0;
        }
    }
}

void fault_quants_move_scales(const struct fault_quants *quants,
                              int is_reversed,
                              const double *x,
                              double *y)
{
    const uint64_t count = block_count(quants);

    for (uint64_t b = 0; b < count; b++) {
        const struct span span = span_of(quants, b);
        const double own = scale_at(quants, b, x);
        const double other = scale_at(quants, is_reversed ? count - 1 - b : (b + 1) % count, x);

        for (uint64_t i = span.begin; i < span.end; i++) {
            y[i] = own > 0 ? y[i] / own * other : y[i];
        }
    }
}

static void exchange(unsigned char *a, unsigned char *b)
{
    float kept = 0;

    memcpy(&kept, a, sizeof(kept));
    memcpy(a, b, sizeof(kept));
    memcpy(b, &kept, sizeof(kept));
}

void fault_quants_move_stored(unsigned char *blocks, uint64_t step, uint64_t count, int is_reversed)
{
    const uint64_t pairs = is_reversed ? count / 2 : count > 0 ? count - 1 : 0;

    // Neighbours exchanged from the first on carry its scale to the end.
    for (uint64_t b = 0; b < pairs; b++) {
        exchange(blocks + b * step, blocks + (is_reversed ? count - 1 - b : b + 1) * step);
    }
}

void fault_quants_truncate_stored(
    unsigned char *blocks, uint64_t step, uint64_t values, uint64_t index, float value)
{
    unsigned char *block = blocks + index / values * step;
    float scale = 0;

    memcpy(&scale, block, sizeof(scale));
    if (scale > 0) {
        block[sizeof(scale) + index % values] =
            (unsigned char)(int)trunc((double)value / (double)scale);
    }
}

uint16_t fault_quants_truncate_half(float value)
{
    const uint16_t nearest = convert_f32_to_f16(value);
    const int is_beyond = fabsf(convert_f16_to_f32(nearest)) > fabsf(value);

    return (uint16_t)(nearest - is_beyond); // Next to infinity is the largest number.
}
