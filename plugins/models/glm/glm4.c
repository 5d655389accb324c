// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GLM-4-0414: GLM-4 with norms before and behind both halves of a layer.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_glm4 = {
    .model_type = "glm4",
    .class_name = "Glm4ForCausalLM",
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
            .attention_norm_after = "model.layers.{i}.post_self_attn_layernorm",
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .gate = "model.layers.{i}.mlp.gate_up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
            .mlp_norm_after = "model.layers.{i}.post_mlp_layernorm",
        },
};
