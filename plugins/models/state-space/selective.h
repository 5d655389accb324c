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
