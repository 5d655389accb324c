// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/op.h>

// The ops, each in the file of its first word. `_f32` and `_f64` are the same source, compiled once
// with each type of number (arithmetic.h).
#define OPERATORS_IN(precision)                                                                    \
    extern const tapml_op_impl attention_##precision, conv1d_causal_##precision,                   \
        elementwise_add_##precision, elementwise_mul_##precision, elementwise_sub_##precision,     \
        experts_linear_##precision, experts_sum_##precision, linear_##precision,                   \
        norm_l2_##precision, norm_layer_##precision, norm_rms_##precision, norm_sum_##precision,   \
        rope_##precision, route_groups_##precision, route_sigmoid_##precision,                     \
        route_softmax_##precision, route_topk_##precision, scan_##precision,                       \
        unary_clip_##precision, unary_exp_##precision, unary_gelu_##precision,                     \
        unary_gelu_tanh_##precision, unary_relu_##precision, unary_scale_##precision,              \
        unary_sigmoid_##precision, unary_silu_##precision, unary_softcap_##precision,              \
        unary_softplus_##precision, unary_tanh_##precision

OPERATORS_IN(f32);
OPERATORS_IN(f64);

// Ops that only move values: every precision has the same.
extern const tapml_op_impl rows_concat, rows_copy, rows_embed, rows_gather, rows_state_append;
