// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// ERNIE 4.5, its dense models: Llama whose rope turns neighbours.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_ernie4_5 = {
    .model_type = "ernie4_5",
    .class_name = "Ernie4_5ForCausalLM",
    .is_rope_interleaved = 1,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/use_bias",
            .mlp_biases = "/use_bias",
        },
    .defaults =
        {
            .sizes = {.head_width = 128},
            .eps = 1e-5,
            .activation = "silu",
            .is_tied = 1,
            .rope = {.theta = 500000, .positions = 131072},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            MODEL_TENSORS_MLP,
        },
    .expected = {{"/compression_ratio", "1.0"}},
};
