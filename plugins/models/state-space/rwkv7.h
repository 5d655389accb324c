// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "rwkv_shared.h"

struct rwkv7 {
    const struct stack *stack;
    int64_t heads, width, mlp; // Heads, values of each, values of the second half.
    int has_first_norm;        // Of what is embedded.
    tapml_graph_value back;    // The kernel of a convolution: the token before less this one.
    tapml_graph_value v_first; // Values of layer 0.
};

// Reads the keys of RWKV-7's configs. `own->stack` is there.
void rwkv7_read(struct model_context *context, struct rwkv7 *own);
