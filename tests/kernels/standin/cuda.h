// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What lets plain clang, without NVIDIA's files, compile the CUDA expansions to PTX:
//   clang++ -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -include cuda.h
#pragma once
#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __shared__             __attribute__((shared))
#define __forceinline__        inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
struct __attribute__((aligned(8))) float2 {
    float x, y;
};
struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
struct __attribute__((aligned(8))) uint2 {
    unsigned x, y;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};
#define D static __device__ __forceinline__
D uint2 make_uint2(unsigned a, unsigned b)
{
    return {a, b};
}
D float2 make_float2(float a, float b)
{
    return {a, b};
}
D float4 make_float4(float a, float b, float c, float d)
{
    return {a, b, c, d};
}
struct index3 {
    unsigned x, y, z;
};
#define SPECIAL(name)                                                                              \
    (index3{(unsigned)__nvvm_read_ptx_sreg_##name##_x(),                                           \
            (unsigned)__nvvm_read_ptx_sreg_##name##_y(),                                           \
            (unsigned)__nvvm_read_ptx_sreg_##name##_z()})
#define threadIdx SPECIAL(tid)
#define blockIdx  SPECIAL(ctaid)
#define gridDim   SPECIAL(nctaid)
D float __shfl_xor_sync(unsigned mask, float v, int m)
{
    return __nvvm_shfl_sync_bfly_f32(mask, v, m, 31);
}
D unsigned __float_as_uint(float f)
{
    return __builtin_bit_cast(unsigned, f);
}
D float __uint_as_float(unsigned u)
{
    return __builtin_bit_cast(float, u);
}
D unsigned atomicAdd(unsigned *p, unsigned v)
{
    return __nvvm_atom_add_gen_i((int *)p, (int)v);
}
D float expf(float x)
{
    return __nvvm_ex2_approx_f(x * 1.44269504f);
}
D float exp(float x)
{
    return expf(x);
}
D float sin(float x)
{
    return __nvvm_sin_approx_f(x);
}
D float cos(float x)
{
    return __nvvm_cos_approx_f(x);
}
D float tanh(float x)
{
    return 1.0f - 2.0f / (1.0f + expf(2.0f * x));
}
D float floor(float x)
{
    return __builtin_floorf(x);
}
D float sqrt(float x)
{
    return __nvvm_sqrt_rn_f(x);
}
D float rsqrtf(float x)
{
    return __nvvm_rsqrt_approx_f(x);
}
D float fmaxf(float a, float b)
{
    return __nvvm_fmax_f(a, b);
}
D float fmaf(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
D float fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
D float max(float a, float b)
{
    return __nvvm_fmax_f(a, b);
}
D float min(float a, float b)
{
    return __nvvm_fmin_f(a, b);
}
D unsigned max(unsigned a, unsigned b)
{
    return a > b ? a : b;
}
D unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}
D int max(int a, int b)
{
    return a > b ? a : b;
}
D int min(int a, int b)
{
    return a < b ? a : b;
}
#undef D
