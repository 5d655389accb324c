// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The two halves of a decoder's layer.
#pragma once

#include "sizes.h"

// What every layer takes. A table that the decoder lacks is 0.
struct block {
    const struct sizes *sizes;
    struct {
        tapml_graph_value cosines, sines;
    } ropes[SIZES_ROPE_COUNT];
    tapml_graph_value slopes;
};

// The residual stream within a layer.
struct block_stream {
    tapml_graph_value h;      // Behind the layer before; behind attention, once that is added.
    tapml_graph_value before; // What attention starts from: h behind the layer before,
    tapml_graph_value normed; // and its norm.
};

// Queries, keys and values: [T, heads, width].
struct block_heads {
    tapml_graph_value q, k, v;
};

// An MLP: tensors without their endings, as a description names them.
struct block_dense {
    const char *gate, *up, *down;
    int64_t width;
};

// Attention of the context's layer, from `stream->h` to `stream->h`.
void block_attention(struct model_context *context,
                     const struct block *block,
                     struct block_stream *stream);

// Its MLP.
void block_mlp(struct model_context *context,
               const struct block *block,
               struct block_stream *stream);

// Queries and keys turned by the rope of the layer, where it has one.
tapml_graph_value block_turn(struct model_context *context,
                             const struct block *block,
                             const char *name,
                             tapml_graph_value x);

// Latent queries, keys and values of x [T, hidden], turned (latent.c).
struct block_heads
block_latent(struct model_context *context, const struct block *block, tapml_graph_value x);

// What an MLP makes of x [T, hidden].
tapml_graph_value block_dense(struct model_context *context,
                              const struct sizes *sizes,
                              const struct block_dense *dense,
                              tapml_graph_value x);

// What the experts of the context's layer make of x [T, hidden] (experts.c).
tapml_graph_value
block_experts(struct model_context *context, const struct sizes *sizes, tapml_graph_value x);

// The norm `tensor` of the residual stream, or what goes in where there is none.
tapml_graph_value block_norm(struct model_context *context,
                             const struct sizes *sizes,
                             const char *name,
                             const char *tensor,
                             tapml_graph_value x);
