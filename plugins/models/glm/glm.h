// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What GLM-4 and GLM-4-0414 share in the layout of transformers: members of a struct model_decoder.
#pragma once

#include <tapml/model/block.h>
#include <tapml/model/names.h>

#define GLM_FORM .mlp = model_mlp_fused, .is_rope_interleaved = 1, .keys = {MODEL_KEYS_USUAL}

#define GLM_DEFAULTS                                                                               \
    .sizes = {.hidden = 4096,                                                                      \
              .layers = 40,                                                                        \
              .heads = 32,                                                                         \
              .kv_heads = 2,                                                                       \
              .head_width = 128,                                                                   \
              .mlp_width = 13696,                                                                  \
              .vocabulary = 151552},                                                               \
    .eps = 1.5625e-7, .activation = "silu", .has_attention_biases = 1,                             \
    .output_bias = MODEL_OUTPUT_BIAS_NEVER,                                                        \
    .rope = {.theta = 10000, .positions = 131072, .share = 0.5}

#define GLM_TENSORS                                                                                \
    MODEL_TENSORS_STREAM, MODEL_TENSORS_ATTENTION,                                                 \
        .mlp_norm = "model.layers.{i}.post_attention_layernorm",                                   \
        .gate = "model.layers.{i}.mlp.gate_up_proj", .down = "model.layers.{i}.mlp.down_proj"
