// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Seed-OSS: Llama with biases of queries, keys and values.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_seed_oss = {
    .model_type = "seed_oss",
    .class_name = "SeedOssForCausalLM",
    .keys =
        {
            MODEL_KEYS_USUAL,
            .output_biases = "/attention_out_bias",
            .mlp_biases = "/mlp_bias",
        },
    .defaults =
        {
            .sizes = {.head_width = 128},
            .eps = 1e-6,
            .activation = "silu",
            .has_attention_biases = 1,
            .output_bias = MODEL_OUTPUT_BIAS_NEVER,
            .rope = {.theta = 10000, .positions = 524288},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
};
