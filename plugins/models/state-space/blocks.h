// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// RWKV 4 to 6 in the layout of their first repositories: "rwkv.blocks.{i}.attention" and
// ".feed_forward".
#pragma once

#include "rwkv_shared.h"

struct blocks {
    const struct stack *stack;
    const struct blocks_version *version;
    struct rwkv_heads heads; // Of versions that have them,
    double head_eps;         // and of the norm of each.
    int64_t attention;       // Width of what is kept from token to token.
    int64_t rank;            // Of version 6: of the matrices that select mixes.
    tapml_graph_value back;
};

// What a version brings.
struct blocks_version {
    const char *number;      // What "model_version" says. NULL: there is no such key.
    double divisor;          // "head_size_divisor" where it is absent. 0: there are no heads.
    double ratio;            // Of the width of the second half, where no key and no tensor says.
    int is_rounded;          // Down to a multiple of 32.
    int is_hidden_behind;    // Hidden states are those behind layers, not before them.
    const char *mixed_keys;  // Tensors that mix what the second half takes,
    const char *mixed_gates; // as keys and as gates.

    // x mixed with the token before by a tensor [1, 1, hidden].
    tapml_graph_value (*mix)(struct model_context *context,
                             const struct blocks *blocks,
                             const char *tensor,
                             const struct rwkv_shifted *shifted);

    // The first half, without its residual.
    tapml_graph_value (*attend)(struct model_context *context,
                                const struct blocks *blocks,
                                const struct rwkv_shifted *shifted);
};

// The layers of a stack.
tapml_graph_value blocks_layers(struct model_context *context,
                                const struct stack *stack,
                                const struct blocks_version *version,
                                tapml_graph_value h);

// The tensor [1, 1, hidden] "rwkv.blocks.{i}.<part>" for every token.
tapml_graph_value
blocks_vector(struct model_context *context, const struct blocks *blocks, const char *part);

// The product with "rwkv.blocks.{i}.<part>", whose name is its last word.
tapml_graph_value blocks_project(
    struct model_context *context, const char *part, tapml_graph_value x, int64_t in, int64_t out);

// The mix of versions 4 and 5: x m + x' (1 - m).
tapml_graph_value blocks_mix_between(struct model_context *context,
                                     const struct blocks *blocks,
                                     const char *tensor,
                                     const struct rwkv_shifted *shifted);

// What the first half of versions 5 and 6 takes: x as receptance, key, value and gate, and the
// decays [T, heads, width].
struct blocks_parts {
    tapml_graph_value r, k, v, g, w;
};

tapml_graph_value blocks_attend_heads(struct model_context *context,
                                      const struct blocks *blocks,
                                      const struct blocks_parts *parts);

// Defines the architecture of a type, whose layers are the function `layers_`; behind it the
// class's hidden width, layers and vocabulary.
#define BLOCKS_ARCHITECTURE(type_, class_, layers_, ...)                                           \
    static const struct stack_description description = {                                          \
        .embed = "rwkv.embeddings",                                                                \
        .norm = "rwkv.ln_out",                                                                     \
        .head = "head",                                                                            \
        .eps = "/layer_norm_epsilon",                                                              \
        .eps_fallback = 1e-5,                                                                      \
        .final_eps = 1e-5,                                                                         \
        .sizes = {__VA_ARGS__},                                                                    \
        .norm_form = {.kind = MODEL_NORM_LAYER, .has_bias = 1},                                    \
        .layers = (layers_),                                                                       \
    };                                                                                             \
    const struct model_architecture describe_##type_ = {                                           \
        .model_type = #type_,                                                                      \
        .class_name = (class_),                                                                    \
        .description = &description,                                                               \
        .build = stack_build,                                                                      \
        .fill = stack_fill,                                                                        \
    };
