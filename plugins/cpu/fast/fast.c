// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/fast.h"

#include "fast/operators.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define IMPLS_AT(level)                                                                            \
    {                                                                                              \
        &attention_##level, &elementwise_add_##level, &elementwise_mul_##level,                    \
            &experts_linear_##level, &linear_##level, &norm_layer_##level, &norm_rms_##level,      \
            &rope_##level, &unary_gelu_tanh_##level, &unary_sigmoid_##level, &unary_silu_##level   \
    }

enum { FAST_OP_COUNT = 11 };

struct level {
    const char *id, *name;
    int (*is_available)(void);
    const tapml_op_impl *impls[FAST_OP_COUNT];
};

static int always(void)
{
    return 1;
}

#if defined(__x86_64__)
// clang 14 does not know it by name.
static int has_f16c(void)
{
    unsigned int a = 0, b = 0, c = 0, d = 0;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static int has_avx512vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

static const struct level levels[] = {
#if defined(__x86_64__)
    {"avx512vnni", "16 lanes, AVX-512 with VNNI", has_avx512vnni, IMPLS_AT(avx512vnni)},
    {"avx512", "16 lanes, AVX-512", has_avx512, IMPLS_AT(avx512)},
    {"avx2", "8 lanes, AVX2 with FMA and F16C", has_avx2, IMPLS_AT(avx2)},
#endif
    {"portable", "4 lanes, what every processor of this kind has", always, IMPLS_AT(portable)},
};

// The fast form of `impl`, or itself.
static const tapml_op_impl *fastest(const struct level *level, const tapml_op_impl *impl)
{
    for (size_t i = 0; i < FAST_OP_COUNT; i++) {
        if (strcmp(level->impls[i]->op->name, impl->op->name) == 0) {
            return level->impls[i];
        }
    }
    return impl;
}

void fast_init(struct fast *fast)
{
    const struct reference_device *reference = reference_devices[0];
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        if (!levels[i].is_available()) {
            continue;
        }
        struct reference_device *device = &fast->storage[count];

        *device = *reference;
        device->info.id = levels[i].id;
        device->info.name = levels[i].name;
        device->is_f32_alone = true;
        device->impls = fast->impls[count];
        for (size_t op = 0; op < TAPML_OPS_COUNT; op++) {
            fast->impls[count][op] = fastest(&levels[i], reference->impls[op]);
        }
        fast->infos[count] = &device->info;
        fast->devices[count++] = device;
    }
    fast->component = reference_component;
    fast->component.count = count;
    fast->component.infos = fast->infos;
    fast->component.devices = fast->devices;
}
