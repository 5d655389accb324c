// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Three layers of the gated delta rule for one of gated attention, as Qwen3-Next and Qwen3.5 have
// them. Norms multiply by 1 + w, but for the one behind the rule.
#pragma once

#include "delta.h"

#include <tapml/model/block.h>
#include <tapml/model/names.h>

// Whether a layer is attention, as the config has it.
model_turns_fn hybrid_is_full;

// A mixer: attention in layers that the config calls full, the delta rule in the others.
tapml_graph_value hybrid_mix(struct model_context *context,
                             const struct model_block *block,
                             delta_parts_fn *delta_parts,
                             tapml_graph_value x);

// What the descriptions of both share: members of a struct model_decoder, of its `defaults` and of
// its `ignored`. Positions of text are the same in all sections of a rope for images.
#define HYBRID_DECODER .turns = hybrid_is_full, .norm_offset = 1
#define HYBRID_DEFAULTS                                                                            \
    .eps = 1e-6, .activation = "silu", .rope = {.theta = 10000, .positions = 32768, .share = 0.25}
#define HYBRID_IGNORED "/mtp_num_hidden_layers", "/mtp_use_dedicated_embeddings", "/mamba_ssm_dtype"

// Members of its `keys` and `tensors`.
#define HYBRID_KEYS                                                                                \
    .hidden = "/hidden_size", .layers = "/num_hidden_layers", .heads = "/num_attention_heads",     \
    .kv_heads = "/num_key_value_heads", .vocabulary = "/vocab_size",                               \
    .is_tied = "/tie_word_embeddings", .head_width = "/head_dim", .eps = "/rms_norm_eps",          \
    .activation = "/hidden_act", .attention_biases = "/attention_bias"
#define HYBRID_TENSORS                                                                             \
    MODEL_TENSORS_STREAM, MODEL_TENSORS_ATTENTION, MODEL_TENSORS_HEAD_NORMS,                       \
        .mlp_norm = "model.layers.{i}.post_attention_layernorm"
