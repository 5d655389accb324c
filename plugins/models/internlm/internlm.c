// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// InternLM: Llama with biases of attention; the rope has a section of its own name.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_internlm = {
    .model_type = "internlm",
    .class_name = "InternLMForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/bias",
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "silu",
            .has_attention_biases = 1,
            .rope = {.theta = 10000,
                     .positions = 2048,
                     .older = "/rotary",
                     .base = "/rotary/base|/rope_theta",
                     .factor = 1},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
};
