// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mistral (arXiv 2310.06825): Llama whose layers all slide, where the config has a window.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_mistral = {
    .model_type = "mistral",
    .class_name = "MistralForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults =
        {
            .sizes = {.hidden = 4096,
                      .layers = 32,
                      .heads = 32,
                      .kv_heads = 8,
                      .mlp_width = 14336,
                      .vocabulary = 32000},
            .eps = 1e-6,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 131072},
        },
    .windows = {.window = "/sliding_window", .window_fallback = 4096},
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/layer_types", // The class gives every layer the window.
                "/norm_eps"},   // The class reads "rms_norm_eps".
};
