// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/op.h>

// The ops that have a fast form, each in the file of its first word: one source, compiled once for
// each level. For what a fast form leaves out it calls the reference's.
#define OPERATORS_AT(level)                                                                        \
    extern const tapml_op_impl attention_##level, elementwise_add_##level,                         \
        elementwise_mul_##level, experts_linear_##level, linear_##level, norm_layer_##level,       \
        norm_rms_##level, rope_##level, unary_gelu_tanh_##level, unary_sigmoid_##level,            \
        unary_silu_##level

OPERATORS_AT(portable);
OPERATORS_AT(avx2);
OPERATORS_AT(avx512);
OPERATORS_AT(avx512vnni);
