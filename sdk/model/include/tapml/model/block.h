// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The functions that a struct model_decoder is composed of.
//
// Each builds its part of the graph of the context's layer from the description, the sizes and the
// config, and keeps to the rules of <tapml/model/layer.h>: after a failure it does nothing.
#ifndef TAPML_MODEL_BLOCK_H
#define TAPML_MODEL_BLOCK_H

#include <tapml/model/sizes.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the functions of a layer take. A table that the decoder lacks is 0.
struct model_block {
    const struct model_decoder *decoder;
    const struct model_sizes *sizes;
    struct {
        tapml_graph_value cosines, sines;
    } ropes[MODEL_ROPE_COUNT];
    tapml_graph_value slopes;
    tapml_graph_value *factors;    // 0 until a layer uses them.
    struct model_experts *experts; // What the config says; its `count` is 0 until a layer asks.
    struct model_sizes_layer layer;
};

// Queries, keys and values: [T, heads, width].
struct model_heads {
    tapml_graph_value q, k, v;
};

// -- The layer -----------------------------------------------------------------------------------

// h + mixer(norm(h)), then h + mlp(norm(h)), each half with a norm behind it where one is named.
// With `is_parallel` both start from h, and the MLP takes what the mixer took unless it has a norm
// of its own.
model_value_fn model_layer_residual;

// The norm `tensor` of the residual stream, or x where there is none.
tapml_graph_value model_block_norm(struct model_context *context,
                                   const struct model_block *block,
                                   const char *name,
                                   const char *tensor,
                                   tapml_graph_value x);

// -- Attention -----------------------------------------------------------------------------------

// Softmax attention over all that the layer has seen, and the product with `o`: [T, hidden].
model_value_fn model_mixer_attention;

// The layouts of queries, keys and values: tensors of their own; one tensor with all heads of
// queries, of keys, of values; one tensor in which each head has its query, key and value; one in
// which each head of keys has the queries that share it, the key and the value.
model_heads_fn model_layout_separate;
model_heads_fn model_layout_blocks;
model_heads_fn model_layout_whole;
model_heads_fn model_layout_groups;

// Latent attention (arXiv 2405.04434): heads as the softmax sees them, and the factor of yarn on
// its scores.
model_heads_fn model_heads_latent;
model_attention_fn model_attention_latent;

// Queries and keys normalised head by head, where norms are named for them; all heads as one row;
// turned by the rope of the layer, where it has one; with values clamped to the number at
// "/clip_qkv", where there is one.
model_heads_step_fn model_heads_norm;
model_heads_step_fn model_heads_norm_rows;
model_heads_step_fn model_heads_turn;
model_heads_step_fn model_heads_clip;

// The last of them with a limit of its own; 0 is none.
void model_heads_clip_to(struct model_context *context, struct model_heads *heads, double limit);

// x [T, heads, width] normalised head by head, multiplied by the weights [heads * width] of all.
tapml_graph_value model_block_norm_each(struct model_context *context,
                                        const struct model_block *block,
                                        const char *name,
                                        tapml_graph_value x,
                                        int64_t heads,
                                        tapml_graph_value weights);

// Queries multiplied by the factors of their positions, an input [T] from its first use on.
model_heads_step_fn model_heads_factor;
tapml_graph_value model_block_factors(struct model_context *context,
                                      const struct model_block *block);

// x [T, heads, width] turned by the rope of the layer, where it has one.
tapml_graph_value model_block_turn(struct model_context *context,
                                   const struct model_block *block,
                                   const char *name,
                                   tapml_graph_value x);

// The slopes of ALiBi (arXiv 2108.12409) as Bloom has them: for a power of two p of heads
// 2^(-8i / p), i from 1 on; beyond it every second slope of 2p heads.
model_slopes_fn model_slopes_alibi;

// -- The MLP -------------------------------------------------------------------------------------

// down(act(gate x) * up x); the same with one tensor `gate` that has the rows of gate, then those
// of up; down(act(up x)).
model_value_fn model_mlp_gated;
model_value_fn model_mlp_fused;
model_value_fn model_mlp_plain;

// The last of them with an activation that no config names.
tapml_graph_value model_mlp_plain_with(struct model_context *context,
                                       const struct model_block *block,
                                       model_value_fn *activation,
                                       tapml_graph_value x);

// An MLP of tensors without their endings.
struct model_mlp {
    const char *gate, *up, *down;
    int64_t width;
};

// The first of them, for other tensors than the description's.
tapml_graph_value model_mlp_gated_of(struct model_context *context,
                                     const struct model_block *block,
                                     const struct model_mlp *mlp,
                                     tapml_graph_value x);

// -- Experts -------------------------------------------------------------------------------------

// What a config says of a mixture, and the choice for each token.
struct model_experts {
    int64_t count, chosen, width;
    int64_t period, first, shared, groups, kept_groups;
    double factor;
    enum model_routing routing;
    struct model_route route;
};

// One tensor for each expert and each of gate, up and down: "{e}" in the names.
model_experts_fn model_experts_separate;

// The product of x [T, 1 or chosen, in] with one tensor for all experts, to whose name nothing is
// added: [E, out, in], or [E, in, out]; and with `has_bias` "<tensor>_bias" [E, out].
tapml_graph_value model_experts_stacked(struct model_context *context,
                                        const struct model_experts *experts,
                                        const char *name,
                                        const struct model_linear *linear,
                                        tapml_graph_value x);

// down(act(gate x) * up x) of all experts by model_experts_stacked; the tensor `gate` has the rows
// of gate, then those of up.
tapml_graph_value model_experts_fused(struct model_context *context,
                                      const struct model_block *block,
                                      const struct model_experts *experts,
                                      int is_transposed,
                                      tapml_graph_value x);

// Whether the context's layer has experts by `period`, `first` and `dense`.
model_experts_layer_fn model_experts_layer;

// The choice by `routing`, and by `factor`.
model_experts_choice_fn model_experts_choice;

// Whether the context's layer has experts, and what they make of x [T, hidden].
model_experts_layer_fn model_experts_are_in;
model_value_fn model_mlp_experts;

// -- The ends ------------------------------------------------------------------------------------

// The embedding multiplied by the root of the hidden width; with a learned row for each position
// added; normalised.
// The second with a table that has `first` rows before that of position 0.
model_value_fn model_embed_root;
model_value_fn model_embed_positions;
model_value_fn model_embed_norm;
tapml_graph_value model_embed_positions_from(struct model_context *context,
                                             const struct model_block *block,
                                             tapml_graph_value x,
                                             int64_t first);

#ifdef __cplusplus
}
#endif

#endif
