// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/sizes.h>

#include <stdio.h>
#include <string.h>

static int has(const struct model_context *context, const char *pointer)
{
    return context->config_table->has(context->config, pointer);
}

int64_t model_config_count_of(struct model_context *context,
                              const char *keys,
                              int64_t fallback,
                              int64_t most)
{
    return keys != NULL
               ? model_config_count(context, model_config_key(context, keys).text, fallback, most)
               : fallback;
}

int model_config_boolean_of(struct model_context *context, const char *keys, int fallback)
{
    return keys != NULL ? context->config_table->boolean(
                              context->config, model_config_key(context, keys).text, fallback)
                        : fallback;
}

int model_config_lists(struct model_context *context, const char *list, int64_t number)
{
    const int64_t length = list != NULL ? context->config_table->length(context->config, list) : 0;

    if (length > MODEL_LAYERS_MAX) {
        model_fail(context, TAPML_INVALID, "'%s' has %lld numbers, at most %d are possible",
                   list + 1, (long long)length, MODEL_LAYERS_MAX);
        return 0;
    }
    for (int64_t i = 0; i < length; i++) {
        struct model_name pointer;

        snprintf(pointer.text, sizeof(pointer.text), "%.200s/%lld", list, (long long)i);
        if (context->config_table->i64(context->config, pointer.text, -1) == number) {
            return 1;
        }
    }
    return 0;
}

double model_config_number_of(struct model_context *context, const char *keys, double fallback)
{
    if (keys == NULL) {
        return fallback;
    }
    const struct model_name key = model_config_key(context, keys);

    if (has(context, key.text)) {
        return model_config_number(context, key.text, 0);
    }
    return context->config_table->is_null(context->config, key.text) ? 0 : fallback;
}

double model_config_factor(struct model_context *context, const char *keys, double fallback)
{
    const double factor = model_config_number_of(context, keys, fallback);

    return factor > 0 ? factor : fallback;
}

// A head's width where no key says it; 1 stands in for what has failed already.
static int64_t even_share(struct model_context *context, const struct model_sizes *sizes)
{
    if (sizes->heads < 1 || sizes->hidden % sizes->heads != 0) {
        model_fail(context, TAPML_INVALID,
                   "'%s': %lld hidden values do not divide among %lld heads",
                   model_config_key(context, sizes->decoder->keys.heads).text + 1,
                   (long long)sizes->hidden, (long long)sizes->heads);
        return 1;
    }
    return sizes->hidden / sizes->heads;
}

static int64_t read_head_width(struct model_context *context, const struct model_sizes *sizes)
{
    const char *keys = sizes->decoder->keys.head_width;
    const int64_t fallback = sizes->decoder->defaults.sizes.head_width;
    const struct model_name key = model_config_key(context, keys);

    if (keys != NULL && has(context, key.text)) {
        return model_config_count(context, key.text, 0, 2 * MODEL_ROPE_PAIRS_MAX);
    }
    return fallback > 0 && !context->config_table->is_null(context->config, key.text)
               ? fallback
               : even_share(context, sizes);
}

static void read_latent(struct model_context *context, struct model_sizes *sizes)
{
    const struct model_decoder_latent *latent = sizes->decoder->latent;
    const int64_t most = 2 * MODEL_ROPE_PAIRS_MAX;

    sizes->latent =
        model_config_count_of(context, latent->rank, latent->rank_fallback, MODEL_WIDTH_MAX);
    if (!context->config_table->is_null(context->config, latent->query_rank)) {
        sizes->query_latent = model_config_count_of(context, latent->query_rank,
                                                    latent->query_rank_fallback, MODEL_WIDTH_MAX);
    }
    sizes->turned_width =
        model_config_count_of(context, latent->turned_width, latent->turned_fallback, most);
    sizes->value_width =
        model_config_count_of(context, latent->value_width, latent->value_fallback, most);
    sizes->head_width = sizes->turned_width + model_config_count_of(context, latent->plain_width,
                                                                    latent->plain_fallback, most);
    if (context->status == TAPML_OK && sizes->kv_heads != sizes->heads) {
        model_fail(context, TAPML_UNIMPLEMENTED,
                   "'%s' is %lld, expected %lld: heads of latent attention share no keys",
                   sizes->decoder->keys.kv_heads + 1, (long long)sizes->kv_heads,
                   (long long)sizes->heads);
    }
}

static int64_t read_mlp_width(struct model_context *context, const struct model_sizes *sizes)
{
    const struct model_decoder_defaults *defaults = &sizes->decoder->defaults;
    const int64_t fallback =
        defaults->mlp_factor > 0 ? defaults->mlp_factor * sizes->hidden : defaults->sizes.mlp_width;

    return model_config_count_of(context, sizes->decoder->keys.mlp_width, fallback,
                                 MODEL_WIDTH_MAX);
}

// Null is as many as heads of queries; so is the class's own number where it does not fit.
static int64_t read_kv_heads(struct model_context *context, const struct model_sizes *sizes)
{
    const struct model_decoder_keys *keys = &sizes->decoder->keys;
    const int64_t fallback = sizes->decoder->defaults.sizes.kv_heads;
    const int is_own = fallback > 0 && sizes->heads % fallback == 0 &&
                       !context->config_table->is_null(
                           context->config, model_config_key(context, keys->kv_heads).text);

    return model_config_count_of(context, keys->kv_heads, is_own ? fallback : sizes->heads,
                                 MODEL_HEADS_MAX);
}

static void read_counts(struct model_context *context, struct model_sizes *sizes)
{
    const struct model_decoder_keys *keys = &sizes->decoder->keys;
    const struct model_decoder_defaults *defaults = &sizes->decoder->defaults;

    sizes->hidden =
        model_config_count_of(context, keys->hidden, defaults->sizes.hidden, MODEL_WIDTH_MAX);
    sizes->layers =
        model_config_count_of(context, keys->layers, defaults->sizes.layers, MODEL_LAYERS_MAX);
    sizes->heads =
        model_config_count_of(context, keys->heads, defaults->sizes.heads, MODEL_HEADS_MAX);
    sizes->kv_heads = read_kv_heads(context, sizes);
}

static void read_widths(struct model_context *context, struct model_sizes *sizes)
{
    const struct model_decoder_keys *keys = &sizes->decoder->keys;

    read_counts(context, sizes);
    if (sizes->decoder->latent != NULL) {
        read_latent(context, sizes);
    } else {
        sizes->head_width = read_head_width(context, sizes);
        sizes->value_width = sizes->turned_width = sizes->head_width;
    }
    sizes->embed_width =
        model_config_count_of(context, keys->embed_width, sizes->hidden, MODEL_WIDTH_MAX);
    sizes->mlp_width = read_mlp_width(context, sizes);
    sizes->vocabulary = model_config_count_of(
        context, keys->vocabulary, sizes->decoder->defaults.sizes.vocabulary, MODEL_WIDTH_MAX);
    sizes->positions = model_config_count_of(
        context, keys->positions, sizes->decoder->defaults.sizes.positions, MODEL_WIDTH_MAX);
    if (context->status == TAPML_OK &&
        (sizes->kv_heads < 1 || sizes->heads % sizes->kv_heads != 0)) {
        model_fail(context, TAPML_INVALID,
                   "'%s': %lld heads do not share %lld key and value heads evenly",
                   model_config_key(context, sizes->decoder->keys.kv_heads).text + 1,
                   (long long)sizes->heads, (long long)sizes->kv_heads);
    }
}

// Null and 0 are no window.
static int64_t read_window(struct model_context *context,
                           const struct model_decoder_windows *windows)
{
    const struct model_name key = model_config_key(context, windows->window);

    if (!has(context, key.text)) {
        return context->config_table->is_null(context->config, key.text) ? 0
                                                                         : windows->window_fallback;
    }
    return context->config_table->i64(context->config, key.text, 1) == 0
               ? 0
               : model_config_count(context, key.text, 0, 1 << 30);
}

static void read_windows(struct model_context *context, struct model_sizes *sizes)
{
    const struct model_decoder_windows *windows = &sizes->decoder->windows;
    const int is_used =
        windows->is_used == NULL || model_config_boolean_of(context, windows->is_used, 0);

    if (windows->window == NULL) {
        return;
    }
    sizes->window = read_window(context, windows);
    sizes->has_types = windows->types != NULL &&
                       context->config_table->length(context->config, windows->types) >= 0;
    sizes->period = windows->period;
    if (windows->periods != NULL && (sizes->has_types || sizes->window == 0)) {
        context->config_table->ignore(context->config,
                                      model_config_key(context, windows->periods).text);
    } else {
        sizes->period =
            model_config_count_of(context, windows->periods, windows->period, MODEL_LAYERS_MAX);
    }
    sizes->first = windows->first;
    if (windows->firsts != NULL && has(context, windows->firsts)) {
        sizes->first = context->config_table->i64(context->config, windows->firsts, 0);
    }
    if (!is_used && !sizes->has_types) {
        sizes->window = 0;
    }
}

static void read_ropes(struct model_context *context, struct model_sizes *sizes)
{
    const struct model_decoder_defaults *defaults = &sizes->decoder->defaults;

    if (sizes->ropes_used != MODEL_ROPES_NONE) {
        model_rope_read(context, &defaults->rope, sizes->turned_width,
                        &sizes->ropes[MODEL_ROPE_FULL]);
    }
    if (sizes->ropes_used == MODEL_ROPES_BY_LAYER) {
        model_rope_read(context, &defaults->local_rope, sizes->head_width,
                        &sizes->ropes[MODEL_ROPE_LOCAL]);
    }
}

// By the config, or by the class.
static int read_output_bias(struct model_context *context, const struct model_sizes *sizes)
{
    const struct model_decoder *decoder = sizes->decoder;
    const enum model_output_bias bias = decoder->defaults.output_bias;
    const int fallback = bias == MODEL_OUTPUT_BIAS_AS_OTHERS ? sizes->has_attention_biases
                                                             : bias == MODEL_OUTPUT_BIAS_ALWAYS;

    return model_config_boolean_of(context, decoder->keys.output_biases, fallback);
}

static void read_tensors(struct model_context *context, struct model_sizes *sizes)
{
    const struct model_decoder_keys *keys = &sizes->decoder->keys;
    const struct model_decoder_defaults *defaults = &sizes->decoder->defaults;

    sizes->is_tied = model_config_boolean_of(context, keys->is_tied, defaults->is_tied);
    sizes->has_attention_biases =
        model_config_boolean_of(context, keys->attention_biases, defaults->has_attention_biases);
    sizes->has_output_bias = read_output_bias(context, sizes);
    sizes->has_mlp_biases =
        model_config_boolean_of(context, keys->mlp_biases, defaults->has_mlp_biases);
    sizes->has_head_bias =
        model_config_boolean_of(context, keys->head_biases, defaults->has_head_bias);
    sizes->has_bare_norms =
        !model_config_boolean_of(context, keys->norm_weights, !defaults->has_bare_norms);
}

static double read_eps(struct model_context *context, const struct model_decoder *decoder)
{
    const struct model_name key = model_config_key(context, decoder->keys.eps);

    return decoder->keys.eps != NULL ? model_config_eps(context, key.text, decoder->defaults.eps)
                                     : decoder->defaults.eps;
}

static void read_known(struct model_context *context, const struct model_decoder *decoder)
{
    for (size_t i = 0; i < MODEL_DECODER_KEYS_MAX && decoder->ignored[i] != NULL; i++) {
        context->config_table->ignore(context->config, decoder->ignored[i]);
    }
    for (size_t i = 0; i < MODEL_DECODER_KEYS_MAX && decoder->expected[i].key != NULL; i++) {
        context->config_table->expect(context->config, decoder->expected[i].key,
                                      decoder->expected[i].json);
    }
    // False where a decoder was made an encoder, whose tokens see those behind them.
    context->config_table->expect(context->config, "/is_causal", "true");
}

void model_sizes_read(struct model_context *context,
                      const struct model_decoder *decoder,
                      struct model_sizes *out_sizes)
{
    const struct model_decoder_keys *keys = &decoder->keys;
    const struct model_decoder_defaults *defaults = &decoder->defaults;
    struct model_sizes *sizes = out_sizes;

    *sizes = (struct model_sizes){.decoder = decoder, .ropes_used = decoder->ropes};
    read_widths(context, sizes);
    read_tensors(context, sizes);
    sizes->eps = read_eps(context, decoder);
    sizes->activation = defaults->activation;
    if (keys->activation != NULL) {
        sizes->activation = model_config_activation(
            context, model_config_key(context, keys->activation).text, defaults->activation);
    }
    sizes->is_parallel = model_config_boolean_of(context, keys->is_parallel, defaults->is_parallel);
    sizes->is_rope_interleaved =
        model_config_boolean_of(context, keys->is_rope_interleaved, decoder->is_rope_interleaved);
    sizes->adds_normed = model_config_boolean_of(context, keys->adds_normed, 0);
    read_windows(context, sizes);
    if (decoder->resize != NULL && context->status == TAPML_OK) {
        decoder->resize(context, sizes);
    }
    read_ropes(context, sizes);
    read_known(context, decoder);
}

// Whether the config's list of layers calls this one sliding.
static int type_slides(struct model_context *context, const char *types, int64_t index)
{
    static const char *const kinds[] = {"sliding_attention", "full_attention", NULL};
    struct model_name pointer;

    snprintf(pointer.text, sizeof(pointer.text), "%.200s/%lld", types, (long long)index);
    return strcmp(model_config_choice(context, pointer.text, "", kinds), kinds[0]) == 0;
}

static int slides(struct model_context *context, const struct model_sizes *sizes, int64_t index)
{
    if (sizes->decoder->windows.window == NULL) {
        return 0;
    }
    if (sizes->has_types) {
        return type_slides(context, sizes->decoder->windows.types, index);
    }
    return index >= sizes->first && (sizes->period == 0 || (index + 1) % sizes->period != 0);
}

struct model_sizes_layer
model_sizes_layer(struct model_context *context, const struct model_sizes *sizes, int64_t index)
{
    const int is_sliding = slides(context, sizes, index);
    struct model_sizes_layer layer = {
        .is_sliding = is_sliding,
        .window = is_sliding ? sizes->window : 0,
        .rope = MODEL_ROPE_FULL,
    };

    switch (sizes->ropes_used) {
    case MODEL_ROPES_ALL:
        break;
    case MODEL_ROPES_SLIDING:
        layer.rope = layer.window > 0 ? MODEL_ROPE_FULL : MODEL_ROPE_NONE;
        break;
    case MODEL_ROPES_BY_LAYER:
        layer.rope = is_sliding ? MODEL_ROPE_LOCAL : MODEL_ROPE_FULL;
        break;
    case MODEL_ROPES_NONE:
        layer.rope = MODEL_ROPE_NONE;
        break;
    }
    if (context->status == TAPML_OK && sizes->decoder->turns != NULL &&
        !sizes->decoder->turns(context, index)) {
        layer.rope = MODEL_ROPE_NONE;
    }
    return layer;
}
