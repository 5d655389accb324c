// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the build embeds for one language: the kernels, and what the host must know of each.
// kembed writes a table of these, ended by a zero, from the META expansion of kernels/*.k.
#ifndef TAPML_GPU_KERNEL_H
#define TAPML_GPU_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Variants: the structural switches that a kernel was expanded with.
enum {
    K_V_BASE = 0,
    K_V_SUBGROUP = 1, // Needs GPU_FEATURE_SUBGROUP.
    K_V_X4 = 8,       // Reads four elements at a time; widths, offsets, strides count them.
    K_V_BF16 = 16,    // The weight is bf16,
    K_V_F16 = 32,     // or f16 (K_W in k_view.h),
    K_V_Q8 = 64,      // or in blocks of 8 bits,
    K_V_Q4 = 128,     // or of 4 (others below); else f32.
    K_V_HALF = 256,   // Activations are f16 (K_F16 in k_view.h). Needs GPU_FEATURE_F16.
    // The state is f16 and activations are f32 (K_S in k_view.h). Needs GPU_FEATURE_F16.
    K_V_STATE_F16 = 512,
    K_V_Q5 = 1024,        // The weight is in blocks of 5 bits,
    K_V_Q4_K = 2048,      // or of 256 values with factors, of 4 bits,
    K_V_Q5_K = 4096,      // or of 5,
    K_V_Q6_K = 8192,      // or of 6.
    K_V_STATE_Q8 = 16384, // The state is in blocks of 8 bits (K_S).
    K_V_TILES = 32768,    // The weight is in tiles.
};

enum { K_TUNE_MAX = 9, K_BINDING_MAX = 8, K_PARAMS_MAX = 128 };

enum k_access { K_ACCESS_IN, K_ACCESS_OUT, K_ACCESS_INOUT };

// A constant whose value the host gives when it makes a pipeline. [0..2] are WG_X, WG_Y, WG_Z.
struct k_tune {
    const char *name;
    uint32_t id, def;
};

struct k_binding {
    const char *name, *type;
    uint32_t index;
    enum k_access access;
};

struct k_kernel {
    const char *name; // Also the entry point, but in SPIR-V.
    uint32_t variant; // K_V_*
    uint32_t n_tune;
    const struct k_tune *tune;
    uint32_t n_binding;
    const struct k_binding *binding;
    uint32_t params_size;
    const unsigned char *code; // Text with a final zero, or SPIR-V.
    size_t size;
    const char *entry; // In SPIR-V; NULL: "main".
};

#ifdef __cplusplus
}
#endif

#endif
