// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_opencl.h - OpenCL C 1.2 and later. What is written runs: a fused operation is an fma.
K_HASH pragma OPENCL FP_CONTRACT OFF
K_HASH ifndef WG_X
K_HASH error "bind WG_X WG_Y WG_Z and the TUNE constants with define lines or -D"
K_HASH endif
#if K_SUBGROUP
K_HASH ifdef cl_khr_subgroups
K_HASH pragma OPENCL EXTENSION cl_khr_subgroups : enable
K_HASH endif
#endif
typedef float f32;
typedef uint u32;
typedef int i32;
typedef float2 f32x2;
typedef float4 f32x4;
typedef uint2 u32x2;
typedef uint4 u32x4;

// Function-like macros only fire where a parenthesis follows, so the same names serve as types
// (the typedefs above) and as constructors.
#define f32(x) ((float)(x))
#define u32(x) ((uint)(x))
#define i32(x) ((int)(x))
#define f32x2(...) ((float2)(__VA_ARGS__))
#define f32x4(...) ((float4)(__VA_ARGS__))
#define u32x2(...) ((uint2)(__VA_ARGS__))
#define u32x4(...) ((uint4)(__VA_ARGS__))
K_HASH if defined __x86_64__ || defined __aarch64__
// PoCL calls a function for each half, and no loop with a call in it becomes vectors. The exponent is
// moved to that of an f32; below the normal numbers the digits are added to the least of them.
static float2 k_unpack_f16x2(uint u)
{
  const uint2 h = (uint2)(u & 0xffffu, u >> 16);
  const uint2 rest = (h & 0x7fffu) << 13;
  const uint2 normal = rest + (112u << 23);
  const uint2 tiny = as_uint2(as_float2(rest + (113u << 23)) - 0x1p-14f);
  const uint2 number = select(normal, tiny, rest < (1u << 23));
  return as_float2(select(number, rest | 0x7f800000u, rest >= (31u << 23)) | (h & 0x8000u) << 16);
}
K_HASH else
static float2 k_unpack_f16x2(uint u) { return vload_half2(0, (const half *)&u); }
K_HASH endif
static uint k_pack_f16x2(float2 v) { uint u; vstore_half2(v, 0, (half *)&u); return u; }
#define K_HALF ushort
#define K_HALF_F32(h) k_unpack_f16x2(h).x
#define K_HALF_OF(u) ((ushort)(u))
#define UNPACK_F16X2(u) k_unpack_f16x2(u)
#define PACK_F16X2(v) k_pack_f16x2(v)
#define AS_F32(u) as_float(u)
#define AS_U32(f) as_uint(f)

#define VAR(t, n, e) t n = e
#define LET(t, n, e) const t n = e
#define ARRAY(t, n, len) t n[len]
#define SELECT(c, a, b) ((c) ? (a) : (b))
#define UNROLL _Pragma("unroll")
#define ARG(t, n) t n
#define FN(t, n, ...) static t n(__VA_ARGS__)

#define WORKGROUP(x, y, z)
#define TUNE(n, id, def)
#define FIELD(t, n) t n;
#define PARAMS(...) typedef struct { __VA_ARGS__ } K_params;
#define IN(b, t, n) , __global const t *restrict n
#define OUT(b, t, n) , __global t *restrict n
#define INOUT(b, t, n) , __global t *restrict n
#define ATOMIC(b, n) , volatile __global u32 *n
#define ATOMIC_ADD(n, i, v) atomic_add(&n[i], v)
#define NO_SHARED
#define SHARED(t, n, len) __local t n[len];
#define KERNEL(name, params, bufs, shr) params \
  __kernel __attribute__((reqd_work_group_size(WG_X, WG_Y, WG_Z))) \
  void name(const K_params p bufs) { shr
#define END_KERNEL }

#define LOCAL_X ((u32)get_local_id(0))
#define LOCAL_Y ((u32)get_local_id(1))
#define GROUP_X ((u32)get_group_id(0))
#define GROUP_Y ((u32)get_group_id(1))
#define GROUP_Z ((u32)get_group_id(2))
#define NGROUP_X ((u32)get_num_groups(0))
#define NGROUP_Y ((u32)get_num_groups(1))
#define GLOBAL_X ((u32)get_global_id(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

#if K_SUBGROUP
#define SG_SIZE get_max_sub_group_size()
#define SG_LANE get_sub_group_local_id()
#define SG_ID get_sub_group_id()
#define SG_ADD(v) sub_group_reduce_add(v)
#define SG_MAX(v) sub_group_reduce_max(v)
#define SG_XOR(v, m) sub_group_shuffle_xor(v, m)
#endif
