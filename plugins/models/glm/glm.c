// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GLM-4 (arXiv 2406.12793) as transformers has it: Llama with biases on queries, keys and values,
// half of each head turned pair by pair, gate and up in one tensor.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_glm = {
    .model_type = "glm",
    .class_name = "GlmForCausalLM",
    .mlp = model_mlp_fused,
    .is_rope_interleaved = 1,
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
            .sizes = {.hidden = 4096,
                      .layers = 40,
                      .heads = 32,
                      .kv_heads = 2,
                      .head_width = 128,
                      .mlp_width = 13696,
                      .vocabulary = 151552},
            .eps = 1.5625e-7,
            .activation = "silu",
            .has_attention_biases = 1,
            .output_bias = MODEL_OUTPUT_BIAS_NEVER,
            .rope = {.theta = 10000, .positions = 131072, .share = 0.5},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .gate = "model.layers.{i}.mlp.gate_up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
        },
};
