// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "ops.h"

#include <string.h>

static const tapml_op_impl add = TAPML_IMPL(tapml_add, gpu_op_add);
static const tapml_op_impl attention = TAPML_IMPL(tapml_attention, gpu_op_attention);
static const tapml_op_impl clip = TAPML_IMPL(tapml_clip, gpu_op_clip);
static const tapml_op_impl concat = TAPML_IMPL(tapml_concat, gpu_op_concat);
static const tapml_op_impl conv1d_causal = TAPML_IMPL(tapml_conv1d_causal, gpu_op_conv1d_causal);
static const tapml_op_impl copy = TAPML_IMPL(tapml_copy, gpu_op_copy);
static const tapml_op_impl embed = TAPML_IMPL(tapml_embed, gpu_op_embed);
static const tapml_op_impl exponential = TAPML_IMPL(tapml_exp, gpu_op_exp);
static const tapml_op_impl gather_rows = TAPML_IMPL(tapml_gather_rows, gpu_op_gather_rows);
static const tapml_op_impl gelu = TAPML_IMPL(tapml_gelu, gpu_op_gelu);
static const tapml_op_impl gelu_tanh = TAPML_IMPL(tapml_gelu_tanh, gpu_op_gelu_tanh);
static const tapml_op_impl l2_norm = TAPML_IMPL(tapml_l2_norm, gpu_op_l2_norm);
static const tapml_op_impl layer_norm = TAPML_IMPL(tapml_layer_norm, gpu_op_layer_norm);
static const tapml_op_impl linear = TAPML_IMPL(tapml_linear, gpu_op_linear);
static const tapml_op_impl linear_experts = TAPML_IMPL(tapml_linear_experts, gpu_op_linear_experts);
static const tapml_op_impl linear_scan = TAPML_IMPL(tapml_linear_scan, gpu_op_linear_scan);
static const tapml_op_impl mul = TAPML_IMPL(tapml_mul, gpu_op_mul);
static const tapml_op_impl relu = TAPML_IMPL(tapml_relu, gpu_op_relu);
static const tapml_op_impl rms_norm = TAPML_IMPL(tapml_rms_norm, gpu_op_rms_norm);
static const tapml_op_impl rope = TAPML_IMPL(tapml_rope, gpu_op_rope);
static const tapml_op_impl route_groups = TAPML_IMPL(tapml_route_groups, gpu_op_route_groups);
static const tapml_op_impl route_sigmoid = TAPML_IMPL(tapml_route_sigmoid, gpu_op_route_sigmoid);
static const tapml_op_impl route_softmax = TAPML_IMPL(tapml_route_softmax, gpu_op_route_softmax);
static const tapml_op_impl route_topk = TAPML_IMPL(tapml_route_topk, gpu_op_route_topk);
static const tapml_op_impl scale = TAPML_IMPL(tapml_scale, gpu_op_scale);
static const tapml_op_impl sigmoid = TAPML_IMPL(tapml_sigmoid, gpu_op_sigmoid);
static const tapml_op_impl silu = TAPML_IMPL(tapml_silu, gpu_op_silu);
static const tapml_op_impl softcap = TAPML_IMPL(tapml_softcap, gpu_op_softcap);
static const tapml_op_impl softplus = TAPML_IMPL(tapml_softplus, gpu_op_softplus);
static const tapml_op_impl state_append = TAPML_IMPL(tapml_state_append, gpu_op_state_append);
static const tapml_op_impl sub = TAPML_IMPL(tapml_sub, gpu_op_sub);
static const tapml_op_impl sum = TAPML_IMPL(tapml_sum, gpu_op_sum);
static const tapml_op_impl tangent = TAPML_IMPL(tapml_tanh, gpu_op_tanh);
static const tapml_op_impl weighted_sum = TAPML_IMPL(tapml_weighted_sum, gpu_op_weighted_sum);

static const tapml_op_impl *const list[] = {
    &add,        &attention,   &clip,           &concat,        &conv1d_causal, &copy,
    &embed,      &exponential, &gather_rows,    &gelu,          &gelu_tanh,     &l2_norm,
    &layer_norm, &linear,      &linear_experts, &linear_scan,   &mul,           &relu,
    &rms_norm,   &rope,        &route_groups,   &route_sigmoid, &route_softmax, &route_topk,
    &scale,      &sigmoid,     &silu,           &softcap,       &softplus,      &state_append,
    &sub,        &sum,         &tangent,        &weighted_sum,
};

enum { COUNT = sizeof(list) / sizeof(list[0]) };

const tapml_op_impl *const *gpu_ops_list(uint32_t *out_count)
{
    *out_count = COUNT;
    return list;
}

const tapml_op_impl *gpu_ops_find(const tapml_op *op)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        if (list[i]->op->version == op->version && strcmp(list[i]->op->name, op->name) == 0) {
            return list[i];
        }
    }
    return NULL;
}
