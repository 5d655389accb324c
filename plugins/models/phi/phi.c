// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Phi-1, Phi-1.5 and Phi-2 (arXiv 2306.11644, 2309.05463): attention and MLP side by side on one
// layer norm, a part of each head turned, biases everywhere, the head's too. Heads may be
// normalised.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

static void norm_if_wanted(struct model_context *context,
                           const struct model_block *block,
                           struct model_heads *heads)
{
    if (model_config_boolean_of(context, "/qk_layernorm", 0)) {
        model_heads_norm(context, block, heads);
    }
}

const struct model_decoder describe_phi = {
    .model_type = "phi",
    .class_name = "PhiForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .head_steps = {norm_if_wanted, model_heads_turn},
    .mlp = model_mlp_plain,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/layer_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults =
        {
            .sizes =
                {.hidden = 2048, .layers = 24, .heads = 32, .mlp_width = 8192, .vocabulary = 51200},
            .eps = 1e-5,
            .activation = "gelu_new",
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
            .has_head_bias = 1,
            .is_parallel = 1,
            .rope = {.theta = 10000, .positions = 2048, .share = 0.5},
        },
    .tensors =
        {
            .embed = "model.embed_tokens",
            .attention_norm = "model.layers.{i}.input_layernorm",
            .q = "model.layers.{i}.self_attn.q_proj",
            .k = "model.layers.{i}.self_attn.k_proj",
            .v = "model.layers.{i}.self_attn.v_proj",
            .o = "model.layers.{i}.self_attn.dense",
            .q_norm = "model.layers.{i}.self_attn.q_layernorm",
            .k_norm = "model.layers.{i}.self_attn.k_layernorm",
            .up = "model.layers.{i}.mlp.fc1",
            .down = "model.layers.{i}.mlp.fc2",
            .norm = "model.final_layernorm",
            .head = "lm_head",
        },
    .ignored = {"/rotary_dim"}, // The class reads the share.
};
