// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Persimmon, which no plugin of the project has: a decoder whose heads are normalised with a weight
// and a bias, half of each head turned, the MLP without a gate. docs/write-a-model.md is about it.
#include "persimmon-note.h"

#include <tapml/model/block.h>
#include <tapml/model/entry.h>

static const struct model_decoder describe_persimmon = {
    .model_type = "persimmon",
    .class_name = "PersimmonForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .layout = model_layout_whole,
    .mlp = model_mlp_plain,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_hidden_layers",
            .heads = "/num_attention_heads",
            .mlp_width = "/intermediate_size",
            .vocabulary = "/vocab_size",
            .eps = "/layer_norm_eps",
            .activation = "/hidden_act",
            .is_tied = "/tie_word_embeddings",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "relu2",
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
            .rope = {.theta = 10000, .positions = 16384, .share = 0.5},
        },
    .tensors =
        {
            .embed = "model.embed_tokens",
            .attention_norm = "model.layers.{i}.input_layernorm",
            .qkv = "model.layers.{i}.self_attn.query_key_value",
            .q_norm = "model.layers.{i}.self_attn.q_layernorm",
            .k_norm = "model.layers.{i}.self_attn.k_layernorm",
            .o = "model.layers.{i}.self_attn.dense",
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .up = "model.layers.{i}.mlp.dense_h_to_4h",
            .down = "model.layers.{i}.mlp.dense_4h_to_h",
            .norm = "model.final_layernorm",
            .head = "lm_head",
        },
    .expected = {{"/qk_layernorm", "true"}},
};

MODEL_COMPONENT(persimmon,
                "Persimmon: normalised heads, no gate",
                model_decoder_create,
                &describe_persimmon)

TAPML_PLUGIN("org.example.persimmon", "1.0.0", "Example", "Apache-2.0", &persimmon)
