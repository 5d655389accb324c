// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The gated delta rule (arXiv 2412.06464) as Qwen has it, under "model.layers.{i}.linear_attn".
#pragma once

#include <tapml/model/block.h>
#include <tapml/model/recurrence.h>

struct delta {
    int64_t hidden, k_heads, v_heads, k_width, v_width, taps;
    int64_t shared; // Heads of values for one of keys.
    double eps;
};

// What the rule takes of a token: heads, but for q, k and v, which may be rows.
struct delta_parts {
    tapml_graph_value q, k, v, gate, beta, decay;
};

typedef struct delta_parts
delta_parts_fn(struct model_context *context, const struct delta *delta, tapml_graph_value x);

// From tensors whose rows go by heads of keys; from one tensor of all q, k and v, and one each of
// the gates, the betas and the decays.
delta_parts_fn delta_parts_by_head;
delta_parts_fn delta_parts_separate;

// Reads the keys of Qwen's configs.
void delta_read(struct model_context *context,
                const struct model_block *block,
                struct delta *out_delta);

// What the rule makes of x [T, hidden] in the context's layer.
tapml_graph_value delta_build(struct model_context *context,
                              const struct delta *delta,
                              delta_parts_fn *make_parts,
                              tapml_graph_value x);
