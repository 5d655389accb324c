// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_attention.h - what the kernels of attention share, on top of k_view.h.
#ifndef K_ATTENTION_H
#define K_ATTENTION_H

// Rows of (token or position, head).
#define HEADS(v) FIELD(u32, v##_at) FIELD(u32, v##_s0) FIELD(u32, v##_s1)
#define HEAD(v, row, head) (p.v##_at + (row) * p.v##_s0 + (head) * p.v##_s1)

// Rows of the states; where they begin is not in it if they lie in blocks (K_S).
#if K_S == 2
#define STATE_HEAD(v, row, head) ((row) * p.v##_s0 + (head) * p.v##_s1)
#else
#define STATE_HEAD(v, row, head) HEAD(v, row, head)
#endif

// Bits of `flags`. The kind of the sinks, as in k_view.h, stands above them.
#define CAUSAL 1u
#define SLOPES 2u
#define SLOPES_BF16 4u
#define MASKED 8u
#define SINKS_SHIFT 4u

// Below every score: a row that the mask hides. WGSL has no infinity.
#define HIDDEN (-2.0e30f)
#define LOWEST (-1.0e30f)

// Rounded to the nearest bf16, halves to the even one.
FN(f32, to_bf16, ARG(f32, v))
{
  LET(u32, u, AS_U32(v));
  return AS_F32((u + 0x7fffu + ((u >> 16u) & 1u)) & 0xffff0000u);
}

// The parameters that all of them begin with.
#define ATTENTION \
  HEADS(q) HEADS(k) HEADS(v) HEADS(y) FIELD(u32, rows) FIELD(u32, heads) FIELD(u32, kv_heads) \
  FIELD(u32, k_width) FIELD(u32, v_width) FIELD(u32, first) FIELD(u32, stored) \
  FIELD(u32, window) FIELD(u32, chunk) FIELD(u32, flags) FIELD(u32, slopes_at) \
  FIELD(u32, sinks_at) FIELD(u32, mask_at) FIELD(f32, scale) FIELD(f32, softcap)

#endif
