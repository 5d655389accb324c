// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mamba (arXiv 2312.00752): h = h + mixer(norm(h)), and nothing else. A channel of the mixer
// carries a row of numbers from token to token, each of which decays by exp(dt A) and takes up dt u
// B; what dt, B and C are, the token selects.
#pragma once

#include "stack.h"

// The layers of a stack. With `normalises_parts` dt, B and C are normalised before use, without
// weights.
tapml_graph_value selective_layers(struct model_context *context,
                                   const struct stack *stack,
                                   int normalises_parts,
                                   tapml_graph_value h);

// Mamba and Falcon Mamba as they are published: members of a struct stack_description.
#define SELECTIVE_DESCRIPTION                                                                      \
    .embed = "backbone.embeddings", .older_embed = "backbone.embedding",                           \
    .norm = "backbone.norm_f", .head = "lm_head", .eps = "/layer_norm_epsilon",                    \
    .eps_fallback = 1e-5, .is_tied = 1,                                                            \
    .sizes = {.hidden = 768, .layers = 32, .vocabulary = 50280}
