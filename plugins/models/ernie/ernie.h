// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the dense models of ERNIE 4.5 and those with experts share.
#pragma once

#include <tapml/model/block.h>
#include <tapml/model/names.h>

// Members of a struct model_decoder's `keys`, and of its `defaults`.
#define ERNIE_KEYS                                                                                 \
    MODEL_KEYS_SIZES, .head_width = "/head_dim", .eps = "/rms_norm_eps",                           \
                      .activation = "/hidden_act", .attention_biases = "/use_bias",                \
                      .mlp_biases = "/use_bias"

#define ERNIE_DEFAULTS                                                                             \
    .eps = 1e-5, .activation = "silu", .is_tied = 1, .rope = {.theta = 500000, .positions = 131072}
