// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The parts of zoo.h that know nothing of an animal.
#pragma once

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
