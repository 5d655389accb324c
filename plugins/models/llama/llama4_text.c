// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Llama 4: layers with a rope, which attend within chunks, and layers without, whose queries grow
// with their position; experts whose weights multiply what they take, beside a shared one.
#include "turns.h"

#include <tapml/model/block.h>
#include <tapml/model/names.h>

#include <math.h>
#include <string.h>

// -- Attention -----------------------------------------------------------------------------------

// A list says which layers see only the chunk that they are in; without it those with a rope do.
static int has_chunks(struct model_context *context)
{
    static const char *const kinds[] = {"chunked_attention", "full_attention", NULL};
    const struct model_name key = model_name(context, "/layer_types/{i}", context->layer, "");

    if (context->config_table->length(context->config, "/layer_types") < 0) {
        return llama_turns(context, context->layer);
    }
    return strcmp(model_config_choice(context, key.text, "", kinds), kinds[0]) == 0;
}

static void see_chunks(struct model_context *context,
                       const struct model_block *block,
                       struct model_attention *attention)
{
    static const char key[] = "/attention_chunk_size";
    const int is_off = context->config_table->is_null(context->config, key);
    const int64_t size = is_off ? 0 : model_config_count(context, key, 8192, 1 << 30);

    (void)block;
    attention->chunk = has_chunks(context) ? size : 0;
}

// Without weights, where heads are turned.
static void norm_heads(struct model_context *context,
                       const struct model_block *block,
                       struct model_heads *heads)
{
    const struct model_norm norm = {.width = block->sizes->head_width, .eps = block->sizes->eps};

    if (model_config_boolean_of(context, "/use_qk_norm", 1) &&
        block->layer.rope != MODEL_ROPE_NONE) {
        heads->q = model_rms_norm(context, "q_norm", heads->q, &norm);
        heads->k = model_rms_norm(context, "k_norm", heads->k, &norm);
    }
}

static void
grow_queries(struct model_context *context, int64_t first, int64_t count, float *out_factors)
{
    const double scale = model_config_between(context, "/attn_scale", 0.1, -1e15, 1e15);
    const double length = model_config_factor(context, "/floor_scale", 8192);

    for (int64_t i = 0; i < count; i++) {
        const double times = floor((double)(first + i + 1) / length);

        out_factors[i] = (float)(1 + scale * log1p(times));
    }
}

static void factor_heads(struct model_context *context,
                         const struct model_block *block,
                         struct model_heads *heads)
{
    if (model_config_boolean_of(context, "/attn_temperature_tuning", 1) &&
        block->layer.rope == MODEL_ROPE_NONE) {
        model_heads_factor(context, block, heads);
    }
}

// -- Experts -------------------------------------------------------------------------------------

static int has_experts(struct model_context *context, const struct model_block *block)
{
    static const char list[] = "/moe_layers";

    return context->config_table->length(context->config, list) >= 0
               ? model_config_lists(context, list, context->layer)
               : model_experts_layer(context, block);
}

// The sigmoids of the largest scores.
static struct model_route choose(struct model_context *context,
                                 const struct model_block *block,
                                 const struct model_experts *own,
                                 tapml_graph_value scores)
{
    const struct model_groups groups = {.routing = MODEL_ROUTING_SIGMOID,
                                        .experts = own->count,
                                        .groups = 1,
                                        .kept = 1,
                                        .chosen = own->chosen};

    (void)block;
    return model_route_groups(context, &groups, scores);
}

static tapml_graph_value products(struct model_context *context,
                                  const struct model_block *block,
                                  const struct model_experts *own,
                                  tapml_graph_value x)
{
    return model_experts_fused(context, block, own, 1, x);
}

static tapml_graph_value
shared_expert(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const struct model_mlp mlp = {
        keys->tensors.shared_gate, keys->tensors.shared_up, keys->tensors.shared_down,
        model_config_count_of(context, keys->width, keys->width_fallback, MODEL_WIDTH_MAX)};

    return model_mlp_gated_of(context, block, &mlp, x);
}

static const struct model_decoder_experts experts = {
    .count = "/num_local_experts",
    .chosen = "/num_experts_per_tok",
    .width = "/intermediate_size",
    .period = "/interleave_moe_layer_step",
    .count_fallback = 16,
    .chosen_fallback = 1,
    .width_fallback = 8192,
    .weighs_inputs = 1,
    .layer = has_experts,
    .choice = choose,
    .products = products,
    .besides = shared_expert,
    .tensors = {.router = "model.layers.{i}.feed_forward.router",
                .gate = "model.layers.{i}.feed_forward.experts.gate_up_proj",
                .down = "model.layers.{i}.feed_forward.experts.down_proj",
                .shared_gate = "model.layers.{i}.feed_forward.shared_expert.gate_proj",
                .shared_up = "model.layers.{i}.feed_forward.shared_expert.up_proj",
                .shared_down = "model.layers.{i}.feed_forward.shared_expert.down_proj"},
};

// -- The description -----------------------------------------------------------------------------

const struct model_decoder describe_llama4_text = {
    .model_type = "llama4_text",
    .class_name = "Llama4ForCausalLM",
    .is_rope_interleaved = 1,
    .turns = llama_turns,
    .factors = grow_queries,
    .head_steps = {model_heads_turn, norm_heads, factor_heads},
    .attention = see_chunks,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_hidden_layers",
            .heads = "/num_attention_heads",
            .kv_heads = "/num_key_value_heads",
            .head_width = "/head_dim",
            .mlp_width = "/intermediate_size_mlp",
            .vocabulary = "/vocab_size",
            .is_tied = "/tie_word_embeddings",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .sizes = {.hidden = 5120,
                      .layers = 48,
                      .heads = 40,
                      .kv_heads = 8,
                      .head_width = 128,
                      .mlp_width = 16384,
                      .vocabulary = 202048},
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 500000, .positions = 131072},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            .gate = "model.layers.{i}.feed_forward.gate_proj",
            .up = "model.layers.{i}.feed_forward.up_proj",
            .down = "model.layers.{i}.feed_forward.down_proj",
        },
    .experts = &experts,
    .ignored = {"/router_jitter_noise", "/for_llm_compressor", "/cache_implementation",
                // Where no layer has experts.
                "/interleave_moe_layer_step", "/num_local_experts", "/num_experts_per_tok",
                "/intermediate_size"},
    .expected = {{"/nope_layer_interval", "4"}}, // The class reads another name.
};
