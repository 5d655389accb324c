// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Gemma 3 (arXiv 2503.19786), its text model: Gemma 2 with normalised heads of queries and keys in
// place of limited scores; every sixth layer is full; layers that slide have a rope of their own.
#include "describe.h"

const struct model_decoder describe_gemma3_text = {
    .model_type = "gemma3_text",
    .class_name = "Gemma3ForCausalLM",
    .norm_offset = 1,
    .embed_is_multiplied = 1,
    .ropes = MODEL_ROPES_BY_LAYER,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_hidden_layers",
            .heads = "/num_attention_heads",
            .kv_heads = "/num_key_value_heads",
            .head_width = "/head_dim",
            .mlp_width = "/intermediate_size",
            .vocabulary = "/vocab_size",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_activation",
            .is_tied = "/tie_word_embeddings",
            .attention_biases = "/attention_bias",
            .scale_width = "/query_pre_attn_scalar",
            .logit_softcap = "/final_logit_softcapping",
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "gelu_pytorch_tanh",
            .is_tied = 1,
            .scale_width = 256,
            .rope = {.theta = 1e6, .positions = 131072, .newer = "/rope_parameters/full_attention"},
            .local_rope = {.theta = 10000,
                           .positions = 131072,
                           .newer = "/rope_parameters/sliding_attention",
                           .older = "/rope_local_scaling",
                           .base = "/rope_local_base_freq"},
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .periods = "/sliding_window_pattern|/_sliding_window_pattern",
                .window_fallback = 4096,
                .period = 6},
    .tensors =
        {
            .embed = "model.embed_tokens",
            .attention_norm = "model.layers.{i}.input_layernorm",
            .q = "model.layers.{i}.self_attn.q_proj",
            .k = "model.layers.{i}.self_attn.k_proj",
            .v = "model.layers.{i}.self_attn.v_proj",
            .q_norm = "model.layers.{i}.self_attn.q_norm",
            .k_norm = "model.layers.{i}.self_attn.k_norm",
            .o = "model.layers.{i}.self_attn.o_proj",
            .attention_norm_after = "model.layers.{i}.post_attention_layernorm",
            .mlp_norm = "model.layers.{i}.pre_feedforward_layernorm",
            .gate = "model.layers.{i}.mlp.gate_proj",
            .up = "model.layers.{i}.mlp.up_proj",
            .down = "model.layers.{i}.mlp.down_proj",
            .mlp_norm_after = "model.layers.{i}.post_feedforward_layernorm",
            .norm = "model.norm",
            .head = "lm_head",
        },
    // The activation of the class, whatever the older key says. Its scores are never limited.
    .ignored = {"/hidden_act", "/attn_logit_softcapping", "/cache_implementation"},
    .expected = {{"/use_bidirectional_attention", "false"}},
};
