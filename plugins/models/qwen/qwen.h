// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What Qwen2 and Qwen3 share: members of a struct model_decoder.
#pragma once

#include <tapml/model/block.h>
#include <tapml/model/names.h>

// Members of `defaults`.
#define QWEN_DEFAULTS                                                                              \
    .eps = 1e-6, .activation = "silu", .rope = {.theta = 10000, .positions = 32768}

// The same with biases of queries, keys and values.
#define QWEN2_DEFAULTS                                                                             \
    QWEN_DEFAULTS, .has_attention_biases = 1, .output_bias = MODEL_OUTPUT_BIAS_NEVER

// Late layers slide: members of `windows`.
#define QWEN_WINDOWS                                                                               \
    .window = "/sliding_window", .is_used = "/use_sliding_window", .types = "/layer_types",        \
    .firsts = "/max_window_layers", .window_fallback = 4096, .first = 28
