// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The MLP of Qwen's mixtures: experts of a softmax, and one that all tokens share, behind a gate.
#pragma once

#include "stack.h"

enum { MIXTURE_EXPERTS_MAX = 1 << 10 };

struct mixture {
    int64_t hidden, experts, chosen, width; // `experts` is 0 where all layers are dense.
    int64_t shared;                         // The width of the shared expert; 0: there is none.
    int64_t dense;                          // Of layers without experts.
    int64_t period;                         // Layers whose number + 1 is a multiple have experts,
    const char *exceptions;                 // but for those that this key lists.
    enum model_routing routing;
};

// Reads the keys of Qwen's configs.
void mixture_read(struct model_context *context,
                  const struct stack *stack,
                  struct mixture *out_mixture);

// What the MLP of the context's layer makes of x [T, hidden].
tapml_graph_value
mixture_build(struct model_context *context, const struct mixture *mixture, tapml_graph_value x);
