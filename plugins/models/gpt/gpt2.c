// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-2 (Radford et al., 2019): a learned table of positions, layer norms, one tensor for queries,
// keys and values, weights stored [in, out]. Many files leave "transformer." out of the names.
#include "gpt.h"

const struct model_decoder describe_gpt2 = {
    .model_type = "gpt2",
    .class_name = "GPT2LMHeadModel",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .embed_steps = {model_embed_positions},
    .layout = model_layout_blocks,
    .attention = gpt_scale_by_layer,
    .mlp = model_mlp_plain,
    .ropes = MODEL_ROPES_NONE,
    .is_transposed = 1,
    .keys = {GPT_KEYS_TABLE},
    .defaults = {GPT_DEFAULTS, .activation = "gelu_new"},
    .tensors =
        {
            GPT_TENSORS_STREAM,
            GPT_TENSORS_ATTENTION,
            GPT_TENSORS_MLP,
            .positions = "transformer.wpe",
        },
    .ignored = {"/n_ctx", "/n_special", "/predict_special_tokens", GPT_UNREAD},
};
