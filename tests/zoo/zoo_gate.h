// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.silu and tapml.mul, for zoo.h, of an animal whose ops get into each other's way.
#pragma once

static int zoo_silu_calls;
#define ZOO_OP_DEED() ((void)++zoo_silu_calls)
#include "zoo_silu.h"

static tapml_status zoo_mul(TAPML_MUL_PARAMS)
{
    ++own(queue)->calls;
    for (int64_t i = 0; i < count_of(y); ++i) {
        *element(y, i) = *element(a, i) * *element(b, i);
    }
    if (zoo_silu_calls > 0) {
        *element(y, 0) += 1;
    }
    return TAPML_OK;
}

static const tapml_op_impl mul_impl = TAPML_IMPL(tapml_mul, zoo_mul);
#undef ZOO_OP
#define ZOO_OP silu_impl, &mul_impl
