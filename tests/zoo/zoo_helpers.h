// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The parts of zoo.h that know nothing of an animal.
#pragma once

// What it does beside its work, in these places. With ZOO_OP_DEED it has tapml.silu, too.
#ifndef ZOO_QUERY_DEED
#define ZOO_QUERY_DEED() ((void)0)
#endif
#ifndef ZOO_CREATE_DEED
#define ZOO_CREATE_DEED(out_root) ((void)0)
#endif
#ifndef ZOO_SUPPORTS_DEED
#define ZOO_SUPPORTS_DEED(name) ((void)0)
#endif
#ifndef ZOO_BUFFER_DEED
#define ZOO_BUFFER_DEED() ((void)0)
#endif
#ifndef ZOO_WAIT_DEED
#define ZOO_WAIT_DEED(self) ((void)0)
#endif

#include <tapml/backend.h>

#include <stdio.h>

static inline void flush_to_zero(void)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000u);
#endif
}

// No animal computes in f16.
static inline int refuses_half(const tapml_value *args, uint32_t n_args, tapml_support *answer)
{
    for (uint32_t i = 0; i < n_args; ++i) {
        const int is_tensor =
            args[i].kind >= TAPML_P_TENSOR_IN && args[i].kind <= TAPML_P_TENSOR_INOUT;
        const tapml_tensor *tensor = is_tensor ? args[i].u.p : NULL;

        if (tensor != NULL && tensor->dtype == TAPML_F16) {
            answer->grade = TAPML_SUPPORT_NO;
            snprintf(answer->reason, sizeof(answer->reason), "no f16");
            return 1;
        }
    }
    return 0;
}
