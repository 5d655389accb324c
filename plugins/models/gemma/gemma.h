// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What Gemma 2 and 3 share; in gemma.c.
#pragma once

#include <tapml/model/block.h>

// Scores are divided by the root of a width that the config names, not of a head's.
void gemma_scale(struct model_context *context,
                 const struct model_block *block,
                 struct model_attention *attention);

// Logits softly limited. `fallback` where the config does not say how far; 0: not at all.
tapml_graph_value
gemma_limit(struct model_context *context, tapml_graph_value logits, double fallback);
