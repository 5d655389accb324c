// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fast/units.h"

// The quants of units (fast/units.h), taken out of their bits, and their values.

// Bits come in from the neighbour.
VECTOR_INLINE units_bytes16 units_shift(units_bytes16 bytes, size_t bits)
{
    return (units_bytes16)((units_words8)bytes >> (uint16_t)bits);
}

// The low four bits of the quants of unit `u` of a block.
VECTOR_INLINE struct unit_quants
units_lows(const struct units_form *form, const struct units *block, size_t u)
{
    const size_t half = form->bits == 6 ? u / 4 : u / 2; // What packs its bits together.
    const size_t shift = form->bits == 6 ? u % 4 / 2 * 4 : u % 2 * 4;
    const unsigned char *bytes =
        block->quants + (form->bits == 6 ? half * 64 + u % 2 * 32 : half * 32);

    if (form->is_piece && form->is_large) {
        return (struct unit_quants){{
            units_shift(units_load_bytes(bytes), shift) & 15,
            units_shift(units_load_bytes(bytes + 16), shift) & 15,
        }};
    }
    const units_bytes16 packed = units_load_bytes(block->quants + u * (UNITS_VALUES / 2));
    const units_bytes16 lows = packed & 15, highs = units_shift(packed, 4) & 15;

    if (form->is_piece) {
        return (struct unit_quants){{lows, highs}};
    }
    return (struct unit_quants){
        {units_interleave_low(lows, highs), units_interleave_high(lows, highs)}};
}

// Bit i of two bytes as bit 4 of byte i.
VECTOR_INLINE units_bytes16 units_spread_bits(const unsigned char *bytes)
{
    const units_bytes16 bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const units_bytes16 copies = {bytes[0], bytes[0], bytes[0], bytes[0], bytes[0], bytes[0],
                                  bytes[0], bytes[0], bytes[1], bytes[1], bytes[1], bytes[1],
                                  bytes[1], bytes[1], bytes[1], bytes[1]};

    return (units_bytes16)((copies & bits) == bits) & 16;
}

// Pair i of the bits of four bytes as bits 4 and 5 of byte i.
VECTOR_INLINE units_bytes16 units_spread_pairs(const unsigned char *bytes)
{
    const vector_quad_u32 words = {bytes[0], bytes[1], bytes[2], bytes[3]};

    return (units_bytes16)(words << 4 | words << 10 | words << 16 | words << 22) & 0x30;
}

// What the quants of unit `u` of a block have above four bits.
VECTOR_INLINE struct unit_quants
units_highs(const struct units_form *form, const struct units *block, size_t u)
{
    struct unit_quants unit;

    for (size_t i = 0; i < 2; i++) {
        const unsigned char *bytes = block->highs + 16 * i;

        if (form->bits == 5 && form->is_piece && form->is_large) {
            unit.halves[i] =
                (units_bytes16)((units_words8)(units_shift(units_load_bytes(bytes), u) & 1) << 4);
        } else if (form->bits == 5) {
            unit.halves[i] = units_spread_bits(block->highs + u * 4 + i * 2);
        } else if (form->is_piece) {
            bytes += u / 4 * 32;
            unit.halves[i] =
                (units_bytes16)((units_words8)(units_shift(units_load_bytes(bytes), u % 4 * 2) & 3)
                                << 4);
        } else {
            unit.halves[i] = units_spread_pairs(block->highs + u * 8 + i * 4);
        }
    }
    return unit;
}

// The quants of unit `u` of a block, with their sign.
VECTOR_INLINE struct unit_quants
units_quants(const struct units_form *form, const struct units *block, size_t u)
{
    struct unit_quants unit;

    if (form->bits == 8) {
        const unsigned char *bytes = block->quants + u * UNITS_VALUES;

        return (struct unit_quants){{units_load_bytes(bytes), units_load_bytes(bytes + 16)}};
    }
    unit = units_lows(form, block, u);
    if (form->bits > 4) {
        const struct unit_quants highs = units_highs(form, block, u);

        unit.halves[0] |= highs.halves[0];
        unit.halves[1] |= highs.halves[1];
    }
    unit.halves[0] -= (uint8_t)form->middle;
    unit.halves[1] -= (uint8_t)form->middle;
    return unit;
}

// -- Values ------------------------------------------------------------------------------------

// Vector `v` of the values of unit `u` of a section.
VECTOR_INLINE vector units_values(const struct units_form *form,
                                  const struct units_scales *scales,
                                  const struct unit_quants *unit,
                                  size_t u,
                                  size_t v)
{
    const size_t scale = form->bits == 6 ? 2 * u + v * VECTOR_LANES / 16 : u;
    const vector numbers = units_widen_quants(unit, v);
    const vector products = vector_of(scales->scales[scale]) * numbers;

    return form->has_mins ? products + vector_of(scales->mins[u]) : products;
}
