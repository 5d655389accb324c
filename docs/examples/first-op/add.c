// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.add 1: The sum of two tensors, element by element
//
//     y = a + b
#include "../object.h"
#include "../ops.h"
#include "catalogue.h"

static float *values_of(const tapml_tensor *tensor)
{
    return (float *)(void *)(object_of(tensor->buffer)->data + tensor->offset);
}

static tapml_status compute(TAPML_ADD_PARAMS)
{
    const float *a_values = values_of(a), *b_values = values_of(b);
    float *y_values = values_of(y);
    int64_t count = 1;

    for (uint32_t axis = 0; axis < y->rank; axis++) {
        count *= y->shape[axis];
    }
    for (int64_t i = 0; i < count; i++) {
        y_values[i] = a_values[i] + b_values[i];
    }
    return TAPML_OK;
}

const tapml_op_impl ops_add = TAPML_IMPL(tapml_add, compute);
