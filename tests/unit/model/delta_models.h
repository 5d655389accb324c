// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A base and a fine-tune of three tensors, for tests of what is made of them.
#pragma once

#include "model/checkpoint.h"

#include <criterion/criterion.h>
#include <string.h>

enum { DELTA_MODELS_VALUES = 64 };

struct delta_models {
    float base_values[2][DELTA_MODELS_VALUES], fine_values[2][DELTA_MODELS_VALUES];
    struct checkpoint *base, *fine;
};

static const int64_t delta_models_matrix[] = {8, 8}, delta_models_row[] = {DELTA_MODELS_VALUES};

static inline struct checkpoint *delta_models_checkpoint(float values[2][DELTA_MODELS_VALUES],
                                                         size_t count)
{
    static const struct {
        const char *name;
        const int64_t *shape;
        uint32_t rank;
        int values;
    } tensors[] = {{"matrix", delta_models_matrix, 2, 0},
                   {"row", delta_models_row, 1, 1},
                   {"same", delta_models_matrix, 2, -1}};
    static float same[DELTA_MODELS_VALUES];
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(checkpoint_create(&checkpoint), TAPML_OK);
    for (size_t i = 0; i < count; ++i) {
        const struct checkpoint_tensor tensor = {
            .name = tensors[i].name,
            .tensor = {.dtype = TAPML_F32, .rank = tensors[i].rank, .shape = tensors[i].shape},
            .data = tensors[i].values < 0 ? same : values[tensors[i].values],
            .bytes = sizeof(same),
            .file = "f"};
        cr_assert_eq(checkpoint_add_tensor(checkpoint, &tensor), TAPML_OK);
    }
    cr_assert_eq(checkpoint_finish(checkpoint), TAPML_OK);
    return checkpoint;
}

static inline void delta_models_make(struct delta_models *models)
{
    for (int i = 0; i < DELTA_MODELS_VALUES; ++i) {
        for (int k = 0; k < 2; ++k) {
            models->base_values[k][i] = (float)(i % 5);
            models->fine_values[k][i] = (float)(i % 5) + (float)i / 128;
        }
    }
    models->base = delta_models_checkpoint(models->base_values, 3);
    models->fine = delta_models_checkpoint(models->fine_values, 3);
}

static inline void delta_models_release(struct delta_models *models)
{
    checkpoint_close(models->base);
    checkpoint_close(models->fine);
}
