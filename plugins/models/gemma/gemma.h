// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What Gemma 2 and 3 share; in gemma.c.
#pragma once

#include <tapml/model/block.h>
#include <tapml/model/names.h>

// Scores are divided by the root of a width that the config names, not of a head's.
void gemma_scale(struct model_context *context,
                 const struct model_block *block,
                 struct model_attention *attention);

// Logits softly limited. `fallback` where the config does not say how far; 0: not at all.
tapml_graph_value
gemma_limit(struct model_context *context, tapml_graph_value logits, double fallback);

// Members of a struct model_decoder's `keys`, and of its `tensors`: norms before and behind both
// halves of a layer.
#define GEMMA_KEYS                                                                                 \
    MODEL_KEYS_SIZES, .head_width = "/head_dim", .eps = "/rms_norm_eps",                           \
                      .activation = "/hidden_activation", .attention_biases = "/attention_bias"

#define GEMMA_TENSORS                                                                              \
    MODEL_TENSORS_STREAM, MODEL_TENSORS_ATTENTION, MODEL_TENSORS_MLP,                              \
        .attention_norm_after = "model.layers.{i}.post_attention_layernorm",                       \
        .mlp_norm = "model.layers.{i}.pre_feedforward_layernorm",                                  \
        .mlp_norm_after = "model.layers.{i}.post_feedforward_layernorm"
