// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// OLMo 2 (arXiv 2501.00656): norms behind both halves of a layer and none before them; all heads of
// the queries are normalised as one row, and so are those of the keys.
#include "olmo.h"

const struct model_decoder describe_olmo2 = {
    .model_type = "olmo2",
    .class_name = "Olmo2ForCausalLM",
    .head_steps = {model_heads_norm_rows, model_heads_turn},
    .keys = {MODEL_KEYS_USUAL},
    .defaults = {OLMO_DEFAULTS, .rope = {.theta = 10000, .positions = 2048}},
    .tensors = {OLMO_TENSORS},
};
