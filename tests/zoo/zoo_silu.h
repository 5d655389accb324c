// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.silu, for zoo.h, of an animal with a deed in it.
#pragma once

#include "zoo_element.h"

#ifndef ZOO_SILU
#define ZOO_SILU(value) ((value) / (1.0 + exp(-(value))))
#endif

static tapml_status
zoo_silu(tapml_object *queue, tapml_call *call, const tapml_tensor *x, const tapml_tensor *y)
{
    ++own(queue)->calls;
    ZOO_OP_DEED();
    for (int64_t i = 0; i < count_of(y); ++i) {
        const double value = *element(x, i);
        *element(y, i) = (float)ZOO_SILU(value);
    }
    return TAPML_OK;
}

static const tapml_op_impl silu_impl = TAPML_IMPL(tapml_silu, zoo_silu);
#define ZOO_OP silu_impl
