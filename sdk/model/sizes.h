// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a config says of a decoder, with the defaults of its class filled in.
#pragma once

#include <tapml/model/decoder.h>

enum {
    SIZES_LAYERS_MAX = 1 << 12,
    SIZES_HEADS_MAX = 1 << 14,
    SIZES_WIDTH_MAX = 1 << 24,
    SIZES_EXPERTS_MAX = 1 << 10
};

// Of the tables of cosines and sines.
enum sizes_rope {
    SIZES_ROPE,
    SIZES_LOCAL_ROPE,
    SIZES_ROPE_COUNT,
    SIZES_ROPE_NONE = SIZES_ROPE_COUNT
};

struct sizes {
    const struct model_decoder *decoder;
    int64_t hidden, layers, heads, kv_heads, mlp_width, vocabulary, positions;
    int64_t head_width, value_width, turned_width; // Of a head: as a key, as a value, with rope.
    double eps;
    const char *activation;
    int is_tied, has_attention_biases, has_mlp_biases, is_parallel, adds_normed;
    int is_rope_interleaved;
    double scale; // Of scores.
    int is_scaled_by_layer;
    double attention_softcap, logit_softcap, logit_scale;
    int64_t window;
    int64_t period, first; // Where the config has no list of layers.
    int has_types;
    int64_t experts, chosen_experts, expert_width; // `experts` is 0 without any.
    int64_t expert_period, expert_first, shared_experts, expert_groups, kept_groups;
    double expert_factor;
    enum model_routing routing;
    int64_t latent, query_latent;              // 0: none.
    struct model_rope ropes[SIZES_ROPE_COUNT]; // Those that the decoder has; pairs is 0 in others.
};

// Of one layer.
struct sizes_layer {
    int64_t window; // 0: all tokens.
    double scale;
    enum sizes_rope rope;
    int has_experts;
};

void sizes_read(struct model_context *context,
                const struct model_decoder *decoder,
                struct sizes *out_sizes);

// What is different in layer `index`.
struct sizes_layer
sizes_layer(struct model_context *context, const struct sizes *sizes, int64_t index);
