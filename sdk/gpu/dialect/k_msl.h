// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_msl.h - Metal Shading Language 2.3 and later.
K_HASH include <metal_stdlib>
using namespace metal;
K_HASH ifndef WG_X
K_HASH error "bind WG_X WG_Y WG_Z and the TUNE constants with preprocessorMacros or define lines"
K_HASH endif
typedef float f32;
typedef uint u32;
typedef int i32;
typedef float2 f32x2;
typedef float4 f32x4;
typedef uint2 u32x2;
typedef uint4 u32x4;
#define K_HALF ushort
#define K_HALF_F32(h) float(as_type<half2>(uint(h)).x)
#define K_HALF_OF(u) ushort(u)
#define UNPACK_F16X2(u) float2(as_type<half2>(u))
#define PACK_F16X2(v) as_type<uint>(half2(v))
#define AS_F32(u) as_type<float>(u)
#define AS_U32(f) as_type<uint>(f)

#define VAR(t, n, e) t n = e
#define LET(t, n, e) const t n = e
#define ARRAY(t, n, len) t n[len]
#define SELECT(c, a, b) ((c) ? (a) : (b))
#define UNROLL _Pragma("clang loop unroll(full)")
#define ARG(t, n) t n
#define FN(t, n, ...) static inline t n(__VA_ARGS__)

#define WORKGROUP(x, y, z)
#define TUNE(n, id, def)
#define FIELD(t, n) t n;
#define PARAMS(...) struct K_params { __VA_ARGS__ };
#define IN(b, t, n) , device const t *n [[buffer(b)]]
#define OUT(b, t, n) , device t *n [[buffer(b)]]
#define INOUT(b, t, n) , device t *n [[buffer(b)]]
#define ATOMIC(b, n) , device atomic_uint *n [[buffer(b)]]
#define ATOMIC_ADD(n, i, v) atomic_fetch_add_explicit(&n[i], v, memory_order_relaxed)
#define NO_SHARED
#define SHARED(t, n, len) threadgroup t n[len];
#if K_SUBGROUP
#define K_SG_IDS , uint K_sgs [[threads_per_simdgroup]], uint K_sgl [[thread_index_in_simdgroup]], \
  uint K_sgi [[simdgroup_index_in_threadgroup]]
#else
#define K_SG_IDS
#endif
#define KERNEL(name, params, bufs, shr) params \
  [[max_total_threads_per_threadgroup(WG_X * WG_Y * WG_Z)]] \
  kernel void name(constant K_params &p [[buffer(30)]] bufs, \
    uint3 K_lid [[thread_position_in_threadgroup]], \
    uint3 K_wid [[threadgroup_position_in_grid]], \
    uint3 K_nwg [[threadgroups_per_grid]] K_SG_IDS) { shr
#define END_KERNEL }

#define LOCAL_X K_lid.x
#define LOCAL_Y K_lid.y
#define GROUP_X K_wid.x
#define GROUP_Y K_wid.y
#define GROUP_Z K_wid.z
#define NGROUP_X K_nwg.x
#define NGROUP_Y K_nwg.y
#define GLOBAL_X (K_wid.x * WG_X + K_lid.x)
#define BARRIER() threadgroup_barrier(mem_flags::mem_threadgroup)

#if K_SUBGROUP
#define SG_SIZE K_sgs
#define SG_LANE K_sgl
#define SG_ID K_sgi
#define SG_ADD(v) simd_sum(v)
#define SG_MAX(v) simd_max(v)
#define SG_XOR(v, m) simd_shuffle_xor(v, ushort(m))
#endif
