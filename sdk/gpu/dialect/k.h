// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k.h - the entry of the kernel dialect: one source, five languages.
//
// A kernel file includes this header first. The build expands it with the C preprocessor alone,
// once for each language and variant:
//
//     cc -E -P -undef -nostdinc -x c -DK_TARGET=K_<LANGUAGE> [-DK_VARIANT=9] -I dialect rms_norm.k
//
// Structural switches are macros (K_SUBGROUP here, K_X4 and K_W in k_view.h; all of them in
// k_variant.h): one text for each combination. Numbers (workgroup size, tile sizes) are not: they stay symbols in the text and get
// their values when the pipeline is made, see WORKGROUP and TUNE.
//
// Rules for authors; what WGSL accepts, the others accept:
//  1. Literals carry their type (1u, 1.0f). No implicit conversion: f32(i).
//  2. Always braces. No ?:, switch, do, goto, comma, assignment or ++ inside an expression. Shifts
//     and bit operations in parentheses.
//  3. Functions (FN) take and return values. What touches buffers and is shared is a macro.
//  4. Vectors have .x .y .z .w only; integer vectors have no operators.
//  5. Elements are 32-bit words, with K_HALVES also values of 16 bits, by the macros of k_view.h alone;
//     indices are u32. A base kernel is right for any width and offset.
//  6. No `return` before a barrier: spare groups of a folded grid loop zero times. Barriers and
//     subgroup operations stand in uniform control flow.
//  7. No infinities: a maximum starts at -1.0e30f. Functions: cos dot exp floor fma max min rsqrt
//     sin sqrt tanh; sin and cos only on -pi .. pi.
//  8. A buffer that is written is bound once. At most 8 buffers, 128 bytes of parameters, and 9
//     constants.
//  9. Names that begin with K_, and words that any of the five languages reserves, are taken; so is
//     `length` for a parameter.
#ifndef K_H
#define K_H
#define K_DIALECT 1 // Raised when a macro changes its meaning.

#define K_CUDA 1
#define K_OPENCL 2
#define K_MSL 3
#define K_GLSL 4
#define K_WGSL 5
#define K_META 6

#ifdef K_VARIANT
#include "k_variant.h"
#endif
#ifndef K_SUBGROUP
#define K_SUBGROUP 0 // 1: subgroup operations may be used.
#endif

// A '#' in the replacement of an object-like macro is an ordinary token, so that K_HASH at the
// start of a line writes a directive into the expansion.
#define K_HASH #

#ifndef K_F16
#define K_F16 0 // 1: activations are 16-bit values (k_view.h).
#endif
#ifndef K_S
#define K_S 0 // 1: the state is of 16-bit values beside activations of f32; 2: in blocks (k_view.h).
#endif
#define K_HALVES (K_F16 || K_S == 1) // The text has buffers of 16-bit values.

#if K_TARGET == K_CUDA
#include "k_cuda.h"
#elif K_TARGET == K_OPENCL
#include "k_opencl.h"
#elif K_TARGET == K_MSL
#include "k_msl.h"
#elif K_TARGET == K_GLSL
#include "k_glsl.h"
#elif K_TARGET == K_WGSL
#include "k_wgsl.h"
#elif K_TARGET == K_META
#include "k_meta.h"
#elif defined K_DIALECT_FILE
#include K_DIALECT_FILE // Of a stranger's language.
#else
#error "K_TARGET is none of K_CUDA K_OPENCL K_MSL K_GLSL K_WGSL K_META"
#endif

#include "k_lib.h"
#endif
