// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen2 (arXiv 2407.10671): Llama with biases of queries, keys and values; late layers may slide.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_qwen2 = {
    .model_type = "qwen2",
    .class_name = "Qwen2ForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "silu",
            .has_attention_biases = 1,
            .output_bias = MODEL_OUTPUT_BIAS_NEVER,
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
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            MODEL_TENSORS_MLP,
        },
    .expected = {{"/use_mrope", "false"}},
};
