// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What OLMo's models share: members of a struct model_decoder's `defaults` and `tensors`.
#pragma once

#include <tapml/model/block.h>
#include <tapml/model/names.h>

// But for the rope.
#define OLMO_DEFAULTS                                                                              \
    .sizes = {.hidden = 4096, .layers = 32, .heads = 32, .mlp_width = 11008, .vocabulary = 50304}, \
    .eps = 1e-5, .activation = "silu"

// Norms behind both halves of a layer, none before them: OLMo 2 and 3.
#define OLMO_TENSORS                                                                               \
    MODEL_TENSORS_STREAM_BARE, MODEL_TENSORS_ATTENTION, MODEL_TENSORS_HEAD_NORMS,                  \
        MODEL_TENSORS_MLP, .attention_norm_after = "model.layers.{i}.post_attention_layernorm",    \
                           .mlp_norm_after = "model.layers.{i}.post_feedforward_layernorm"
