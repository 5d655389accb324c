// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the versions of RWKV share: each token is mixed with the one before, and what the heads of a
// recurrence give is normalised head by head.
#pragma once

#include "stack.h"

// A normed input, and the token before less this one: [T, hidden].
struct rwkv_shifted {
    tapml_graph_value x, d;
};

// The kernel of the convolution that makes d, for rwkv_shift.
tapml_graph_value rwkv_back(struct model_context *context, int64_t width);

// Of the residual stream h behind the norm `norm`. `state` keeps the last token of the call before.
struct rwkv_shifted rwkv_shift(struct model_context *context,
                               const struct stack *stack,
                               tapml_graph_value back,
                               const char *state,
                               const char *norm,
                               tapml_graph_value h);

// A tensor with this full name and shape, for every token: [T, all its values]. `name` is that of
// the op which widens it, if one is needed.
tapml_graph_value rwkv_vector(struct model_context *context,
                              const char *name,
                              const char *tensor,
                              const int64_t *shape,
                              uint32_t rank);

// Heads, and values of each.
struct rwkv_heads {
    int64_t count, width;
};

// The layer norm of each head of y [T, heads, width] by itself, with weights of all: [T, hidden].
tapml_graph_value rwkv_norm_heads(struct model_context *context,
                                  const struct rwkv_heads *heads,
                                  const char *name,
                                  const char *tensor,
                                  double eps,
                                  tapml_graph_value y);

// (sum of r k u) v of each head, of rows [T, hidden] and the tensor `factors` [heads, width].
tapml_graph_value rwkv_bonus(struct model_context *context,
                             const struct rwkv_heads *heads,
                             const char *factors,
                             const tapml_graph_value r_k_v[3]);
