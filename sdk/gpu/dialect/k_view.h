// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_view.h - rows, lanes and weights: what the kernels of sdk/gpu share, on top of k.h.
//
// Structural switches:
//     K_X4  1: rows are read four elements at a time. Widths, offsets and strides then count four.
//     K_F16 1: activations are stored as f16. They are widened where they are read, and rounded where
//           they are written, to the nearest and ties to even; all between is f32.
//     K_W   the type of the weight: K_W_F32, K_W_BF16, K_W_F16, or blocks: K_W_Q8, K_W_Q4
// The host picks K_X4 where width, offset and strides of all views allow it.
#ifndef K_VIEW_H
#define K_VIEW_H

// The host knows these numbers as GPU_WEIGHT_*; 0 there is a weight that is absent.
#define K_W_F32 1
#define K_W_BF16 2
#define K_W_F16 3
#define K_W_Q8 4 // tapml.q8/1,
#define K_W_Q4 5 // tapml.q4/1: see docs/encodings.md.

#ifndef K_X4
#define K_X4 0
#endif
#ifndef K_W
#define K_W K_W_F32
#endif

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

FN(f32, k_f16, ARG(u32, u), ARG(u32, e))
{
  LET(f32x2, both, UNPACK_F16X2(u));
  return SELECT((e & 1u) == 0u, both.x, both.y);
}

// Four of them.
FN(f32x4, k_f16x4, ARG(u32x2, u))
{
  LET(f32x2, low, UNPACK_F16X2(u.x));
  LET(f32x2, high, UNPACK_F16X2(u.y));
  return f32x4(low.x, low.y, high.x, high.y);
}

// Activations. A buffer of lane groups is bound as AX and goes by AX_AT and AX_SET, one of single
// values as A1; both give and take f32. UX and U1 are for what only moves their bits. Half a word is
// never written: a value of 16 bits has a store of its own (K_HALF of the languages).
#if K_F16
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

#define A1 K_HALF
#define A1_AT(x, i) K_HALF_F32(x[i])
#define A1_SET(y, i, v) y[i] = K_HALF_OF(k_narrow(v))
#define U1 K_HALF
#define U1_SET(y, i, u) A1_SET(y, i, AS_F32(u))
#if K_X4
#define AX u32x2
#define AX_AT(x, i) k_f16x4(x[i])
#define AX_SET(y, i, v) y[i] = k_narrow4(v)
#define UX u32x2
#else
#define AX A1
#define AX_AT(x, i) A1_AT(x, i)
#define AX_SET(y, i, v) A1_SET(y, i, v)
#define UX U1
#endif
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

// Where the spans of a weight in blocks begin, in words; of no use where it is plain. On the host:
// struct gpu_blocks. Elements are then counted from the start of the tensor.
#define BLOCKS(w) FIELD(u32, w##_quants) FIELD(u32, w##_scales) FIELD(u32, w##_mins)

// Byte and nibble e of the word u as numbers, a byte with its sign.
FN(f32, k_byte, ARG(u32, u), ARG(u32, e))
{
  return f32(((u >> (8u * (e & 3u))) & 255u) ^ 128u) - 128.0f;
}

FN(f32, k_nibble, ARG(u32, u), ARG(u32, e))
{
  return f32((u >> (4u * (e & 7u))) & 15u);
}

// W_AT(w, e): lane group e of the weight w, which is bound as WX. In blocks it is W_QUANTS(w, e) times
// W_SCALE(w, e) plus, of K_W_Q4, W_MIN(w, e): the latter two are the same for BLOCK_LANES lane groups.
#if K_W == K_W_Q8 || K_W == K_W_Q4
#define WX u32
#define BLOCK_LANES (32u / LANES)
#define K_HALF_AT(w, at, block) k_f16(w[(at) + ((block) >> 1u)], block)
#define W_SCALE(w, e) K_HALF_AT(w, p.w##_scales, ((e) / BLOCK_LANES))
#define W_MIN(w, e) K_HALF_AT(w, p.w##_mins, ((e) / BLOCK_LANES))
#if K_W == K_W_Q8 && K_X4
FN(f32x4, k_quants, ARG(u32, u))
{
  return f32x4(k_byte(u, 0u), k_byte(u, 1u), k_byte(u, 2u), k_byte(u, 3u));
}
#define W_QUANTS(w, e) k_quants(w[p.w##_quants + (e)])
#elif K_W == K_W_Q8
#define W_QUANTS(w, e) k_byte(w[p.w##_quants + ((e) >> 2u)], e)
#elif K_X4
FN(f32x4, k_quants, ARG(u32, u), ARG(u32, e))
{
  LET(u32, four, (u >> (16u * (e & 1u))));
  return f32x4(k_nibble(four, 0u), k_nibble(four, 1u), k_nibble(four, 2u), k_nibble(four, 3u));
}
#define W_QUANTS(w, e) k_quants(w[p.w##_quants + ((e) >> 1u)], e)
#else
#define W_QUANTS(w, e) k_nibble(w[p.w##_quants + ((e) >> 3u)], e)
#endif
#if K_W == K_W_Q8
#define W_AT(w, e) (W_QUANTS(w, e) * W_SCALE(w, e))
#else
#define W_AT(w, e) (W_QUANTS(w, e) * W_SCALE(w, e) + VX_SPLAT(W_MIN(w, e)))
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

// BLOCK_AT(w, kind, e): the same where the weight may be in blocks: `kind` is K_W_Q8 or K_W_Q4, and
// BLOCKS(w) are parameters.
FN(f32, k_block, ARG(u32, kind), ARG(u32, quants), ARG(u32, scales), ARG(u32, mins), ARG(u32, e))
{
  LET(f32, scale, k_f16(scales, (e >> 5u)));
  if (kind == 4u) { return k_byte(quants, e) * scale; }
  return k_nibble(quants, e) * scale + k_f16(mins, (e >> 5u));
}
#define BLOCK_AT(w, kind, e) \
  k_block(kind, w[p.w##_quants + SELECT((kind) == 4u, ((e) >> 2u), ((e) >> 3u))], \
          w[p.w##_scales + ((e) >> 6u)], w[p.w##_mins + ((e) >> 6u)], e)

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
