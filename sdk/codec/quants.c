// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "quants.h"

#include <string.h>

void quants_read_pairs(const unsigned char *bytes, uint32_t count, uint8_t *out_quants)
{
    for (uint32_t i = 0; i < count; i++) {
        out_quants[i] = bytes[i / 2] >> i % 2 * 4 & 15;
    }
}

void quants_write_pairs(const uint8_t *quants, uint32_t count, unsigned char *out_bytes)
{
    for (uint32_t i = 0; i < count; i += 2) {
        out_bytes[i / 2] = (unsigned char)((quants[i] & 15) | (quants[i + 1] & 15) << 4);
    }
}

void quants_read_halves(const unsigned char *bytes, uint32_t count, uint8_t *out_quants)
{
    const uint32_t half = count / 2;

    for (uint32_t i = 0; i < half; i++) {
        out_quants[i] = bytes[i] & 15;
        out_quants[half + i] = bytes[i] >> 4;
    }
}

void quants_write_halves(const uint8_t *quants, uint32_t count, unsigned char *out_bytes)
{
    const uint32_t half = count / 2;

    for (uint32_t i = 0; i < half; i++) {
        out_bytes[i] = (unsigned char)((quants[i] & 15) | (quants[half + i] & 15) << 4);
    }
}

void quants_read_fifth_bits(const unsigned char *bytes, uint32_t count, uint8_t *quants)
{
    for (uint32_t i = 0; i < count; i++) {
        quants[i] = (uint8_t)(quants[i] | (bytes[i / 8] >> i % 8 & 1) << 4);
    }
}

void quants_write_fifth_bits(const uint8_t *quants, uint32_t count, unsigned char *out_bytes)
{
    memset(out_bytes, 0, count / 8);
    for (uint32_t i = 0; i < count; i++) {
        out_bytes[i / 8] = (unsigned char)(out_bytes[i / 8] | (quants[i] >> 4 & 1) << i % 8);
    }
}
