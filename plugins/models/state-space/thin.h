// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Products of two thin matrices, as the gates of RWKV are made.
#pragma once

#include "stack.h"

// Tensors are named behind "model.layers.{i}.". They know their rank; without tensors the key does.
struct thin {
    const char *name, *first, *second; // The scope, the tensors.
    const char *act;                   // Between them; NULL: nothing.
    const char *rank;
    int has_bias; // Of the second.
};

// second(act(first x)) of x [T, hidden].
tapml_graph_value thin_build(struct model_context *context,
                             int64_t hidden,
                             const struct thin *thin,
                             tapml_graph_value x);
