// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen3 (arXiv 2505.09388): Llama with normalised heads of queries and keys; late layers may slide.

#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_qwen3 = {
    .model_type = "qwen3",
    .class_name = "Qwen3ForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .sizes = {.head_width = 128},
            .eps = 1e-6,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 32768},
        },
    .windows =
        {
            .window = "/sliding_window",
            .is_used = "/use_sliding_window",
            .types = "/layer_types",
            .firsts = "/max_window_layers",
            .window_fallback = 4096,
            .first = 28,
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            MODEL_TENSORS_HEAD_NORMS,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            MODEL_TENSORS_MLP,
        },
    .expected = {{"/use_qk_norm", "true"}},
};
