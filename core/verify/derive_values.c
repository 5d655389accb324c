// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derive_values.h"

#include "base/assert.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <math.h>

enum { PIECE_VALUES = 256 }; // Drawn before they are converted.

static const double SPREAD_LEAST = 1e-3, SPREAD_BEYOND = 16;
static const double SATURATED = 256;                         // Of exp, in f32, on either side,
static const double OVERFLOW_BEGIN = 80, OVERFLOW_END = 112; // but not between these.
static const double F16_MOST = 65504;

static double with_sign(struct random *random, double value)
{
    return random_below(random, 2) == 0 ? value : -value;
}

// The smallest magnitudes. Every fourth is subnormal, but for exact ops.
static double draw_tiny(const struct derive_drawing *drawing, uint64_t index)
{
    return with_sign(drawing->random, !drawing->is_exact && index % 4 == 3 ? 1e-40 : 1e-30);
}

// In every other block of 32 values, whose largest is 127, halves of whole numbers; in the others
// halves at a magnitude at which f16 has whole numbers alone.
static double draw_tie(struct random *random, uint64_t index)
{
    enum { BLOCK = 32, MOST = 127, HALF_WHOLE = 1024 };
    const int is_block = index / BLOCK % 2 == 0;
    const double magnitude =
        (double)random_below(random, is_block ? MOST : HALF_WHOLE) + (is_block ? 0 : HALF_WHOLE);
    return with_sign(random, is_block && index % BLOCK == 0 ? MOST : magnitude + 0.5);
}

// From a thousandth of the model's range to far beyond it, and at least to where every function
// is saturated. Where exp leaves f32, honest kernels differ by more than roundings, since the
// one divides by what overflows to infinity in the other: such magnitudes are doubled.
static double draw_spread(const struct derive_drawing *drawing, double most)
{
    const double range = drawing->range > 0 ? drawing->range : 1;
    const double least = SPREAD_LEAST * range;
    const double largest = fmax(fmin(fmax(SPREAD_BEYOND * range, SATURATED), most), 2 * least);
    const double share = random_between(drawing->random, 0, 1);
    const double magnitude = least * pow(largest / least, share);
    const int is_overflow = magnitude > OVERFLOW_BEGIN && magnitude < OVERFLOW_END;
    return with_sign(drawing->random, is_overflow ? 2 * magnitude : magnitude);
}

// At every eighth value a critical one itself, else one beside it, at any distance up to its size.
static double draw_critical(const struct derive_drawing *drawing)
{
    enum { KINDS = 8, BITS = 24 };
    struct random *random = drawing->random;
    ASSERT(drawing->critical_count > 0);
    const double value = drawing->criticals[random_below(random, drawing->critical_count)];
    if (random_below(random, KINDS) == 0) {
        return value != 0 ? value : with_sign(random, 0);
    }
    const double distance = fmax(fabs(value), 1) * exp2(random_between(random, -BITS, 0));
    return value + with_sign(random, distance);
}

// In order without being sorted: each value lies in a slot of its own.
static double draw_sorted(const struct derive_drawing *drawing, uint64_t index)
{
    const uint64_t width = drawing->width;
    const double slot = (double)(index % width) + random_between(drawing->random, 0, 1);
    const double value = 2 * slot / (double)width - 1;
    return index / width % 2 == 0 ? value : -value;
}

// Value `index` of a tensor; `stands_out`: it is the one of its row.
// `most` is the largest number that it holds.
static double
draw(const struct derive_drawing *drawing, uint64_t index, int stands_out, double most)
{
    struct random *random = drawing->random;
    switch (drawing->values) {
    case DERIVE_VALUES_POSITIVE:
        return random_between(random, 0, 1);
    case DERIVE_VALUES_UNIFORM:
        return random_between(random, -1, 1);
    case DERIVE_VALUES_ZERO:
        return index % 2 == 0 ? 0.0 : -0.0;
    case DERIVE_VALUES_TINY:
        return draw_tiny(drawing, index);
    case DERIVE_VALUES_LARGE:
        return with_sign(random, random_between(random, 5e3, 1e4));
    case DERIVE_VALUES_EQUAL:
        return 0.7;
    case DERIVE_VALUES_OUTLIER:
        return stands_out ? with_sign(random, random_between(random, 240, 300))
                          : random_between(random, -1, 1);
    case DERIVE_VALUES_TIES:
        return draw_tie(random, index);
    case DERIVE_VALUES_SPREAD:
        return draw_spread(drawing, most);
    case DERIVE_VALUES_CRITICAL:
        return draw_critical(drawing);
    case DERIVE_VALUES_SORTED:
        return draw_sorted(drawing, index);
    case DERIVE_VALUES_ALTERNATING:
        return random_between(random, 0.5, 1) * (index % 2 == 0 ? 1 : -1);
    }
    return 0;
}

// The magnitude of a group. Some have no scale but zero, unless they may be the only one, and some
// one that f16 and e4m3 hold as a subnormal number.
static float draw_magnitude(uint64_t seed, int is_first)
{
    enum { KINDS = 16, BITS = 4 };
    struct random random;
    random_init(&random, seed);
    const uint64_t kind = random_below(&random, KINDS);
    const double bits = random_between(&random, -BITS, BITS);
    return kind > 1 || is_first ? (float)exp2(bits) : kind == 1 ? 0x1p-18f : 0;
}

// Gives every group of values another magnitude, so that a scale of a neighbour is seen.
static void vary_groups(const struct derive_drawing *drawing, float *values, uint64_t count)
{
    const uint64_t width = drawing->width, each = drawing->group_values;
    const uint64_t across = (width + each - 1) / each;
    const uint64_t seed = random_u64(drawing->random);
    uint64_t end = 0;
    for (uint64_t begin = 0; begin < count; begin = end) {
        const uint64_t row = begin / width, column = begin % width;
        const uint64_t group = row / drawing->group_rows * across + column / each;
        const float magnitude = draw_magnitude(seed + group, group == 0);
        end = begin + (each < width - column ? each : width - column);
        for (uint64_t i = begin; i < end && i < count; i++) {
            values[i] *= magnitude;
        }
    }
}

static uint64_t smallest_of(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t least = a < b ? a : b;
    return least < c ? least : c;
}

// Values `begin` to `end` - 1, all of one row, of which `outlier` stands out.
static void draw_piece(const struct derive_drawing *drawing,
                       uint64_t begin,
                       uint64_t end,
                       uint64_t outlier,
                       double most,
                       double *out)
{
    for (uint64_t i = begin; i < end; i++) {
        out[i - begin] = draw(drawing, i, i == outlier, most);
    }
}

void derive_values_fill(const struct derive_drawing *drawing,
                        uint32_t dtype,
                        uint64_t count,
                        void *out_data)
{
    const uint64_t element_bytes = dtype_bytes(dtype), width = drawing->width;
    const double most = dtype == TAPML_F16 ? F16_MOST : INFINITY;
    double piece[PIECE_VALUES];
    uint64_t outlier = 0;
    ASSERT(width > 0);
    for (uint64_t begin = 0, end = 0; begin < count; begin = end) {
        const uint64_t column = begin % width;
        outlier = column == 0 ? random_below(drawing->random, width) : outlier;
        end = begin + smallest_of(PIECE_VALUES, width - column, count - begin);
        draw_piece(drawing, begin, end, begin - column + outlier, most, piece);
        convert_from_f64(dtype, piece, end - begin,
                         (unsigned char *)out_data + begin * element_bytes);
    }
    if (drawing->group_values > 0 && drawing->values == DERIVE_VALUES_UNIFORM &&
        dtype == TAPML_F32) {
        vary_groups(drawing, out_data, count);
    }
}
