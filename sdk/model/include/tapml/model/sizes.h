// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a config says of a decoder, with the defaults of its class filled in.
#ifndef TAPML_MODEL_SIZES_H
#define TAPML_MODEL_SIZES_H

#include <tapml/model/decoder.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MODEL_LAYERS_MAX = 1 << 12,
    MODEL_HEADS_MAX = 1 << 14,
    MODEL_WIDTH_MAX = 1 << 24,
    MODEL_EXPERTS_MAX = 1 << 10
};

// Of the tables of cosines and sines.
enum model_layer_rope {
    MODEL_ROPE_FULL,
    MODEL_ROPE_LOCAL,
    MODEL_ROPE_COUNT,
    MODEL_ROPE_NONE = MODEL_ROPE_COUNT
};

struct model_sizes {
    const struct model_decoder *decoder;
    int64_t hidden, layers, heads, kv_heads, mlp_width, vocabulary, positions;
    int64_t embed_width;                           // Of the embedding and the head.
    int64_t head_width, value_width, turned_width; // Of a head: as a key, as a value, with rope.
    double eps;
    const char *activation;
    int is_tied, is_parallel, adds_normed;
    int has_attention_biases, has_output_bias, has_mlp_biases, has_head_bias, has_bare_norms;
    int is_rope_interleaved;
    int64_t window;
    int64_t period, first; // Where the config has no list of layers.
    int has_types;
    int64_t latent, query_latent;              // 0: none.
    enum model_ropes ropes_used;               // As the decoder has them.
    struct model_rope ropes[MODEL_ROPE_COUNT]; // Those that the decoder has; pairs is 0 in others.
};

// Reads all that every layer shares. A failure is the context's.
void model_sizes_read(struct model_context *context,
                      const struct model_decoder *decoder,
                      struct model_sizes *out_sizes);

// What is different in a layer.
struct model_sizes_layer {
    int is_sliding;
    int64_t window; // 0: all tokens.
    enum model_layer_rope rope;
};

// Of the layer `index`.
struct model_sizes_layer
model_sizes_layer(struct model_context *context, const struct model_sizes *sizes, int64_t index);

// Keys may name several, with "|" between them; NULL and absent ones give `fallback`. A whole
// number from 1 to `most`,
int64_t model_config_count_of(struct model_context *context,
                              const char *keys,
                              int64_t fallback,
                              int64_t most);
// whether something is so,
int model_config_boolean_of(struct model_context *context, const char *keys, int fallback);
// and a number above 0, or 0 where the config has null: that switches off what the class has.
double model_config_number_of(struct model_context *context, const char *keys, double fallback);
// Likewise, where null is as absent.
double model_config_factor(struct model_context *context, const char *keys, double fallback);

// Whether a list of layers in the config, which may be absent or NULL, has a number.
int model_config_lists(struct model_context *context, const char *list, int64_t number);

#ifdef __cplusplus
}
#endif

#endif
