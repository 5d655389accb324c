// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The names of CUDA that the dialect uses, for a kernel that runs on the CPU (fibers.h).
#pragma once
#include "fibers.h"

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ EMULATION_SHARED
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
static inline float2 make_float2(float a, float b)
{
    return {a, b};
}
static inline uint2 make_uint2(unsigned a, unsigned b)
{
    return {a, b};
}
static inline float4 make_float4(float a, float b, float c, float d)
{
    return {a, b, c, d};
}
#define threadIdx                   (emulation::index{emulation::g.current, 0, 0})
#define blockIdx                    (emulation::g.at)
#define gridDim                     (emulation::g.count)
#define __syncthreads()             emulation::barrier()
#define __shfl_xor_sync(mask, v, m) emulation::shuffle_xor(v, m)
#define __float_as_uint(f)          emulation::bits_of(f)
#define __uint_as_float(u)          emulation::float_of(u)
static inline unsigned atomicAdd(unsigned *p, unsigned v)
{
    const unsigned old = *p;

    *p += v;
    return old;
}
static inline float2 k_unpack_f16x2(unsigned u)
{
    return {emulation::from_half(static_cast<unsigned short>(u)),
            emulation::from_half(static_cast<unsigned short>(u >> 16))};
}
static inline unsigned k_pack_f16x2(float2 v)
{
    return emulation::to_half(v.x) | static_cast<unsigned>(emulation::to_half(v.y)) << 16;
}
#define FUNCTION(name, expression)                                                                 \
    static inline float name(float x)                                                              \
    {                                                                                              \
        return expression;                                                                         \
    }
FUNCTION(cos, cosf(x))
FUNCTION(exp, expf(x))
FUNCTION(floor, __builtin_floorf(x))
FUNCTION(rsqrtf, 1.0f / __builtin_sqrtf(x))
FUNCTION(sin, sinf(x))
FUNCTION(sqrt, __builtin_sqrtf(x))
FUNCTION(tanh, tanhf(x))
#undef FUNCTION
static inline float fmaxf(float a, float b)
{
    return __builtin_fmaxf(a, b);
}
static inline float fmaf(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
static inline float fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
static inline float max(float a, float b)
{
    return __builtin_fmaxf(a, b);
}
static inline float min(float a, float b)
{
    return __builtin_fminf(a, b);
}
static inline unsigned max(unsigned a, unsigned b)
{
    return a > b ? a : b;
}
static inline unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}
static inline int max(int a, int b)
{
    return a > b ? a : b;
}
static inline int min(int a, int b)
{
    return a < b ? a : b;
}

// The arguments of a kernel, one after the other.
namespace emulation
{

template <class T> static inline T take(void **&arguments)
{
    return *static_cast<T *>(*arguments++);
}

struct launch {
    // A list in braces is evaluated from left to right.
    template <class... T> launch(void (*kernel)(T...), T... values)
    {
        kernel(values...);
    }
};

template <class... T> static unsigned argument_count(void (*)(T...))
{
    return sizeof...(T);
}

template <class... T>
static void run_kernel(void (*kernel)(T...), void **arguments, index grid, unsigned items)
{
    struct call {
        void (*kernel)(T...);
        void **arguments;
    } call = {kernel, arguments};

    run(
        grid, items,
        [](void *argument) {
            void **next = static_cast<struct call *>(argument)->arguments;

            launch{static_cast<struct call *>(argument)->kernel, take<T>(next)...};
        },
        &call);
}

} // namespace emulation
