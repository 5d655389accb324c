// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_view.h - rows, lanes and weights: what the kernels of sdk/gpu share, on top of k.h.
//
// Structural switches:
//     K_X4  1: rows are read four elements at a time. Widths, offsets and strides then count four.
//     K_F16 1: activations are stored as f16. They are widened where they are read, and rounded where
//           they are written, to the nearest and ties to even; all between is f32.
//     K_S   1: the state of attention is stored as f16, beside activations of f32; 2: in blocks of
//           tapml.q8_rows/1.
//     K_W   the type of the weight: K_W_F32, K_W_BF16, K_W_F16, or blocks: K_W_Q8 and all above; and tiles
// The host picks K_X4 where width, offset and strides of all views allow it.
#ifndef K_VIEW_H
#define K_VIEW_H

// The host knows these numbers as GPU_WEIGHT_*; 0 there is a weight that is absent.
#define K_W_F32 1
#define K_W_BF16 2
#define K_W_F16 3
#define K_W_Q8 4 // tapml.q8/1, and so on: see docs/encodings.md.
#define K_W_Q4 5
#define K_W_Q5 6
#define K_W_Q4_K 7
#define K_W_Q5_K 8
#define K_W_Q6_K 9
#define K_W_TILES 10 // All encodings in tiles (k_tiles.h). For the kernels they are blocks, too.

#ifndef K_X4
#define K_X4 0
#endif
#ifndef K_W
#define K_W K_W_F32
#endif
#define K_BLOCKS (K_W >= K_W_Q8)
#define K_TILES (K_W == K_W_TILES)
#define K_MINS (K_BLOCKS && K_W != K_W_Q8 && K_W != K_W_Q6_K && !K_TILES) // Of the blocks.

// The rows of a tensor with two outer strides: row r = (i, j), with j < n, begins at
// at + i * s0 + j * s1. On the host: struct gpu_view.
#define VIEW(v) FIELD(u32, v##_at) FIELD(u32, v##_n) FIELD(u32, v##_s0) FIELD(u32, v##_s1)
#define ROW(v, r) (p.v##_at + ((r) / p.v##_n) * p.v##_s0 + ((r) % p.v##_n) * p.v##_s1)

// One lane group, the unit in which rows are read: VX is f32 or f32x4.
#if K_X4
#define LANES 4u
#define VX f32x4
#define VX_SPLAT(e) f32x4(e)
#define VX_EACH(f, v) f32x4(f(v.x), f(v.y), f(v.z), f(v.w)) // A function of f32, lane by lane.
#define VX_SUM(v) ((v.x + v.y) + (v.z + v.w))
#define VX_DOT_ACC(acc, a, b) DOT4_ACC(acc, a, b)
#else
#define LANES 1u
#define VX f32
#define VX_SPLAT(e) (e)
#define VX_EACH(f, v) f(v)
#define VX_SUM(v) (v)
#define VX_DOT_ACC(acc, a, b) acc = fma(a, b, acc)
#endif

// Element e of an array of 16-bit elements whose word e / 2 is u.
FN(f32, k_bf16, ARG(u32, u), ARG(u32, e))
{
  return AS_F32(SELECT((e & 1u) == 0u, (u << 16u), (u & 0xffff0000u)));
}

// The half is chosen before it is widened: where both were widened first, NVIDIA's compiler for
// Vulkan (580.159.04, H200) chose the wrong one in some kernels.
FN(f32, k_f16, ARG(u32, u), ARG(u32, e))
{
  LET(f32x2, both, UNPACK_F16X2(SELECT((e & 1u) == 0u, u, (u >> 16u))));
  return both.x;
}

// Four of them.
FN(f32x4, k_f16x4, ARG(u32x2, u))
{
  LET(f32x2, low, UNPACK_F16X2(u.x));
  LET(f32x2, high, UNPACK_F16X2(u.y));
  return f32x4(low.x, low.y, high.x, high.y);
}

// Values of 16 bits, lane groups as HX and single ones as H1. Half a word is never written: such a
// value has a store of its own (K_HALF of the languages).
#if K_HALVES
// The bits of the nearest f16. Not every language says how it rounds, so they are computed: half of
// the last digit is added, a little less where that digit is even, and the rest is cut off. Below the
// normal numbers a sum with 0.5 has the digits that f16 has.
FN(u32, k_narrow, ARG(f32, v))
{
  LET(u32, u, AS_U32(v));
  LET(u32, sign, ((u >> 16u) & 0x8000u));
  LET(u32, m, (u & 0x7fffffffu));
  if (m > 0x7f800000u) { return (sign | 0x7e00u | ((m >> 13u) & 0x3ffu)); }
  if (m >= 0x477ff000u) { return (sign | 0x7c00u); }
  if (m < 0x38800000u) { return (sign | (AS_U32(AS_F32(m) + 0.5f) - 0x3f000000u)); }
  return (sign | ((m + 0xfffu + ((m >> 13u) & 1u) - (112u << 23u)) >> 13u));
}

FN(u32x2, k_narrow4, ARG(f32x4, v))
{
  return u32x2((k_narrow(v.x) | (k_narrow(v.y) << 16u)), (k_narrow(v.z) | (k_narrow(v.w) << 16u)));
}

#define H1 K_HALF
#define H1_AT(x, i) K_HALF_F32(x[i])
#define H1_SET(y, i, v) y[i] = K_HALF_OF(k_narrow(v))
#if K_X4
#define HX u32x2
#define HX_AT(x, i) k_f16x4(x[i])
#define HX_SET(y, i, v) y[i] = k_narrow4(v)
#else
#define HX H1
#define HX_AT(x, i) H1_AT(x, i)
#define HX_SET(y, i, v) H1_SET(y, i, v)
#endif
#endif

// Activations. A buffer of lane groups is bound as AX and goes by AX_AT and AX_SET, one of single
// values as A1; both give and take f32. UX and U1 are for what only moves their bits.
#if K_F16
#define A1 H1
#define A1_AT(x, i) H1_AT(x, i)
#define A1_SET(y, i, v) H1_SET(y, i, v)
#define AX HX
#define AX_AT(x, i) HX_AT(x, i)
#define AX_SET(y, i, v) HX_SET(y, i, v)
#define U1 H1
#define U1_SET(y, i, u) A1_SET(y, i, AS_F32(u))
#define UX HX
#else
#define A1 f32
#define A1_AT(x, i) x[i]
#define A1_SET(y, i, v) y[i] = v
#define AX VX
#define AX_AT(x, i) x[i]
#define AX_SET(y, i, v) y[i] = v
#define U1 u32
#define U1_SET(y, i, u) y[i] = u
#if K_X4
#define UX u32x4
#else
#define UX u32
#endif
#endif

// Where the spans of a weight in blocks begin, in words; of no use where it is plain. The high bits of
// quants are apart from the low ones. Encodings of 256 values have factors as scales, and as mins what
// these multiply; those of tiles have zero points as mins, and the factor as high bits, and what k_tiles.h
// calls their form, and how many tiles a row goes through. On the host: struct gpu_blocks. Elements are then
// counted from the start of the tensor.
#define BLOCKS(w) FIELD(u32, w##_quants) FIELD(u32, w##_highs) FIELD(u32, w##_scales) FIELD(u32, w##_mins) \
  FIELD(u32, w##_form) FIELD(u32, w##_across)

// Byte and nibble e of the word u as numbers, a byte with its sign.
FN(f32, k_byte, ARG(u32, u), ARG(u32, e))
{
  return f32(((u >> (8u * (e & 3u))) & 255u) ^ 128u) - 128.0f;
}

FN(f32, k_nibble, ARG(u32, u), ARG(u32, e))
{
  return f32((u >> (4u * (e & 7u))) & 15u);
}

// Quant e of five bits, and of six around zero, of words with its low and its high bits.
FN(f32, k_quant5, ARG(u32, low), ARG(u32, high), ARG(u32, e))
{
  return f32(((low >> (4u * (e & 7u))) & 15u) | (((high >> (e & 31u)) & 1u) << 4u));
}

FN(f32, k_quant6, ARG(u32, low), ARG(u32, high), ARG(u32, e))
{
  return f32(((low >> (4u * (e & 7u))) & 15u) | (((high >> (2u * (e & 15u))) & 3u) << 4u)) - 32.0f;
}

// Scale and min of group g of 32 values, of the word with its factors and that of the block.
FN(f32, k_factor_scale, ARG(u32, factors), ARG(u32, both), ARG(u32, g))
{
  return k_f16(both, 0u) * f32((factors >> (16u * (g & 1u))) & 255u);
}

FN(f32, k_factor_min, ARG(u32, factors), ARG(u32, both), ARG(u32, g))
{
  return -(k_f16(both, 1u) * f32((factors >> (16u * (g & 1u) + 8u)) & 255u));
}

// States of keys and values, in lane groups: SX_AT gives f32. Rows that come as RX are appended to a
// state that is bound as RY: lane group j of x at i, as the bits are where both are of one type.
#if K_S == 2
// 9 words for 32 values: the scale, and quants of 8 bits. Where rows begin counts words.
#define SX u32
#define K_STATE_BLOCK(v, i) (p.v##_at + (i) / (32u / LANES) * 9u)
#define K_STATE_SCALE(v, i) AS_F32(v[K_STATE_BLOCK(v, i)])
#if K_X4
FN(f32x4, k_state_quants, ARG(u32, u))
{
  return f32x4(k_byte(u, 0u), k_byte(u, 1u), k_byte(u, 2u), k_byte(u, 3u));
}
#define SX_AT(v, i) (k_state_quants(v[K_STATE_BLOCK(v, i) + 1u + ((i) & 7u)]) * K_STATE_SCALE(v, i))
#else
#define SX_AT(v, i) (k_byte(v[K_STATE_BLOCK(v, i) + 1u + (((i) >> 2u) & 7u)], i) * K_STATE_SCALE(v, i))
#endif
#elif K_S == 1
#define SX HX
#define SX_AT(x, i) HX_AT(x, i)
#define RX AX
#define RY HX
#define RX_APPEND(y, i, x, j) HX_SET(y, i, AX_AT(x, j))
#else
#define SX AX
#define SX_AT(x, i) AX_AT(x, i)
#define RX UX
#define RY UX
#define RX_APPEND(y, i, x, j) y[i] = x[j]
#endif

// W_IN(w, n, i): lane group i of row n of the weight w, which is bound as WX. Where it is plain, that is
// W_AT(w, W_PLACE(w, n, i)). In blocks it is W_QUANTS(w, W_PLACE(w, n, i)) times W_SCALE(w, n, i) plus, where
// K_MINS, W_MIN(w, n, i); in tiles W_ZERO(w, n, i) is subtracted from the quants first. All but quants are
// the same for BLOCK_LANES lane groups. Rows are whole blocks, and need not be whole tiles: BLOCK_END.
#define W_PLACE(w, n, i) (p.w##_at + (n) * p.w##_s + (i))
#if K_TILES
#define BLOCK_END(i, width) min((i) + BLOCK_LANES, width)
#else
#define BLOCK_END(i, width) ((i) + BLOCK_LANES)
#endif
#if K_TILES
#define WX u32
#include "k_tiles.h"
#define W_IN(w, n, i) ((W_QUANTS(w, W_PLACE(w, n, i)) - VX_SPLAT(W_ZERO(w, n, i))) * W_SCALE(w, n, i))
#elif K_BLOCKS
#define WX u32
#if K_W == K_W_Q6_K
#define BLOCK_LANES (16u / LANES)
#else
#define BLOCK_LANES (32u / LANES)
#endif
#define K_GROUP(w, n, i) (W_PLACE(w, n, i) / BLOCK_LANES)
#define K_HALF_AT(w, at, block) k_f16(w[(at) + ((block) >> 1u)], block)
#define K_FACTORS(w, g) w[p.w##_scales + ((g) >> 1u)], w[p.w##_mins + ((g) >> 3u)], g
#if K_W == K_W_Q4_K || K_W == K_W_Q5_K
#define W_SCALE(w, n, i) k_factor_scale(K_FACTORS(w, K_GROUP(w, n, i)))
#define W_MIN(w, n, i) k_factor_min(K_FACTORS(w, K_GROUP(w, n, i)))
#elif K_W == K_W_Q6_K
FN(f32, k_scale6, ARG(u32, factors), ARG(u32, both), ARG(u32, g))
{
  return k_f16(both, (g >> 4u)) * k_byte(factors, g);
}
#define K_SCALE6(w, g) k_scale6(w[p.w##_scales + ((g) >> 2u)], w[p.w##_mins + ((g) >> 5u)], g)
#define W_SCALE(w, n, i) K_SCALE6(w, K_GROUP(w, n, i))
#else
#define W_SCALE(w, n, i) K_HALF_AT(w, p.w##_scales, K_GROUP(w, n, i))
#define W_MIN(w, n, i) K_HALF_AT(w, p.w##_mins, K_GROUP(w, n, i))
#endif
#if K_W == K_W_Q8
#if K_X4
FN(f32x4, k_quants, ARG(u32, u))
{
  return f32x4(k_byte(u, 0u), k_byte(u, 1u), k_byte(u, 2u), k_byte(u, 3u));
}
#define W_QUANTS(w, e) k_quants(w[p.w##_quants + (e)])
#else
#define W_QUANTS(w, e) k_byte(w[p.w##_quants + ((e) >> 2u)], e)
#endif
#elif K_W == K_W_Q4 || K_W == K_W_Q4_K
#if K_X4
FN(f32x4, k_quants, ARG(u32, u), ARG(u32, e))
{
  LET(u32, four, (u >> (16u * (e & 1u))));
  return f32x4(k_nibble(four, 0u), k_nibble(four, 1u), k_nibble(four, 2u), k_nibble(four, 3u));
}
#define W_QUANTS(w, e) k_quants(w[p.w##_quants + ((e) >> 1u)], e)
#else
#define W_QUANTS(w, e) k_nibble(w[p.w##_quants + ((e) >> 3u)], e)
#endif
#else
#if K_W == K_W_Q6_K
#define K_QUANT k_quant6
#define K_HIGHS_SHIFT 4u // 16 quants have their high bits in a word,
#else
#define K_QUANT k_quant5
#define K_HIGHS_SHIFT 5u // or 32.
#endif
#if K_X4
FN(f32x4, k_quants, ARG(u32, low), ARG(u32, high), ARG(u32, e))
{
  LET(u32, i, (4u * e));
  return f32x4(K_QUANT(low, high, i), K_QUANT(low, high, (i + 1u)), K_QUANT(low, high, (i + 2u)),
               K_QUANT(low, high, (i + 3u)));
}
#define W_QUANTS(w, e) \
  k_quants(w[p.w##_quants + ((e) >> 1u)], w[p.w##_highs + ((e) >> (K_HIGHS_SHIFT - 2u))], e)
#else
#define W_QUANTS(w, e) \
  K_QUANT(w[p.w##_quants + ((e) >> 3u)], w[p.w##_highs + ((e) >> K_HIGHS_SHIFT)], e)
#endif
#endif
#if K_MINS
#define W_IN(w, n, i) (W_QUANTS(w, W_PLACE(w, n, i)) * W_SCALE(w, n, i) + VX_SPLAT(W_MIN(w, n, i)))
#else
#define W_IN(w, n, i) (W_QUANTS(w, W_PLACE(w, n, i)) * W_SCALE(w, n, i))
#endif
#elif K_W == K_W_F32
#define WX VX
#define W_AT(w, e) w[e]
#elif K_X4
#define WX u32x2
#if K_W == K_W_BF16
FN(f32x4, k_weight4, ARG(u32x2, u))
{
  return f32x4(AS_F32(u.x << 16u), AS_F32(u.x & 0xffff0000u),
               AS_F32(u.y << 16u), AS_F32(u.y & 0xffff0000u));
}
#define W_AT(w, e) k_weight4(w[e])
#else
#define W_AT(w, e) k_f16x4(w[e])
#endif
#else
#define WX u32
#if K_W == K_W_BF16
#define W_AT(w, e) k_bf16(w[(e) >> 1u], e)
#else
#define W_AT(w, e) k_f16(w[(e) >> 1u], e)
#endif
#endif

#if !K_BLOCKS
#define W_IN(w, n, i) W_AT(w, W_PLACE(w, n, i))
#endif

// WEIGHT_AT(w, kind, e): element e of the u32 buffer w whose type is a parameter and no switch, for
// what is read once in a while. `kind` is K_W_*; e lies in word WEIGHT_WORD.
FN(f32, k_weight, ARG(u32, kind), ARG(u32, u), ARG(u32, e))
{
  if (kind == 1u) { return AS_F32(u); }
  if (kind == 2u) { return k_bf16(u, e); }
  return k_f16(u, e);
}
#define WEIGHT_WORD(kind, e) SELECT((kind) == 1u, e, ((e) >> 1u))
#define WEIGHT_AT(w, kind, e) k_weight(kind, w[WEIGHT_WORD(kind, e)], e)

// BLOCK_AT(w, kind, e): the same where the weight may be in blocks: `kind` is K_W_Q8 or above, and
// BLOCKS(w) are parameters. The words are those that have the quant, its high bits, and the scales.
FN(f32, k_block, ARG(u32, kind), ARG(u32, low), ARG(u32, high), ARG(u32, scales), ARG(u32, mins), ARG(u32, e))
{
  if (kind == 4u) { return k_byte(low, e) * k_f16(scales, (e >> 5u)); }
  if (kind == 5u) { return k_nibble(low, e) * k_f16(scales, (e >> 5u)) + k_f16(mins, (e >> 5u)); }
  if (kind == 6u) { return k_quant5(low, high, e) * k_f16(scales, (e >> 5u)) + k_f16(mins, (e >> 5u)); }
  if (kind == 9u) { return k_quant6(low, high, e) * (k_f16(mins, (e >> 8u)) * k_byte(scales, (e >> 4u))); }
  LET(f32, quant, SELECT(kind == 7u, k_nibble(low, e), k_quant5(low, high, e)));
  return quant * k_factor_scale(scales, mins, (e >> 5u)) + k_factor_min(scales, mins, (e >> 5u));
}
#define K_MINS_SHIFT(kind) SELECT((kind) == 9u, 9u, SELECT((kind) >= 7u, 8u, 6u))
#define BLOCK_AT(w, kind, e) \
  k_block(kind, w[p.w##_quants + SELECT((kind) == 4u, ((e) >> 2u), ((e) >> 3u))], \
          w[p.w##_highs + SELECT((kind) == 9u, ((e) >> 4u), ((e) >> 5u))], \
          w[p.w##_scales + ((e) >> 6u)], w[p.w##_mins + ((e) >> K_MINS_SHIFT(kind))], e)

// ADD_BIAS(sum, n): adds element n of the bias to an f32, ADD_BIAS_X lane group n to a VX, where
// there is one.
#define K_BIAS(n) WEIGHT_AT(b, p.b_kind, p.b_at + (n))
#define ADD_BIAS(sum, n) if (p.b_kind != 0u) { sum += K_BIAS(n); }
#if K_X4
#define ADD_BIAS_X(sum, n) if (p.b_kind != 0u) { \
    sum += f32x4(K_BIAS(4u * (n)), K_BIAS(4u * (n) + 1u), K_BIAS(4u * (n) + 2u), K_BIAS(4u * (n) + 3u)); }
#else
#define ADD_BIAS_X(sum, n) ADD_BIAS(sum, n)
#endif

#endif
