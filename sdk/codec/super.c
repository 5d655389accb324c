// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "super.h"

#include "number.h"
#include "quants.h"

#include <math.h>
#include <string.h>

enum { FACTOR_MAX = 63 };

struct super {
    unsigned char scale[2], min_scale[2]; // As f16.
    uint8_t factors[SUPER_GROUPS], min_factors[SUPER_GROUPS];
    uint8_t quants[SUPER_VALUES];
};

static int bits_of(const struct codec *codec)
{
    return ((const struct super_form *)codec->form)->bits;
}

// -- Values ------------------------------------------------------------------------------------

// Products of an f16 and a factor are exact.
static void show(const struct super *super, struct codec_block *out_block)
{
    const float scale = number_read_half(super->scale);
    const float min_scale = number_read_half(super->min_scale);

    out_block->group_values = SUPER_GROUP_VALUES;
    out_block->has_mins = 1;
    for (uint32_t g = 0; g < SUPER_GROUPS; g++) {
        out_block->scales[g] = scale * (float)super->factors[g];
        out_block->mins[g] = -(min_scale * (float)super->min_factors[g]);
    }
    for (uint32_t i = 0; i < SUPER_VALUES; i++) {
        out_block->quants[i] = super->quants[i];
    }
}

// The step between quants and the negated min of each group, before these have a common scale.
static void
find_groups(const double *values, int most, double steps[SUPER_GROUPS], double mins[SUPER_GROUPS])
{
    for (uint32_t g = 0; g < SUPER_GROUPS; g++) {
        double least = 0, largest = values[g * SUPER_GROUP_VALUES];

        for (uint32_t i = g * SUPER_GROUP_VALUES; i < (g + 1) * SUPER_GROUP_VALUES; i++) {
            least = fmin(least, values[i]);
            largest = fmax(largest, values[i]);
        }
        steps[g] = fmax(largest - least, 0) / most;
        mins[g] = -least;
    }
}

// The common scale of numbers that are not negative, and their factors of it.
static void
find_factors(const double numbers[SUPER_GROUPS], unsigned char scale[2], uint8_t *out_factors)
{
    number_write_half((float)(fabs(number_extreme(numbers, SUPER_GROUPS)) / FACTOR_MAX), scale);
    const double inverse = number_inverse(number_read_half(scale));

    for (uint32_t g = 0; g < SUPER_GROUPS; g++) {
        out_factors[g] = (uint8_t)number_round(numbers[g] * inverse, 0, FACTOR_MAX);
    }
}

static void find(const double *values, int most, struct super *out_super)
{
    double steps[SUPER_GROUPS], mins[SUPER_GROUPS];

    find_groups(values, most, steps, mins);
    find_factors(steps, out_super->scale, out_super->factors);
    find_factors(mins, out_super->min_scale, out_super->min_factors);
    const double scale = number_read_half(out_super->scale);
    const double min_scale = number_read_half(out_super->min_scale);

    for (uint32_t i = 0; i < SUPER_VALUES; i++) {
        const uint32_t g = i / SUPER_GROUP_VALUES;
        const double inverse = number_inverse(scale * out_super->factors[g]);
        const double above = values[i] + min_scale * out_super->min_factors[g];

        out_super->quants[i] = (uint8_t)number_round(above * inverse, 0, most);
    }
}

// -- Bytes -------------------------------------------------------------------------------------

// Six bits of each factor in 12 bytes: those of the first four groups in the low bits of bytes 0 ..
// 3, those of their mins in 4 .. 7. Of the others four bits are in bytes 8 .. 11, the mins' in the
// high halves; their highest two are above the six bits of the first eight bytes.
static void get_factors(const unsigned char *bytes, struct super *out_super)
{
    for (uint32_t g = 0; g < SUPER_GROUPS / 2; g++) {
        const unsigned char *scale = bytes + g, *min = bytes + 4 + g, *rest = bytes + 8 + g;

        out_super->factors[g] = *scale & FACTOR_MAX;
        out_super->min_factors[g] = *min & FACTOR_MAX;
        out_super->factors[g + 4] = (uint8_t)((*rest & 15) | *scale >> 6 << 4);
        out_super->min_factors[g + 4] = (uint8_t)(*rest >> 4 | *min >> 6 << 4);
    }
}

static void put_factors(const struct super *super, unsigned char *out_bytes)
{
    for (uint32_t g = 0; g < SUPER_GROUPS / 2; g++) {
        const unsigned factor = super->factors[g + 4], min_factor = super->min_factors[g + 4];

        out_bytes[g] = (unsigned char)(super->factors[g] | factor >> 4 << 6);
        out_bytes[4 + g] = (unsigned char)(super->min_factors[g] | min_factor >> 4 << 6);
        out_bytes[8 + g] = (unsigned char)((factor & 15) | (min_factor & 15) << 4);
    }
}

static void get_fifth_bits(const unsigned char *bytes, uint8_t *quants)
{
    for (uint32_t i = 0; i < SUPER_VALUES; i++) {
        const uint32_t bit = i / SUPER_GROUP_VALUES;

        quants[i] = (uint8_t)(quants[i] | (bytes[i % SUPER_GROUP_VALUES] >> bit & 1) << 4);
    }
}

static void put_fifth_bits(const uint8_t *quants, unsigned char *out_bytes)
{
    memset(out_bytes, 0, SUPER_FIFTH_BYTES);
    for (uint32_t i = 0; i < SUPER_VALUES; i++) {
        unsigned char *byte = &out_bytes[i % SUPER_GROUP_VALUES];

        *byte = (unsigned char)(*byte | (quants[i] >> 4 & 1) << i / SUPER_GROUP_VALUES);
    }
}

static void get_piece(int bits, const unsigned char *bytes, struct super *out_super)
{
    memcpy(out_super->scale, bytes, sizeof(out_super->scale));
    memcpy(out_super->min_scale, bytes + 2, sizeof(out_super->min_scale));
    get_factors(bytes + SUPER_SCALE_BYTES, out_super);
    bytes += SUPER_SCALE_BYTES + SUPER_FACTOR_BYTES;
    const unsigned char *lows = bytes + (bits == 5 ? SUPER_FIFTH_BYTES : 0);

    for (uint32_t i = 0; i < SUPER_VALUES; i += 64) {
        quants_read_halves(lows + i / 2, 64, out_super->quants + i);
    }
    if (bits == 5) {
        get_fifth_bits(bytes, out_super->quants);
    }
}

static void put_piece(int bits, const struct super *super, unsigned char *out_bytes)
{
    memcpy(out_bytes, super->scale, sizeof(super->scale));
    memcpy(out_bytes + 2, super->min_scale, sizeof(super->min_scale));
    put_factors(super, out_bytes + SUPER_SCALE_BYTES);
    out_bytes += SUPER_SCALE_BYTES + SUPER_FACTOR_BYTES;
    if (bits == 5) {
        put_fifth_bits(super->quants, out_bytes);
        out_bytes += SUPER_FIFTH_BYTES;
    }
    for (uint32_t i = 0; i < SUPER_VALUES; i += 64) {
        quants_write_halves(super->quants + i, 64, out_bytes + i / 2);
    }
}

static void get_spans(int bits, const unsigned char *const *spans, struct super *out_super)
{
    quants_read_pairs(*spans++, SUPER_VALUES, out_super->quants);
    if (bits == 5) {
        quants_read_fifth_bits(*spans++, SUPER_VALUES, out_super->quants);
    }
    const unsigned char *factors = *spans++;

    for (uint32_t g = 0; g < SUPER_GROUPS; g++) {
        out_super->factors[g] = factors[2 * g];
        out_super->min_factors[g] = factors[2 * g + 1];
    }
    memcpy(out_super->scale, *spans, sizeof(out_super->scale));
    memcpy(out_super->min_scale, *spans + 2, sizeof(out_super->min_scale));
}

static void put_spans(int bits, const struct super *super, unsigned char *const *out_spans)
{
    quants_write_pairs(super->quants, SUPER_VALUES, *out_spans++);
    if (bits == 5) {
        quants_write_fifth_bits(super->quants, SUPER_VALUES, *out_spans++);
    }
    unsigned char *factors = *out_spans++;

    for (uint32_t g = 0; g < SUPER_GROUPS; g++) {
        factors[2 * g] = super->factors[g];
        factors[2 * g + 1] = super->min_factors[g];
    }
    memcpy(*out_spans, super->scale, sizeof(super->scale));
    memcpy(*out_spans + 2, super->min_scale, sizeof(super->min_scale));
}

// -- The functions of codecs -------------------------------------------------------------------

void super_read_piece(const struct codec *codec,
                      const unsigned char *const *spans,
                      struct codec_block *out_block)
{
    struct super super;

    get_piece(bits_of(codec), spans[0], &super);
    show(&super, out_block);
}

void super_write_piece(const struct codec *codec,
                       const double *values,
                       unsigned char *const *out_spans)
{
    struct super super;

    find(values, (1 << bits_of(codec)) - 1, &super);
    put_piece(bits_of(codec), &super, out_spans[0]);
}

int super_spread_piece(const struct codec *codec,
                       const unsigned char *const *spans,
                       unsigned char *const *out_spans)
{
    struct super super;

    get_piece(bits_of(codec), spans[0], &super);
    put_spans(bits_of(codec), &super, out_spans);
    return 1;
}

void super_read_spans(const struct codec *codec,
                      const unsigned char *const *spans,
                      struct codec_block *out_block)
{
    struct super super;

    get_spans(bits_of(codec), spans, &super);
    show(&super, out_block);
}

void super_write_spans(const struct codec *codec,
                       const double *values,
                       unsigned char *const *out_spans)
{
    struct super super;

    find(values, (1 << bits_of(codec)) - 1, &super);
    put_spans(bits_of(codec), &super, out_spans);
}
