// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.copy and tapml.scale, for zoo.h: what the checks of a driver launch.
#pragma once

#include "zoo_element.h"

#if defined(SIN_KEEPS_ARGUMENTS)
static double zoo_factor; // Of the first launch since the last signal; 0: there was none.
#define ZOO_FACTOR(given) (zoo_factor != 0 ? zoo_factor : (zoo_factor = (given)))
#else
#define ZOO_FACTOR(given) (given)
#endif

static tapml_status zoo_copy(TAPML_COPY_PARAMS)
{
    ++own(queue)->calls;
    for (int64_t i = 0; i < count_of(y); ++i) {
        *element(y, i) = *element(x, i);
    }
    return TAPML_OK;
}

static tapml_status zoo_times(TAPML_SCALE_PARAMS)
{
    const double used = ZOO_FACTOR(factor);
    ++own(queue)->calls;
    for (int64_t i = 0; i < count_of(y); ++i) {
        *element(y, i) = (float)(used * *element(x, i));
    }
    return TAPML_OK;
}

static const tapml_op_impl copy_impl = TAPML_IMPL(tapml_copy, zoo_copy);
static const tapml_op_impl times_impl = TAPML_IMPL(tapml_scale, zoo_times);
#define ZOO_OP copy_impl, &times_impl
