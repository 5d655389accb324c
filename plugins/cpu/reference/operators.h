// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/ops.h>

// The ops of the catalogue: `reference_silu_f32` implements tapml.silu. `_f32` and `_f64` are the
// same source, compiled once with each type of number (arithmetic.h). An op of the catalogue that
// no file implements is an undefined symbol for the linker, which names it.
#define OPERATORS_DECLARE(name, upper)                                                             \
    extern const tapml_op_impl reference_##name##_f32, reference_##name##_f64;
TAPML_OPS_EACH(OPERATORS_DECLARE)
#undef OPERATORS_DECLARE
