// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tensors of quantised weights, for tests of what reads them.
#pragma once

#include "model/checkpoint.h"
#include "model/quantised_config.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdint.h>

// Makes a tensor of a matrix in the caller's memory.
static inline struct checkpoint_tensor quantised_tensor(
    const char *name, uint32_t dtype, const char *stored, const int64_t *shape, const void *data)
{
    return (struct checkpoint_tensor){
        .name = name,
        .tensor = {.hdr = TAPML_HDR(tapml_tensor), .dtype = dtype, .rank = 2, .shape = shape},
        .data = data,
        .bytes = (uint64_t)(shape[0] * shape[1]) * TAPML_DT_BYTES(dtype),
        .file = "w.safetensors",
        .stored = stored,
    };
}

// Makes a checkpoint of them.
static inline struct checkpoint *quantised_checkpoint(const struct checkpoint_tensor *tensors,
                                                      size_t count)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(checkpoint_create(&checkpoint), TAPML_OK);
    for (size_t i = 0; i < count; ++i) {
        cr_assert_eq(checkpoint_add_tensor(checkpoint, &tensors[i]), TAPML_OK);
    }
    cr_assert_eq(checkpoint_finish(checkpoint), TAPML_OK);
    return checkpoint;
}
