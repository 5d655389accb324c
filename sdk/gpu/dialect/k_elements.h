// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_elements.h - kernels that compute one element from those at the same place, on top of k_view.h.
//
//     WORKGROUP(64, 1, 1)
//     TUNE(AXES, 3, 1)
//     KERNEL(silu, PARAMS(ELEMENTS STRIDES(x) STRIDES(y)), IN(0, AX, x) OUT(1, AX, y), NO_SHARED)
//     {
//       EACH_ELEMENT { LET(VX, v, AX_AT(x, AT(x)));  AX_SET(y, AT(y), v / (VX_SPLAT(1.0f) + exp(-v))); }
//     } END_KERNEL
//
// Any strides, up to six axes, innermost first. AXES says how many there are, and divisions for the
// others vanish when the text is compiled. On the host: struct gpu_elements.
#ifndef K_ELEMENTS_H
#define K_ELEMENTS_H

#define ELEMENTS FIELD(u32, count) FIELD(u32, n0) FIELD(u32, n1) FIELD(u32, n2) FIELD(u32, n3) FIELD(u32, n4)
#define STRIDES(v) FIELD(u32, v##_at) FIELD(u32, v##_s0) FIELD(u32, v##_s1) FIELD(u32, v##_s2) \
  FIELD(u32, v##_s3) FIELD(u32, v##_s4) FIELD(u32, v##_s5)

// The coordinate on an axis that is not the last, and what is left for the axes further out.
#define K_AXIS(axis, c, rest, n, left) \
  LET(u32, c, SELECT(AXES > axis + 1u, rest % n, rest)); \
  LET(u32, left, SELECT(AXES > axis + 1u, rest / n, 0u));

#define EACH_ELEMENT \
  LET(u32, k_r0, GROUP_LINEAR * WG_X + LOCAL_X); \
  K_AXIS(0u, k_c0, k_r0, p.n0, k_r1) \
  K_AXIS(1u, k_c1, k_r1, p.n1, k_r2) \
  K_AXIS(2u, k_c2, k_r2, p.n2, k_r3) \
  K_AXIS(3u, k_c3, k_r3, p.n3, k_r4) \
  K_AXIS(4u, k_c4, k_r4, p.n4, k_c5) \
  if (k_r0 < p.count)

#define AT(v) (p.v##_at + k_c0 * p.v##_s0 + k_c1 * p.v##_s1 + k_c2 * p.v##_s2 + k_c3 * p.v##_s3 + \
               k_c4 * p.v##_s4 + k_c5 * p.v##_s5)

#endif
