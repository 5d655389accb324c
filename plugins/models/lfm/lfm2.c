// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// LFM2 of Liquid AI: most layers are short convolutions between two gates, the others attention
// with normalised heads.
#include <tapml/model/block.h>
#include <tapml/model/names.h>
#include <tapml/model/recurrence.h>

#include <stdio.h>
#include <string.h>

enum { TAPS_MAX = 64 };

// Whether the config lists a layer among those of attention; without a list all are.
static int is_listed(struct model_context *context, int64_t layer)
{
    const tapml_host_config *table = context->config_table;
    const int64_t count = table->length(context->config, "/full_attn_idxs");
    int is_found = count < 0;

    for (int64_t i = 0; i < count && i < MODEL_LAYERS_MAX; i++) {
        struct model_name pointer;

        snprintf(pointer.text, sizeof(pointer.text), "/full_attn_idxs/%lld", (long long)i);
        is_found |= table->i64(context->config, pointer.text, -1) == layer;
    }
    return is_found;
}

static int is_full(struct model_context *context, int64_t layer)
{
    static const char *const kinds[] = {"full_attention", "conv", NULL};
    const int is_in_list = is_listed(context, layer); // Read whatever the types say.
    struct model_name pointer;

    if (context->config_table->length(context->config, "/layer_types") < 0) {
        return is_in_list;
    }
    snprintf(pointer.text, sizeof(pointer.text), "/layer_types/%lld", (long long)layer);
    return strcmp(model_config_choice(context, pointer.text, "", kinds), kinds[0]) == 0;
}

static tapml_graph_value project(struct model_context *context,
                                 const char *name,
                                 const char *tensor,
                                 const int64_t in_out[2],
                                 tapml_graph_value x)
{
    const struct model_linear linear = {.tensor = tensor,
                                        .in = in_out[0],
                                        .out = in_out[1],
                                        .has_bias =
                                            model_config_boolean_of(context, "/conv_bias", 0)};

    return model_linear(context, name, x, &linear);
}

// c * conv(b * u), of b, c and u that in_proj makes.
static tapml_graph_value convolve(struct model_context *context,
                                  const struct model_block *block,
                                  int64_t taps,
                                  tapml_graph_value x)
{
    const int64_t hidden = block->sizes->hidden, in[] = {hidden, 3 * hidden};
    const int64_t out[] = {hidden, hidden};
    const int has_bias = model_config_boolean_of(context, "/conv_bias", 0);

    if (taps < 2) {
        model_fail(context, TAPML_INVALID, "'conv_L_cache' is %lld, expected 2 to %d",
                   (long long)taps, TAPS_MAX);
        return 0;
    }
    const tapml_graph_value all =
        project(context, "in_proj", "model.layers.{i}.conv.in_proj", in, x);
    const tapml_graph_value b = model_slice(context, all, 1, 0, hidden);
    const tapml_graph_value c = model_slice(context, all, 1, hidden, 2 * hidden);
    const tapml_graph_value u = model_slice(context, all, 1, 2 * hidden, 3 * hidden);
    const tapml_graph_value y =
        model_conv1d_of(context, "model.layers.{i}.conv.conv",
                        model_multiply(context, "gate_in", b, u), hidden, taps, has_bias);

    return project(context, "out_proj", "model.layers.{i}.conv.out_proj", out,
                   model_multiply(context, "gate_out", c, y));
}

// The number of taps is read in every layer: all may be attention.
static tapml_graph_value
mixer(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const int64_t taps = model_config_count_of(context, "/conv_L_cache", 3, TAPS_MAX);

    return is_full(context, context->layer) ? model_mixer_attention(context, block, x)
                                            : convolve(context, block, taps, x);
}

// Two thirds of the width that the config names, times a factor, rounded up; or just that width.
static int64_t mlp_width(struct model_context *context)
{
    const int64_t whole =
        model_config_count_of(context, "/block_ff_dim|/intermediate_size", 12288, MODEL_WIDTH_MAX);
    const int64_t multiple =
        model_config_count_of(context, "/block_multiple_of", 256, MODEL_WIDTH_MAX);
    const char *key = "/block_ffn_dim_multiplier";
    const int is_null = context->config_table->is_null(context->config, key);
    const double factor = is_null ? 1 : model_config_number_of(context, key, 1);
    const int64_t share = 2 * whole / 3;
    const double width = (double)share * factor;

    if (!model_config_boolean_of(context, "/block_auto_adjust_ff_dim", 1)) {
        return whole;
    }
    if (context->status != TAPML_OK || !(width >= 1 && width <= MODEL_WIDTH_MAX)) {
        model_fail(context, TAPML_INVALID, "'%s' is %g, expected a factor of %lld", key + 1, factor,
                   (long long)whole);
        return 1;
    }
    return is_null ? (int64_t)width : ((int64_t)width + multiple - 1) / multiple * multiple;
}

static tapml_graph_value
mlp(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;
    const struct model_mlp own = {tensors->gate, tensors->up, tensors->down, mlp_width(context)};

    return model_mlp_gated_of(context, block, &own, x);
}

const struct model_decoder describe_lfm2 = {
    .model_type = "lfm2",
    .class_name = "Lfm2ForCausalLM",
    .mixer = mixer,
    .mlp = mlp,
    .turns = is_full,
    .keys = {.hidden = "/hidden_size",
             .layers = "/num_hidden_layers",
             .heads = "/num_attention_heads",
             .kv_heads = "/num_key_value_heads",
             .vocabulary = "/vocab_size",
             .is_tied = "/tie_embedding|/tie_word_embeddings",
             .head_width = "/head_dim",
             .eps = "/norm_eps"},
    .defaults =
        {.eps = 1e-5,
         .activation = "silu",
         .is_tied = 1,
         .sizes = {.hidden = 2560, .layers = 32, .heads = 32, .kv_heads = 8, .vocabulary = 65536},
         .rope = {.theta = 1000000, .positions = 128000, .base = "/theta|/rope_theta"}},
    .tensors = {.embed = "model.embed_tokens",
                .attention_norm = "model.layers.{i}.operator_norm",
                .q = "model.layers.{i}.self_attn.q_proj",
                .k = "model.layers.{i}.self_attn.k_proj",
                .v = "model.layers.{i}.self_attn.v_proj",
                .o = "model.layers.{i}.self_attn.out_proj",
                .q_norm = "model.layers.{i}.self_attn.q_layernorm",
                .k_norm = "model.layers.{i}.self_attn.k_layernorm",
                .mlp_norm = "model.layers.{i}.ffn_norm",
                .gate = "model.layers.{i}.feed_forward.w1",
                .up = "model.layers.{i}.feed_forward.w3",
                .down = "model.layers.{i}.feed_forward.w2",
                .norm = "model.embedding_norm",
                .head = "lm_head"},
    // Of the original's training code; no class of Hugging Face reads them.
    .ignored = {"/block_dim", "/block_norm_eps", "/block_mlp_init_scale", "/block_out_init_scale",
                "/block_use_xavier_init", "/conv_dim", "/conv_dim_out", "/conv_use_xavier_init",
                "/num_heads",
                // Where no layer is a convolution.
                "/conv_bias"},
    .expected = {{"/block_use_swiglu", "true"}, {"/use_pos_enc", "true"}},
};
