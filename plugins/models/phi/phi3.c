// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Phi-3 (arXiv 2404.14219), Phi-3.5-mini and Phi-4: Llama with fused tensors; long texts by
// longrope; all layers may slide, part of a head may be turned.

#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_phi3 = {
    .model_type = "phi3",
    .class_name = "Phi3ForCausalLM",
    .layout = model_layout_blocks,
    .mlp = model_mlp_fused,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 4096, .original = 4096, .share = 1},
        },
    .windows = {.window = "/sliding_window"},
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            .qkv = "model.layers.{i}.self_attn.qkv_proj",
            .o = "model.layers.{i}.self_attn.o_proj",
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .gate = "model.layers.{i}.mlp.gate_up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
        },
    .ignored = {"/full_attn_mod", "/interpolate_factor"},
    .expected = {{"/attention_bias", "false"}, {"/mlp_bias", "false"}},
};
