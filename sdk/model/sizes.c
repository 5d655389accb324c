// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int has(const struct model_context *context, const char *pointer)
{
    return context->config_table->has(context->config, pointer);
}

static int64_t
count_of(struct model_context *context, const char *keys, int64_t fallback, int64_t most)
{
    return keys != NULL
               ? model_config_count(context, model_config_key(context, keys).text, fallback, most)
               : fallback;
}

static int boolean_of(struct model_context *context, const char *keys, int fallback)
{
    return keys != NULL ? context->config_table->boolean(
                              context->config, model_config_key(context, keys).text, fallback)
                        : fallback;
}

// A number above 0, or 0 where the config has null: that switches off what the class has.
static double number_of(struct model_context *context, const char *keys, double fallback)
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

// A head's width where no key says it; 1 stands in for what has failed already.
static int64_t even_share(struct model_context *context, const struct sizes *sizes)
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

static int64_t read_head_width(struct model_context *context, const struct sizes *sizes)
{
    const char *keys = sizes->decoder->keys.head_width;
    const struct model_name key = model_config_key(context, keys);

    return keys != NULL && has(context, key.text)
               ? model_config_count(context, key.text, 0, 2 * MODEL_ROPE_PAIRS_MAX)
               : even_share(context, sizes);
}

static void read_latent(struct model_context *context, struct sizes *sizes)
{
    const struct model_decoder_latent *latent = &sizes->decoder->latent;
    const int64_t most = 2 * MODEL_ROPE_PAIRS_MAX;

    sizes->latent = count_of(context, latent->rank, latent->rank_fallback, SIZES_WIDTH_MAX);
    if (!context->config_table->is_null(context->config, latent->query_rank)) {
        sizes->query_latent =
            count_of(context, latent->query_rank, latent->query_rank_fallback, SIZES_WIDTH_MAX);
    }
    sizes->turned_width = count_of(context, latent->turned_width, latent->turned_fallback, most);
    sizes->value_width = count_of(context, latent->value_width, latent->value_fallback, most);
    sizes->head_width =
        sizes->turned_width + count_of(context, latent->plain_width, latent->plain_fallback, most);
    if (context->status == TAPML_OK && sizes->kv_heads != sizes->heads) {
        model_fail(context, TAPML_UNIMPLEMENTED,
                   "'%s' is %lld, expected %lld: heads of latent attention share no keys",
                   sizes->decoder->keys.kv_heads + 1, (long long)sizes->kv_heads,
                   (long long)sizes->heads);
    }
}

static void read_widths(struct model_context *context, struct sizes *sizes)
{
    const struct model_decoder_keys *keys = &sizes->decoder->keys;

    sizes->hidden = count_of(context, keys->hidden, 0, SIZES_WIDTH_MAX);
    sizes->layers = count_of(context, keys->layers, 0, SIZES_LAYERS_MAX);
    sizes->heads = count_of(context, keys->heads, 0, SIZES_HEADS_MAX);
    sizes->kv_heads = count_of(context, keys->kv_heads, sizes->heads, SIZES_HEADS_MAX);
    if (sizes->decoder->latent.rank != NULL) {
        read_latent(context, sizes);
    } else {
        sizes->head_width = read_head_width(context, sizes);
        sizes->value_width = sizes->turned_width = sizes->head_width;
    }
    sizes->mlp_width =
        count_of(context, keys->mlp_width, sizes->decoder->defaults.mlp_factor * sizes->hidden,
                 SIZES_WIDTH_MAX);
    sizes->vocabulary = count_of(context, keys->vocabulary, 0, SIZES_WIDTH_MAX);
    sizes->positions = count_of(context, keys->positions, 0, SIZES_WIDTH_MAX);
    if (context->status == TAPML_OK &&
        (sizes->kv_heads < 1 || sizes->heads % sizes->kv_heads != 0)) {
        model_fail(context, TAPML_INVALID,
                   "'%s': %lld heads do not share %lld key and value heads evenly",
                   model_config_key(context, keys->kv_heads).text + 1, (long long)sizes->heads,
                   (long long)sizes->kv_heads);
    }
}

static void read_attention(struct model_context *context, struct sizes *sizes)
{
    const struct model_decoder_keys *keys = &sizes->decoder->keys;
    const struct model_decoder_defaults *defaults = &sizes->decoder->defaults;
    const double width = number_of(context, keys->scale_width, defaults->scale_width);

    sizes->scale = 1 / sqrt(width > 0 ? width : (double)sizes->head_width);
    if (!boolean_of(context, keys->is_scaled, 1)) {
        sizes->scale = 1;
    }
    sizes->is_scaled_by_layer = boolean_of(context, keys->is_scaled_by_layer, 0);
    sizes->attention_softcap =
        number_of(context, keys->attention_softcap, defaults->attention_softcap);
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

static void read_windows(struct model_context *context, struct sizes *sizes)
{
    const struct model_decoder_windows *windows = &sizes->decoder->windows;
    const int is_used = windows->is_used == NULL || boolean_of(context, windows->is_used, 0);

    if (windows->window == NULL) {
        return;
    }
    sizes->window = read_window(context, windows);
    sizes->has_types = windows->types != NULL &&
                       context->config_table->length(context->config, windows->types) >= 0;
    sizes->period = count_of(context, windows->periods, windows->period, SIZES_LAYERS_MAX);
    sizes->first = windows->first;
    if (windows->firsts != NULL && has(context, windows->firsts)) {
        sizes->first = context->config_table->i64(context->config, windows->firsts, 0);
    }
    if (!is_used && !sizes->has_types) {
        sizes->window = 0;
    }
}

static void read_groups(struct model_context *context, struct sizes *sizes)
{
    const struct model_decoder_experts *experts = &sizes->decoder->experts;

    sizes->expert_groups =
        count_of(context, experts->groups, experts->groups_fallback, SIZES_EXPERTS_MAX);
    sizes->kept_groups =
        count_of(context, experts->kept_groups, experts->kept_groups_fallback, SIZES_EXPERTS_MAX);
    if (context->status != TAPML_OK) {
        return;
    }
    if (sizes->experts % sizes->expert_groups != 0) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, which does not divide %lld experts",
                   experts->groups + 1, (long long)sizes->expert_groups, (long long)sizes->experts);
    } else if (sizes->kept_groups > sizes->expert_groups) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, there are %lld groups",
                   experts->kept_groups + 1, (long long)sizes->kept_groups,
                   (long long)sizes->expert_groups);
    } else if (sizes->chosen_experts >
               sizes->kept_groups * (sizes->experts / sizes->expert_groups)) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, which %lld of %lld groups do not have",
                   experts->chosen + 1, (long long)sizes->chosen_experts,
                   (long long)sizes->kept_groups, (long long)sizes->expert_groups);
    }
}

static void read_routing(struct model_context *context, struct sizes *sizes)
{
    const struct model_decoder_experts *experts = &sizes->decoder->experts;
    const int renormalises =
        boolean_of(context, experts->renormalises, experts->renormalises_fallback);
    static const char *const methods[] = {"greedy", "group_limited_greedy", NULL};
    const char *method = experts->method != NULL
                             ? model_config_choice(context, experts->method, methods[0], methods)
                             : methods[0];

    sizes->routing = experts->routing;
    if (strcmp(method, methods[1]) == 0) {
        sizes->routing = MODEL_ROUTING_GROUPS;
    }
    if (renormalises) {
        sizes->routing = sizes->routing == MODEL_ROUTING_SIGMOID
                             ? MODEL_ROUTING_SIGMOID_RENORMALISED
                             : MODEL_ROUTING_SOFTMAX_RENORMALISED;
    }
    if (sizes->routing == MODEL_ROUTING_GROUPS || sizes->routing == MODEL_ROUTING_SIGMOID ||
        sizes->routing == MODEL_ROUTING_SIGMOID_RENORMALISED) {
        read_groups(context, sizes);
    } else if (experts->groups != NULL) {
        context->config_table->ignore(context->config, experts->groups);
        context->config_table->ignore(context->config, experts->kept_groups);
    }
}

static void read_experts(struct model_context *context, struct sizes *sizes)
{
    const struct model_decoder_experts *experts = &sizes->decoder->experts;

    if (experts->count == NULL) {
        return;
    }
    sizes->experts = count_of(context, experts->count, experts->count_fallback, SIZES_EXPERTS_MAX);
    sizes->chosen_experts =
        count_of(context, experts->chosen, experts->chosen_fallback, SIZES_EXPERTS_MAX);
    sizes->expert_width =
        count_of(context, experts->width, experts->width_fallback, SIZES_WIDTH_MAX);
    sizes->expert_period = count_of(context, experts->period, 1, SIZES_LAYERS_MAX);
    sizes->expert_factor = number_of(context, experts->factor, experts->factor_fallback);
    if (experts->first != NULL) {
        sizes->expert_first = context->config_table->i64(
            context->config, model_config_key(context, experts->first).text,
            experts->first_fallback);
    }
    if (experts->shared != NULL &&
        !context->config_table->is_null(context->config, experts->shared)) {
        sizes->shared_experts =
            count_of(context, experts->shared, experts->shared_fallback, SIZES_EXPERTS_MAX);
    }
    read_routing(context, sizes);
    if (context->status == TAPML_OK && sizes->chosen_experts > sizes->experts) {
        model_fail(context, TAPML_INVALID, "'%s': %lld experts for a token, there are %lld",
                   model_config_key(context, experts->chosen).text + 1,
                   (long long)sizes->chosen_experts, (long long)sizes->experts);
    }
}

static void read_ropes(struct model_context *context, struct sizes *sizes)
{
    const struct model_decoder_defaults *defaults = &sizes->decoder->defaults;

    if (sizes->decoder->ropes != MODEL_ROPES_NONE) {
        model_rope_read(context, &defaults->rope, sizes->turned_width, &sizes->ropes[SIZES_ROPE]);
    }
    if (sizes->latent > 0) {
        sizes->scale *= sizes->ropes[SIZES_ROPE].score_factor;
    }
    if (sizes->decoder->ropes == MODEL_ROPES_BY_LAYER) {
        model_rope_read(context, &defaults->local_rope, sizes->head_width,
                        &sizes->ropes[SIZES_LOCAL_ROPE]);
    }
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
}

void sizes_read(struct model_context *context,
                const struct model_decoder *decoder,
                struct sizes *out_sizes)
{
    const struct model_decoder_keys *keys = &decoder->keys;
    const struct model_decoder_defaults *defaults = &decoder->defaults;
    struct sizes *sizes = out_sizes;

    *sizes = (struct sizes){.decoder = decoder};
    read_widths(context, sizes);
    sizes->eps = context->config_table->f64(
        context->config, model_config_key(context, keys->eps).text, defaults->eps);
    if (!(sizes->eps >= 0 && sizes->eps <= 1)) {
        model_fail(context, TAPML_INVALID, "'%s' is %g, expected a number from 0 to 1",
                   model_config_key(context, keys->eps).text + 1, sizes->eps);
    }
    sizes->activation = defaults->activation;
    if (keys->activation != NULL) {
        sizes->activation = model_config_activation(
            context, model_config_key(context, keys->activation).text, defaults->activation);
    }
    sizes->is_tied = boolean_of(context, keys->is_tied, defaults->is_tied);
    sizes->has_attention_biases =
        boolean_of(context, keys->attention_biases, defaults->has_attention_biases);
    sizes->has_mlp_biases = boolean_of(context, keys->mlp_biases, defaults->has_mlp_biases);
    sizes->is_parallel = boolean_of(context, keys->is_parallel, defaults->is_parallel);
    sizes->is_rope_interleaved =
        boolean_of(context, keys->is_rope_interleaved, decoder->is_rope_interleaved);
    sizes->adds_normed = boolean_of(context, keys->adds_normed, 0);
    sizes->logit_softcap = number_of(context, keys->logit_softcap, defaults->logit_softcap);
    sizes->logit_scale = number_of(context, keys->logit_scale, defaults->logit_scale);
    read_attention(context, sizes);
    read_windows(context, sizes);
    read_ropes(context, sizes);
    read_experts(context, sizes);
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

static int slides(struct model_context *context, const struct sizes *sizes, int64_t index)
{
    if (sizes->decoder->windows.window == NULL) {
        return 0;
    }
    if (sizes->has_types) {
        return type_slides(context, sizes->decoder->windows.types, index);
    }
    return index >= sizes->first && (sizes->period == 0 || (index + 1) % sizes->period != 0);
}

// Whether the config lists the layer among those without experts.
static int is_dense(struct model_context *context, const char *list, int64_t index)
{
    const int64_t length = list != NULL ? context->config_table->length(context->config, list) : 0;

    for (int64_t i = 0; i < length; i++) {
        struct model_name pointer;

        snprintf(pointer.text, sizeof(pointer.text), "%.200s/%lld", list, (long long)i);
        if (context->config_table->i64(context->config, pointer.text, -1) == index) {
            return 1;
        }
    }
    return 0;
}

struct sizes_layer
sizes_layer(struct model_context *context, const struct sizes *sizes, int64_t index)
{
    const int is_sliding = slides(context, sizes, index);
    struct sizes_layer layer = {
        .window = is_sliding ? sizes->window : 0,
        .scale = sizes->is_scaled_by_layer ? sizes->scale / (double)(index + 1) : sizes->scale,
        .rope = SIZES_ROPE,
        .has_experts = sizes->experts > 0 && index >= sizes->expert_first &&
                       (index + 1) % sizes->expert_period == 0 &&
                       !is_dense(context, sizes->decoder->experts.dense, index),
    };

    switch (sizes->decoder->ropes) {
    case MODEL_ROPES_ALL:
        break;
    case MODEL_ROPES_SLIDING:
        layer.rope = layer.window > 0 ? SIZES_ROPE : SIZES_ROPE_NONE;
        break;
    case MODEL_ROPES_BY_LAYER:
        layer.rope = is_sliding ? SIZES_LOCAL_ROPE : SIZES_ROPE;
        break;
    case MODEL_ROPES_NONE:
        layer.rope = SIZES_ROPE_NONE;
        break;
    }
    return layer;
}
