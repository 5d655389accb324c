// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_lib.h - what is built from the macros of the languages alone.

// The number of the workgroup where the host folded a long grid into x and y: Vulkan and WebGPU
// promise only 65535 workgroups on an axis.
#define GROUP_LINEAR (GROUP_X + GROUP_Y * NGROUP_X)

// A barrier that costs nothing where a workgroup is one work item. WG_X is a constant by the time
// that the text is compiled.
#define WG_BARRIER() if (WG_X > 1u) { BARRIER(); }

// UNIFORM_LOAD(v, e): v = e for a SHARED lvalue e, with a barrier before and after. v is then
// uniform in the eyes of WGSL: it may bound a loop that holds a barrier. (A value of an IN buffer
// at a uniform index is uniform anyway.)
#if K_TARGET == K_WGSL
#define UNIFORM_LOAD(v, e) v = workgroupUniformLoad(&e)
#else
#define UNIFORM_LOAD(v, e) BARRIER(); v = e; BARRIER()
#endif

// DOT4_ACC(acc, a, b): acc += dot(a, b) as four fma, which no compiler has to guess.
#define DOT4_ACC(acc, a, b) acc = fma(a.x, b.x, fma(a.y, b.y, fma(a.z, b.z, fma(a.w, b.w, acc))))

// WG_SUM(v, red), WG_MAX(v, red): reduce the private f32 lvalue v over the WG_X items of a
// workgroup, a power of two; every item gets the result, and what the items wrote to shared memory
// before is seen by all. red is a SHARED(f32, red, WG_X). They stand in uniform control flow.
#define K_ACC_ADD(v, e) v += e
#define K_ACC_MAX(v, e) v = max(v, e)
#if K_TARGET == K_META
#define K_WG_REDUCE(v, red, SGOP, ACC)
#elif K_SUBGROUP
#define K_WG_REDUCE(v, red, SGOP, ACC) \
  v = SGOP(v); \
  if (SG_LANE == 0u) { red[SG_ID] = v; } \
  BARRIER(); \
  v = red[0]; \
  for (VAR(u32, K_i, 1u); K_i < (WG_X / SG_SIZE); K_i += 1u) { ACC(v, red[K_i]); } \
  BARRIER()
#else
#define K_WG_REDUCE(v, red, SGOP, ACC) \
  if (WG_X > 1u) { \
    red[LOCAL_X] = v; \
    BARRIER(); \
    for (VAR(u32, K_s, (WG_X / 2u)); K_s > 0u; K_s = K_s / 2u) { \
      if (LOCAL_X < K_s) { ACC(red[LOCAL_X], red[LOCAL_X + K_s]); } \
      BARRIER(); \
    } \
    v = red[0]; \
    BARRIER(); \
  }
#endif
#define WG_SUM(v, red) K_WG_REDUCE(v, red, SG_ADD, K_ACC_ADD)
#define WG_MAX(v, red) K_WG_REDUCE(v, red, SG_MAX, K_ACC_MAX)
