// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The op functions, convention 1 of tapml/op.h. Each stands in ops/ and is its launch: it checks
// what the kernels do not take, chooses a variant and sizes, and packs the parameters.
//
// Every index that comes from a tensor (the ids of embed, the rows of gather_rows) is clamped by
// the kernel to what is there, so that no value reads outside a buffer.
#pragma once

#include "plan.h"

#include <tapml/ops.h>

// Passes a failure on.
#define GPU_TRY(call_)                                                                             \
    do {                                                                                           \
        const tapml_status try_status = (call_);                                                   \
        if (try_status != TAPML_OK) {                                                              \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

tapml_status gpu_op_add(TAPML_ADD_PARAMS);
tapml_status gpu_op_attention(TAPML_ATTENTION_PARAMS);
tapml_status gpu_op_clip(TAPML_CLIP_PARAMS);
tapml_status gpu_op_concat(TAPML_CONCAT_PARAMS);
tapml_status gpu_op_conv1d_causal(TAPML_CONV1D_CAUSAL_PARAMS);
tapml_status gpu_op_copy(TAPML_COPY_PARAMS);
tapml_status gpu_op_embed(TAPML_EMBED_PARAMS);
tapml_status gpu_op_exp(TAPML_EXP_PARAMS);
tapml_status gpu_op_gather_rows(TAPML_GATHER_ROWS_PARAMS);
tapml_status gpu_op_gelu(TAPML_GELU_PARAMS);
tapml_status gpu_op_gelu_tanh(TAPML_GELU_TANH_PARAMS);
tapml_status gpu_op_l2_norm(TAPML_L2_NORM_PARAMS);
tapml_status gpu_op_layer_norm(TAPML_LAYER_NORM_PARAMS);
tapml_status gpu_op_linear(TAPML_LINEAR_PARAMS);
tapml_status gpu_op_linear_experts(TAPML_LINEAR_EXPERTS_PARAMS);
tapml_status gpu_op_linear_scan(TAPML_LINEAR_SCAN_PARAMS);
tapml_status gpu_op_mul(TAPML_MUL_PARAMS);
tapml_status gpu_op_relu(TAPML_RELU_PARAMS);
tapml_status gpu_op_rms_norm(TAPML_RMS_NORM_PARAMS);
tapml_status gpu_op_rope(TAPML_ROPE_PARAMS);
tapml_status gpu_op_route_groups(TAPML_ROUTE_GROUPS_PARAMS);
tapml_status gpu_op_route_sigmoid(TAPML_ROUTE_SIGMOID_PARAMS);
tapml_status gpu_op_route_softmax(TAPML_ROUTE_SOFTMAX_PARAMS);
tapml_status gpu_op_route_topk(TAPML_ROUTE_TOPK_PARAMS);
tapml_status gpu_op_scale(TAPML_SCALE_PARAMS);
tapml_status gpu_op_sigmoid(TAPML_SIGMOID_PARAMS);
tapml_status gpu_op_silu(TAPML_SILU_PARAMS);
tapml_status gpu_op_softcap(TAPML_SOFTCAP_PARAMS);
tapml_status gpu_op_softplus(TAPML_SOFTPLUS_PARAMS);
tapml_status gpu_op_state_append(TAPML_STATE_APPEND_PARAMS);
tapml_status gpu_op_sub(TAPML_SUB_PARAMS);
tapml_status gpu_op_sum(TAPML_SUM_PARAMS);
tapml_status gpu_op_tanh(TAPML_TANH_PARAMS);
tapml_status gpu_op_weighted_sum(TAPML_WEIGHTED_SUM_PARAMS);

// Launches an elementwise kernel over `count` tensors of one shape, in the order of its bindings;
// the last one is written.
tapml_status gpu_op_elements(struct gpu_queue *queue,
                             tapml_call *call,
                             const char *kernel,
                             const tapml_tensor *const *tensors,
                             uint32_t count);

// What `ops` of the backend answers.
const tapml_op_impl *const *gpu_ops_list(uint32_t *out_count);

// The implementation of an op, or NULL.
const tapml_op_impl *gpu_ops_find(const tapml_op *op);
