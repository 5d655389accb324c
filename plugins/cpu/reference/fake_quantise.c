// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <math.h>

// Checkpoints define quantised inputs by operations of f32, each rounded once: that is what both
// devices compute, the exact one too.

enum { E4M3, E5M2, E2M1, I8 };
enum { GIVEN, QUOTIENT, POWER_ABOVE, POWER_OF, SCALED, DIVIDED };

// Below it a scale is 0: no device is asked for subnormal numbers.
static const float least_scale = 0x1p-100F;

// The numbers of a format: with `digits` bits behind the first, multiples of `step` below `normal`.
struct format {
    int digits;
    float normal, step;
    float most, least; // Quotients beyond are clamped.
    float divisor;     // By which the largest magnitude of a block is divided.
    int exponent;      // Of the largest number.
};

static const struct format formats[] = {
    [E4M3] = {3, 0x1p-6F, 0x1p-9F, 448, -448, 448, 8},
    [E5M2] = {2, 0x1p-14F, 0x1p-16F, 57344, -57344, 57344, 15},
    [E2M1] = {1, 1, 0.5F, 6, -6, 6, 2},
    [I8] = {7, 256, 1, 127, -128, 127.5F, 6},
};

struct fake_quantise {
    const tapml_tensor *x, *y;
    const struct format *format;
    int64_t scaling;
    float low, high, factor;
    size_t width, block;
};

// The nearest number of a format, ties to that whose last digit is even.
static float nearest(const struct format *format, float value)
{
    const float clamped = fmaxf(format->least, fminf(value, format->most));
    const float size = fabsf(clamped);
    int exponent = 0;

    if (size < format->normal) {
        return rintf(clamped / format->step) * format->step;
    }
    (void)frexpf(size, &exponent);
    const float step = ldexpf(1, exponent - 1 - format->digits);

    return rintf(clamped / step) * step;
}

// The power of two of a magnitude, once that is rounded to the digits of the format.
static float power_of(const struct format *format, float magnitude)
{
    int exponent = 0;

    if (magnitude == 0) {
        return 0;
    }
    const float fraction = frexpf(magnitude, &exponent); // From 1/2 to 1.
    const int is_next = fraction >= 1 - ldexpf(1, -2 - format->digits);

    return ldexpf(1, exponent - 1 + is_next - format->exponent);
}

static float power_above(float quotient)
{
    int exponent = 0;
    const float fraction = frexpf(quotient, &exponent);

    return quotient == 0 ? 0 : ldexpf(1, fraction == 0.5F ? exponent - 1 : exponent);
}

// The scale of a block whose largest magnitude is `largest`.
static float scale_of(const struct fake_quantise *op, float largest)
{
    const struct format *format = op->format;
    const float magnitude = fminf(fmaxf(largest, op->low), op->high);

    switch (op->scaling) {
    case QUOTIENT:
        return magnitude / format->divisor;
    case POWER_ABOVE:
        return power_above(magnitude / format->divisor);
    case POWER_OF:
        return power_of(format, magnitude);
    case SCALED:
        return nearest(&formats[E4M3], op->factor * (magnitude / format->divisor)) / op->factor;
    case DIVIDED:
        return nearest(&formats[E4M3], magnitude / (format->divisor * op->factor)) * op->factor;
    default:
        return op->factor;
    }
}

static float quantised(const struct fake_quantise *op, float scale, float value)
{
    if (isnan(scale) || isnan(value)) {
        return NAN;
    }
    return copysignf(scale < least_scale ? 0 : nearest(op->format, value / scale) * scale, value);
}

// Values `begin` .. `end` of a row, which have one scale. One that is not finite leaves none.
static void write_block(const struct fake_quantise *op,
                        struct value_row x,
                        struct value_row y,
                        size_t begin,
                        size_t end)
{
    float largest = 0;

    for (size_t i = begin; i < end && op->scaling != GIVEN; i++) {
        const float value = fabsf(value_read(x, (ptrdiff_t)i));

        largest = value < INFINITY ? fmaxf(largest, value) : NAN;
        if (isnan(largest)) {
            break;
        }
    }
    const float scale = isnan(largest) ? NAN : scale_of(op, largest);

    for (size_t i = begin; i < end; i++) {
        value_write(y, (ptrdiff_t)i, quantised(op, scale, value_read(x, (ptrdiff_t)i)));
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct fake_quantise *op = job;

    for (uint64_t r = begin; r < end; r++) {
        const struct value_row x = value_of(op->x, (size_t)r), y = value_of(op->y, (size_t)r);

        for (size_t at = 0; at < op->width; at += op->block) {
            const size_t rest = op->width - at;

            write_block(op, x, y, at, at + (rest < op->block ? rest : op->block));
        }
    }
}

static tapml_status fake_quantise(TAPML_FAKE_QUANTISE_PARAMS)
{
    const size_t width = value_width(x);
    struct fake_quantise op = {
        .x = x,
        .y = y,
        .format = &formats[format],
        .scaling = scaling,
        .low = (float)low,
        .high = (float)high,
        .factor = (float)factor,
        .width = width,
        .block = block > 0 && (size_t)block < width ? (size_t)block : width,
    };
    const struct work work = {
        .count = value_row_count(y),
        .unit_cost = 16 * (uint64_t)width,
        .body = compute,
        .job = &op,
    };

    return work_run(queue, call, &work, y);
}

const tapml_op_impl PRECISE(reference_fake_quantise) = TAPML_IMPL(tapml_fake_quantise,
                                                                  fake_quantise);
