// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta_levels.h"

#include "base/assert.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <math.h>
#include <string.h>

enum { SCALE_BYTES = 2, BLOCK_VALUES = 32, LOW_BYTES = 16, FIFTH_BYTES = 4 };

int delta_levels_bits(enum delta_kind kind)
{
    return kind == DELTA_24Q2 ? 2 : kind == DELTA_24Q4 ? 4 : 0;
}

uint64_t delta_levels_blocks(uint64_t columns)
{
    return (columns + DELTA_LEVELS_BLOCK - 1) / DELTA_LEVELS_BLOCK;
}

float delta_levels_round_scale(double scale)
{
    return convert_bf16_to_f32(convert_f32_to_bf16((float)scale));
}

int8_t delta_levels_nearest(int bits, double value)
{
    const double most = (double)((1 << bits) - 1);
    const double odd =
        2 * floor(value / 2) + 1; // The nearest: those two lower and higher meet there.
    return (int8_t)fmax(-most, fmin(most, odd));
}

// -- The parts of a body -----------------------------------------------------------------------

static uint64_t rows_of(const struct delta_form *form)
{
    return form->columns > 0 ? form->count / form->columns : 0;
}

static uint64_t scales_of(const struct delta_form *form)
{
    return rows_of(form) * delta_levels_blocks(form->columns);
}

uint64_t delta_levels_bytes(const struct delta_form *form)
{
    const uint64_t bits = (uint64_t)delta_levels_bits(form->kind);
    return scales_of(form) * SCALE_BYTES + (form->count + 7) / 8 + (form->kept * bits + 7) / 8;
}

static float scale_at(const unsigned char *scales, uint64_t index)
{
    uint16_t bits = 0;
    memcpy(&bits, scales + index * SCALE_BYTES, sizeof(bits));
    return convert_bf16_to_f32(bits);
}

static int stays(const unsigned char *mask, uint64_t index)
{
    return mask[index / 8] >> (index % 8) & 1;
}

// -- Making ------------------------------------------------------------------------------------

void delta_levels_pack(struct delta_form *io_form,
                       const float *scales,
                       const int8_t *levels,
                       unsigned char *out_body)
{
    const int bits = delta_levels_bits(io_form->kind);
    unsigned char *mask = out_body + scales_of(io_form) * SCALE_BYTES;
    unsigned char *codes = mask + (io_form->count + 7) / 8;
    for (uint64_t i = 0; i < scales_of(io_form); ++i) {
        const uint16_t scale = convert_f32_to_bf16(scales[i]);
        memcpy(out_body + i * SCALE_BYTES, &scale, sizeof(scale));
    }
    memset(mask, 0, (io_form->count + 7) / 8);
    io_form->kept = 0;
    for (uint64_t i = 0; i < io_form->count; ++i) {
        if (levels[i] == 0) {
            continue;
        }
        const uint64_t at = io_form->kept++ * (uint64_t)bits;
        const unsigned code = (unsigned)(levels[i] + (1 << bits) - 1) / 2;
        ASSERT(code < 1U << bits && levels[i] % 2 != 0);
        mask[i / 8] |= (unsigned char)(1U << (i % 8));
        codes[at / 8] = (unsigned char)((at % 8 == 0 ? 0 : codes[at / 8]) | code << (at % 8));
    }
}

// -- Applying ----------------------------------------------------------------------------------

static tapml_status
check_group(const struct delta_form *form, const unsigned char *mask, uint64_t at)
{
    const uint64_t left = form->columns - at % form->columns;
    int count = 0;
    for (uint64_t i = 0; i < DELTA_LEVELS_GROUP && i < left; ++i) {
        count += stays(mask, at + i);
    }
    return count <= DELTA_LEVELS_STAY
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "expected two of four values to stay, found %d at %llu",
                             count, (unsigned long long)at);
}

static tapml_status check_mask(const struct delta_form *form, const unsigned char *mask)
{
    uint64_t kept = 0;
    for (uint64_t row = 0; row < rows_of(form); ++row) {
        for (uint64_t i = 0; i < form->columns; i += DELTA_LEVELS_GROUP) {
            TAPML_TRY(check_group(form, mask, row * form->columns + i));
        }
    }
    for (uint64_t i = 0; i < (form->count + 7) / 8; ++i) {
        kept += (uint64_t)__builtin_popcount(mask[i]);
    }
    for (uint64_t i = form->count; i % 8 != 0; ++i) {
        kept += (uint64_t)(stays(mask, i) * 8); // Beyond the last value: more than there may be.
    }
    return kept == form->kept
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "expected %llu values to stay, found others",
                             (unsigned long long)form->kept);
}

static tapml_status check_scales(const struct delta_form *form, const unsigned char *scales)
{
    for (uint64_t i = 0; i < scales_of(form); ++i) {
        if (!isfinite(scale_at(scales, i))) {
            return status_fail(TAPML_INVALID, "expected finite scales, found %g at %llu",
                               (double)scale_at(scales, i), (unsigned long long)i);
        }
    }
    return TAPML_OK;
}

// Where the body is being read.
struct delta_levels_cursor {
    const unsigned char *scales, *mask, *codes;
    uint64_t scale, kept;
    int bits;
};

static struct delta_levels_cursor cursor_of(const struct delta_form *form,
                                            const unsigned char *body)
{
    const unsigned char *mask = body + scales_of(form) * SCALE_BYTES;
    return (struct delta_levels_cursor){.scales = body,
                                        .mask = mask,
                                        .codes = mask + (form->count + 7) / 8,
                                        .bits = delta_levels_bits(form->kind)};
}

// One block of a row, which begins at value `begin`.
static void
apply_block(struct delta_levels_cursor *cursor, uint64_t begin, uint64_t count, double *io_values)
{
    const double scale = (double)scale_at(cursor->scales, cursor->scale++);
    const int most = (1 << cursor->bits) - 1;
    for (uint64_t i = 0; i < count; ++i) {
        if (stays(cursor->mask, begin + i)) {
            const uint64_t at = cursor->kept++ * (uint64_t)cursor->bits;
            const int code = cursor->codes[at / 8] >> (at % 8) & most;
            io_values[i] += scale * (double)(2 * code - most);
        }
    }
}

tapml_status delta_levels_apply(const struct delta_form *form,
                                const void *base,
                                const unsigned char *body,
                                void *out_fine)
{
    double values[DELTA_LEVELS_BLOCK];
    const uint64_t size = dtype_bytes(form->dtype);
    struct delta_levels_cursor cursor = cursor_of(form, body);
    TAPML_TRY(check_scales(form, cursor.scales));
    TAPML_TRY(check_mask(form, cursor.mask));
    for (uint64_t begin = 0; begin < form->count;) {
        const uint64_t left = form->columns - begin % form->columns;
        const uint64_t count = left < DELTA_LEVELS_BLOCK ? left : DELTA_LEVELS_BLOCK;
        convert_to_f64(form->dtype, (const unsigned char *)base + begin * size, count, values);
        apply_block(&cursor, begin, count, values);
        convert_from_f64(form->dtype, values, count, (unsigned char *)out_fine + begin * size);
        begin += count;
    }
    return TAPML_OK;
}

// -- As blocks ---------------------------------------------------------------------------------

int delta_levels_fit_blocks(const struct delta_form *form, const unsigned char *body)
{
    // The min of a block on a device, f16, is that of the lowest quant: -16 or -8 times the scale.
    const double most = (form->kind == DELTA_24Q4 ? 4094 : 8188) / (double)DELTA_LEVELS_UNIT;
    int fits = form->columns % BLOCK_VALUES == 0;
    for (uint64_t i = 0; fits && i < scales_of(form); ++i) {
        fits = fabs((double)scale_at(body, i)) <= most;
    }
    return fits;
}

// The quants of values `begin` and 31 behind it.
static void read_quants(struct delta_levels_cursor *cursor, uint64_t begin, unsigned *out_quants)
{
    const int most = (1 << cursor->bits) - 1;
    for (uint64_t i = 0; i < BLOCK_VALUES; ++i) {
        int level = 0;
        if (stays(cursor->mask, begin + i)) {
            const uint64_t at = cursor->kept++ * (uint64_t)cursor->bits;
            level = 2 * (cursor->codes[at / 8] >> (at % 8) & most) - most;
        }
        out_quants[i] = (unsigned)(level + (cursor->bits == 4 ? 16 : 8));
    }
}

static unsigned char *
write_block(int bits, float scale, const unsigned *quants, unsigned char *out_block)
{
    const uint16_t half = convert_f32_to_f16(scale * (float)DELTA_LEVELS_UNIT);
    memcpy(out_block, &half, sizeof(half));
    out_block += sizeof(half);
    if (bits == 4) {
        memset(out_block, 0, FIFTH_BYTES);
        for (unsigned i = 0; i < BLOCK_VALUES; ++i) {
            out_block[i / 8] |= (unsigned char)((quants[i] >> 4) << (i % 8));
        }
        out_block += FIFTH_BYTES;
    }
    for (unsigned i = 0; i < LOW_BYTES; ++i) {
        out_block[i] = (unsigned char)((quants[i] & 15) | (quants[i + LOW_BYTES] & 15) << 4);
    }
    return out_block + LOW_BYTES;
}

void delta_levels_write_blocks(const struct delta_form *form,
                               const unsigned char *body,
                               unsigned char *out_blocks)
{
    struct delta_levels_cursor cursor = cursor_of(form, body);
    unsigned quants[BLOCK_VALUES];
    ASSERT(form->columns % BLOCK_VALUES == 0);
    for (uint64_t begin = 0; begin < form->count; begin += BLOCK_VALUES) {
        const uint64_t row = begin / form->columns, column = begin % form->columns;
        const uint64_t scale =
            row * delta_levels_blocks(form->columns) + column / DELTA_LEVELS_BLOCK;
        read_quants(&cursor, begin, quants);
        out_blocks = write_block(cursor.bits, scale_at(body, scale), quants, out_blocks);
    }
}
