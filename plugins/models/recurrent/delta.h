// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The gated delta rule (arXiv 2412.06464) as Qwen has it, under "model.layers.{i}.linear_attn".
#pragma once

#include "stack.h"

struct delta {
    const struct stack *stack;
    int64_t k_heads, v_heads, k_width, v_width, taps;
    int64_t shared; // Heads of values for one of keys.
};

// Reads the keys of Qwen's configs.
void delta_read(struct model_context *context, const struct stack *stack, struct delta *out_delta);

// What the rule makes of x [T, hidden] in the context's layer.
tapml_graph_value
delta_build(struct model_context *context, const struct delta *delta, tapml_graph_value x);
