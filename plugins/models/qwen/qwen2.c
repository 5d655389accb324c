// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen2 (arXiv 2407.10671): Llama with biases of queries, keys and values; late layers may slide.
#include "qwen.h"

const struct model_decoder describe_qwen2 = {
    .model_type = "qwen2",
    .class_name = "Qwen2ForCausalLM",
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults = {QWEN2_DEFAULTS, .sizes = {.hidden = 4096,
                                           .layers = 32,
                                           .heads = 32,
                                           .mlp_width = 22016,
                                           .vocabulary = 151936}},
    .windows = {QWEN_WINDOWS},
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/dual_chunk_attention_config"}, // Of vLLM; the class does not read it.
    .expected = {{"/use_mrope", "false"}},
};
