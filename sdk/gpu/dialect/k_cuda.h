// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_cuda.h - CUDA C++ for nvcc, NVRTC and clang. No CUDA header is needed.
K_HASH ifndef WG_X
K_HASH error "bind WG_X WG_Y WG_Z and the TUNE constants with define lines or -D"
K_HASH endif
typedef float f32;
typedef unsigned int u32;
typedef int i32;
typedef float2 f32x2;
typedef float4 f32x4;
typedef uint2 u32x2;
typedef uint4 u32x4;

#define K_FN __device__ __forceinline__
K_FN f32x2 k_f2(f32 a) { return make_float2(a, a); }
K_FN f32x2 k_f2(f32 a, f32 b) { return make_float2(a, b); }
K_FN f32x4 k_f4(f32 a) { return make_float4(a, a, a, a); }
K_FN f32x4 k_f4(f32 a, f32 b, f32 c, f32 d) { return make_float4(a, b, c, d); }
#define K_OP(o) \
  K_FN f32x2 operator o(f32x2 a, f32x2 b) { return make_float2(a.x o b.x, a.y o b.y); } \
  K_FN f32x2 operator o(f32x2 a, f32 b) { return make_float2(a.x o b, a.y o b); } \
  K_FN f32x2 operator o(f32 a, f32x2 b) { return make_float2(a o b.x, a o b.y); } \
  K_FN f32x4 operator o(f32x4 a, f32x4 b) { return make_float4(a.x o b.x, a.y o b.y, a.z o b.z, a.w o b.w); } \
  K_FN f32x4 operator o(f32x4 a, f32 b) { return make_float4(a.x o b, a.y o b, a.z o b, a.w o b); } \
  K_FN f32x4 operator o(f32 a, f32x4 b) { return make_float4(a o b.x, a o b.y, a o b.z, a o b.w); }
K_OP(+) K_OP(-) K_OP(*) K_OP(/)
K_FN f32x2 operator-(f32x2 a) { return make_float2(-a.x, -a.y); }
K_FN f32x4 operator-(f32x4 a) { return make_float4(-a.x, -a.y, -a.z, -a.w); }
K_FN void operator+=(f32x2 &a, f32x2 b) { a = a + b; }
K_FN void operator+=(f32x4 &a, f32x4 b) { a = a + b; }
K_FN void operator*=(f32x2 &a, f32 b) { a = a * b; }
K_FN void operator*=(f32x4 &a, f32 b) { a = a * b; }
K_FN f32 dot(f32x2 a, f32x2 b) { return a.x * b.x + a.y * b.y; }
K_FN f32 dot(f32x4 a, f32x4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
K_FN f32x4 fma(f32x4 a, f32x4 b, f32x4 c) { return make_float4(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z), fmaf(a.w, b.w, c.w)); }
K_FN f32x4 exp(f32x4 a) { return make_float4(expf(a.x), expf(a.y), expf(a.z), expf(a.w)); }
K_HASH if defined __CUDACC__ || defined __CUDA__
K_FN f32x2 k_unpack_f16x2(u32 u)
{
  f32 a, b;
  asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
      : "=f"(a), "=f"(b) : "r"(u));
  return make_float2(a, b);
}
K_FN u32 k_pack_f16x2(f32x2 v)
{
  u32 r;
  asm("{.reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h};}"
      : "=r"(r) : "f"(v.x), "f"(v.y));
  return r;
}
K_HASH endif
#define f32x2(...) k_f2(__VA_ARGS__)
#define f32x4(...) k_f4(__VA_ARGS__)
#define u32x2(...) make_uint2(__VA_ARGS__)
#define K_HALF unsigned short
#define K_HALF_F32(h) k_unpack_f16x2(h).x
#define K_HALF_OF(u) ((unsigned short)(u))
#define UNPACK_F16X2(u) k_unpack_f16x2(u)
#define PACK_F16X2(v) k_pack_f16x2(v)
#define AS_F32(u) __uint_as_float(u)
#define AS_U32(f) __float_as_uint(f)
#define rsqrt(x) rsqrtf(x)

#define VAR(t, n, e) t n = e
#define LET(t, n, e) const t n = e
#define ARRAY(t, n, len) t n[len]
#define SELECT(c, a, b) ((c) ? (a) : (b))
#define UNROLL _Pragma("unroll")
#define ARG(t, n) t n
#define FN(t, n, ...) K_FN t n(__VA_ARGS__)

#define WORKGROUP(x, y, z)
#define TUNE(n, id, def)
#define FIELD(t, n) t n;
#define PARAMS(...) struct K_params { __VA_ARGS__ };
#define IN(b, t, n) , const t *__restrict__ n
#define OUT(b, t, n) , t *__restrict__ n
#define INOUT(b, t, n) , t *__restrict__ n
#define ATOMIC(b, n) , u32 *n
#define ATOMIC_ADD(n, i, v) atomicAdd(&n[i], v)
#define NO_SHARED
#define SHARED(t, n, len) __shared__ t n[len];
#define KERNEL(name, params, bufs, shr) params extern "C" __global__ void \
  __launch_bounds__(WG_X * WG_Y * WG_Z) name(const K_params p bufs) { shr
#define END_KERNEL }

#define LOCAL_X threadIdx.x
#define LOCAL_Y threadIdx.y
#define GROUP_X blockIdx.x
#define GROUP_Y blockIdx.y
#define GROUP_Z blockIdx.z
#define NGROUP_X gridDim.x
#define NGROUP_Y gridDim.y
#define GLOBAL_X (blockIdx.x * WG_X + threadIdx.x)
#define BARRIER() __syncthreads()

#if K_SUBGROUP
#define SG_SIZE 32u
#define SG_LANE (threadIdx.x & 31u)
#define SG_ID (threadIdx.x >> 5u)
#define SG_ADD(v) k_sg_add(v)
#define SG_MAX(v) k_sg_max(v)
#define SG_XOR(v, m) __shfl_xor_sync(0xffffffffu, v, m)
K_FN f32 k_sg_add(f32 v)
{
  _Pragma("unroll") for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(0xffffffffu, v, m);
  return v;
}
K_FN f32 k_sg_max(f32 v)
{
  _Pragma("unroll") for (int m = 16; m > 0; m >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, m));
  return v;
}
#endif
