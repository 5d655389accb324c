// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/reference.h"
#include "reference/value.h"

// Fails where `indices` [T, k] asks for an expert that there is not. Indices are values of a graph,
// which no schema bounds: they are checked before anything is read.
static inline tapml_status experts_check(tapml_object *queue,
                                         tapml_call *call,
                                         const tapml_tensor *indices,
                                         uint64_t expert_count)
{
    const size_t tokens = value_row_count(indices), chosen_count = value_width(indices);

    for (size_t token = 0; token < tokens; token++) {
        const int32_t *chosen = value_row(indices, token);

        for (size_t j = 0; j < chosen_count; j++) {
            if (chosen[j] < 0 || (uint64_t)chosen[j] >= expert_count) {
                return memory_fail(memory_object_of(queue), call, TAPML_INVALID,
                                   "expert %d of %llu", (int)chosen[j],
                                   (unsigned long long)expert_count);
            }
        }
    }
    return TAPML_OK;
}
