// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// StarCoder 2 (arXiv 2402.19173): Llama's attention between layer norms, with biases everywhere,
// and the MLP of GPT-2; all layers may slide.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_starcoder2 = {
    .model_type = "starcoder2",
    .class_name = "Starcoder2ForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .mlp = model_mlp_plain,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/norm_epsilon",
            .activation = "/hidden_act",
            .attention_biases = "/use_bias",
            .mlp_biases = "/use_bias",
        },
    .defaults =
        {
            .sizes = {.hidden = 3072,
                      .layers = 30,
                      .heads = 24,
                      .kv_heads = 2,
                      .mlp_width = 12288,
                      .vocabulary = 49152},
            .eps = 1e-5,
            .activation = "gelu_pytorch_tanh",
            .is_tied = 1,
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
            .rope = {.theta = 10000, .positions = 4096},
        },
    .windows = {.window = "/sliding_window"},
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .up = "model.layers.{i}.mlp.c_fc",
            .down = "model.layers.{i}.mlp.c_proj",
        },
    .ignored = {"/activation_function", "/layer_norm_epsilon"}, // The class reads others.
    .expected = {{"/scale_attn_weights", "true"},
                 {"/mlp_type", "\"default\""},
                 {"/norm_type", "\"layer_norm\""}},
};
