// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen3 (arXiv 2505.09388): Llama with normalised heads of queries and keys; late layers may slide.

#include "qwen.h"

const struct model_decoder describe_qwen3 = {
    .model_type = "qwen3",
    .class_name = "Qwen3ForCausalLM",
    .keys = {MODEL_KEYS_USUAL},
    .defaults = {QWEN_DEFAULTS, .sizes = {.hidden = 4096,
                                          .layers = 32,
                                          .heads = 32,
                                          .head_width = 128,
                                          .mlp_width = 22016,
                                          .vocabulary = 151936}},
    .windows = {QWEN_WINDOWS},
    .tensors = {MODEL_TENSORS_LLAMA, MODEL_TENSORS_HEAD_NORMS},
    .expected = {{"/use_qk_norm", "true"}},
};
