// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_tiles.h - weights in tiles, the tensors of quantised checkpoints (docs/encodings.md): what k_view.h
// includes for K_W_TILES, and embed and linear_experts for tables and experts.
//
// One text is for all of them. What quants are is a constant, by which the decoding of a quant becomes a few
// operations; the rest, which is read once for many quants, is the number p.<w>_form. On the host:
// gpu_tiles_form.
#ifndef K_TILES_H
#define K_TILES_H

#define IS_TILES(kind) ((kind) == 10u) // K_W_TILES as a parameter.

// What a stored number is, as enum codec_number of tapml/codec/tiles.h. E4M3 is 0.
#define K_E4M3 0u
#define K_E5M2 1u
#define K_E2M1 2u
#define K_I8 3u
#define K_U8 4u
#define K_U4 5u
#define K_F32 6u
#define K_BF16 7u
#define K_F16_NUMBER 8u
#define K_E8M0 9u

// The form: what quants and scales are, what is subtracted from quants, what the factor does, and the
// binary logarithms of the rows and of the values of a tile, 31 for all.
#define K_FORM_QUANTS(form) ((form) & 15u)
#define K_FORM_SCALES(form) (((form) >> 4u) & 15u)
#define K_FORM_ZEROS(form) (((form) >> 8u) & 7u)
#define K_FORM_FACTOR(form) (((form) >> 11u) & 3u)
#define K_FORM_ROWS(form) (((form) >> 13u) & 31u)
#define K_FORM_VALUES(form) (((form) >> 18u) & 31u)

// As enum codec_zeros: nothing, half the range, a number of 8 bits, one in words, the same less by one.
#define K_ZEROS_MIDDLE 1u
#define K_ZEROS_I8 2u
#define K_ZEROS_LESS 4u
#define K_FACTOR_TIMES 1u
#define K_FACTOR_DIVIDES 2u

#define K_NIBBLES(quants) ((quants) % 3u == 2u) // E2M1 and U4.

// The magnitude m of a float with `digits` digits behind the first, whose exponent counts so that `up` is to
// be added for that of an f32. Below its normal numbers the digits are put behind a one, which is taken away.
FN(f32, k_tiny, ARG(u32, m), ARG(u32, digits), ARG(u32, up))
{
  LET(u32, u, (m << (23u - digits)));
  LET(f32, one, AS_F32((up + 1u) << 23u));
  return SELECT((m >> digits) == 0u, AS_F32(u + ((up + 1u) << 23u)) - one, AS_F32(u + (up << 23u)));
}

// A float of 8 bits. What e4m3 has instead of its largest number is NaN; e5m2 ends as f16 does.
FN(f32, k_float8, ARG(u32, kind), ARG(u32, bits))
{
  LET(u32, m, (bits & 127u));
  LET(u32, sign, ((bits & 128u) << 24u));
  VAR(u32, u, 0u);
  if (kind == K_E4M3) {
    u = SELECT(m == 127u, (m | 0x7fc00000u), AS_U32(k_tiny(m, 3u, 120u)));
  } else {
    u = SELECT(m >= 124u, (((m & 3u) << 21u) | 0x7f800000u), AS_U32(k_tiny(m, 2u, 112u)));
  }
  return AS_F32(u | sign);
}

// A quant of its bits, above which there are none.
FN(f32, k_tile_quant, ARG(u32, kind), ARG(u32, bits))
{
  if (kind == K_E2M1) {
    return AS_F32(AS_U32(k_tiny((bits & 7u), 1u, 126u)) | ((bits & 8u) << 28u));
  }
  if (kind == K_I8) { return f32(bits ^ 128u) - 128.0f; }
  if (kind >= K_U8) { return f32(bits); }
  return k_float8(kind, bits);
}

// Quant e of a row, of the word that has it: 4 in one, or 8.
FN(f32, k_tile_quant_of, ARG(u32, kind), ARG(u32, word), ARG(u32, e))
{
  LET(u32, bits, SELECT(K_NIBBLES(kind), ((word >> (4u * (e & 7u))) & 15u), ((word >> (8u * (e & 3u))) & 255u)));
  return k_tile_quant(kind, bits);
}
#define K_QUANT_WORD(kind, e) SELECT(K_NIBBLES(kind), ((e) >> 3u), ((e) >> 2u))

// Scale t of the word that has it, and the factor of the matrix. A quotient of the device may be off in its
// last digit; what is left of the scale makes it the nearest.
FN(f32, k_tile_scale, ARG(u32, form), ARG(u32, word), ARG(u32, t), ARG(u32, factor))
{
  LET(u32, kind, K_FORM_SCALES(form));
  LET(u32, bits, ((word >> (8u * (t & 3u))) & 255u));
  LET(f32, by, AS_F32(factor));
  VAR(f32, scale, 0.0f);
  if (kind == K_F32) { scale = AS_F32(word); }
  if (kind == K_BF16) { scale = k_bf16(word, t); }
  if (kind == K_F16_NUMBER) { scale = k_f16(word, t); }
  if (kind == K_E4M3) { scale = k_float8(K_E4M3, bits); }
  if (kind == K_E8M0) {
    scale = AS_F32(SELECT(bits == 0u, 0x400000u, SELECT(bits == 255u, (bits | 0x7fc00000u), (bits << 23u))));
  }
  if (K_FORM_FACTOR(form) == K_FACTOR_TIMES) { return scale * by; }
  if (K_FORM_FACTOR(form) == K_FACTOR_DIVIDES) {
    LET(f32, quotient, scale / by);
    return quotient + fma(-quotient, by, scale) / by;
  }
  return scale;
}

// How many numbers a word of scales has, as a binary logarithm.
#define K_SCALES_SHIFT(form) \
  SELECT(K_FORM_SCALES(form) == K_F32, 0u, SELECT(K_FORM_SCALES(form) >= K_E8M0 || K_FORM_SCALES(form) == K_E4M3, 2u, 1u))

// What is subtracted from the quants of tile t in row n, of the word that has it. Zero points in words stand
// there with those of neighbouring rows.
FN(f32, k_tile_zero, ARG(u32, form), ARG(u32, word), ARG(u32, t), ARG(u32, n))
{
  LET(u32, kind, K_FORM_ZEROS(form));
  LET(u32, quants, K_FORM_QUANTS(form));
  if (kind == 0u) { return 0.0f; }
  if (kind == K_ZEROS_MIDDLE) { return SELECT(K_NIBBLES(quants), 8.0f, 128.0f); }
  if (kind == K_ZEROS_I8) { return k_byte(word, t); }
  LET(f32, zero, k_tile_quant_of(quants, word, n));
  return SELECT(kind == K_ZEROS_LESS, zero + 1.0f, zero);
}

// Value `column` of row n of the weight w: its tile, and the words of the scale and of the zero point. Where
// there is none, p.<w>_mins is that of the scales.
#define K_TILE_ACROSS(w, column) ((column) >> K_FORM_VALUES(p.w##_form))
#define K_TILE(w, n, column) (((n) >> K_FORM_ROWS(p.w##_form)) * p.w##_across + K_TILE_ACROSS(w, column))
#define K_TILE_ZERO_WORD(w, n, column) SELECT(K_FORM_ZEROS(p.w##_form) <= K_ZEROS_I8, (K_TILE(w, n, column) >> 2u), \
  (K_QUANT_WORD(K_FORM_QUANTS(p.w##_form), n) * p.w##_across + K_TILE_ACROSS(w, column)))
#define TILE_SCALE(w, n, column) \
  k_tile_scale(p.w##_form, w[p.w##_scales + (K_TILE(w, n, column) >> K_SCALES_SHIFT(p.w##_form))], \
               K_TILE(w, n, column), w[p.w##_highs])
#define TILE_ZERO(w, n, column) \
  k_tile_zero(p.w##_form, w[p.w##_mins + K_TILE_ZERO_WORD(w, n, column)], K_TILE(w, n, column), n)

// The quant at place e, and the value, where quants are `kind`.
#define TILE_QUANT(w, kind, e) k_tile_quant_of(kind, w[p.w##_quants + K_QUANT_WORD(kind, e)], e)
#define TILE_AT(w, kind, n, column, e) \
  (TILE_SCALE(w, n, column) * (TILE_QUANT(w, kind, e) - TILE_ZERO(w, n, column)))

#if K_W == K_W_TILES
// Lane groups that have one scale, but for the last ones of a row.
#define BLOCK_LANES (SELECT(QUANTS == K_E2M1, 16u, 32u) / LANES)
#define W_SCALE(w, n, i) TILE_SCALE(w, n, ((i) * LANES))
#define W_ZERO(w, n, i) TILE_ZERO(w, n, ((i) * LANES))
#if K_X4
FN(f32x4, k_quants, ARG(u32, kind), ARG(u32, word), ARG(u32, e))
{
  LET(u32, four, SELECT(K_NIBBLES(kind), (word >> (16u * (e & 1u))), word));
  LET(u32, bits, SELECT(K_NIBBLES(kind), 4u, 8u));
  LET(u32, mask, ((1u << bits) - 1u));
  return f32x4(k_tile_quant(kind, (four & mask)), k_tile_quant(kind, ((four >> bits) & mask)),
               k_tile_quant(kind, ((four >> (2u * bits)) & mask)),
               k_tile_quant(kind, ((four >> (3u * bits)) & mask)));
}
#define W_QUANTS(w, e) k_quants(QUANTS, w[p.w##_quants + SELECT(K_NIBBLES(QUANTS), ((e) >> 1u), e)], e)
#else
#define W_QUANTS(w, e) TILE_QUANT(w, QUANTS, e)
#endif
#endif

#endif
