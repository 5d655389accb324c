// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Quants without a sign, as bytes, and how their bits are packed.
#pragma once

#include <stdint.h>

// Two neighbours in a byte, the first in its low four bits.
void quants_read_pairs(const unsigned char *bytes, uint32_t count, uint8_t *out_quants);
void quants_write_pairs(const uint8_t *quants, uint32_t count, unsigned char *out_bytes);

// Quants of the first half in the low four bits, those of the second half in the high ones.
void quants_read_halves(const unsigned char *bytes, uint32_t count, uint8_t *out_quants);
void quants_write_halves(const uint8_t *quants, uint32_t count, unsigned char *out_bytes);

// The fifth bits of quants, eight in a byte, the first one lowest.
void quants_read_fifth_bits(const unsigned char *bytes, uint32_t count, uint8_t *quants);
void quants_write_fifth_bits(const uint8_t *quants, uint32_t count, unsigned char *out_bytes);
