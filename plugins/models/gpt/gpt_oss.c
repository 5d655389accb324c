// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-OSS (arXiv 2508.10925): experts with biases and limited gates, one more score (sink) for each
// head, every other layer, from the first on, slides.

#include <tapml/model/block.h>
#include <tapml/model/names.h>

#include <float.h>

// One more score for each head.
static void add_sinks(struct model_context *context,
                      const struct model_block *block,
                      struct model_attention *attention)
{
    attention->sinks =
        model_weight(context, "model.layers.{i}.self_attn.sinks", &block->sizes->heads, 1);
}

// g = min(gate, 7), u = up within 7; (u + 1) * g * sigmoid(1.702 g).
static tapml_graph_value
limited_gate(struct model_context *context, tapml_graph_value gate, tapml_graph_value up)
{
    static const double limit = 7, slope = 1.702;
    const tapml_graph_value g = model_clip(context, "gate_clip", gate, -(double)FLT_MAX, limit);
    const tapml_graph_value u = model_clip(context, "up_clip", up, -limit, limit);
    tapml_graph_value y =
        model_sigmoid(context, "sigmoid", model_scale(context, "scale", g, slope));

    y = model_multiply(context, "gate", g, y);
    return model_add(context, "glu", y, model_multiply(context, "mul", u, y));
}

// Every second value is of the gate, the others are of up.
static tapml_graph_value every_second(struct model_context *context,
                                      const struct model_experts *own,
                                      tapml_graph_value x,
                                      int64_t first)
{
    const int64_t pairs[] = {TAPML_SYM_TOKENS, own->chosen, own->width, 2};

    x = model_slice(context, model_reshape(context, x, pairs, 4), 3, first, first + 1);
    return model_reshape(context, x, pairs, 3);
}

static tapml_graph_value products(struct model_context *context,
                                  const struct model_block *block,
                                  const struct model_experts *own,
                                  tapml_graph_value x)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const int64_t hidden = block->sizes->hidden;
    const struct model_linear gate_up = {.tensor = keys->tensors.gate,
                                         .in = hidden,
                                         .out = 2 * own->width,
                                         .has_bias = 1,
                                         .is_transposed = 1};
    const struct model_linear down = {.tensor = keys->tensors.down,
                                      .in = own->width,
                                      .out = hidden,
                                      .has_bias = 1,
                                      .is_transposed = 1};
    tapml_graph_value y = model_experts_stacked(context, own, "gate_up_proj", &gate_up, x);

    y = limited_gate(context, every_second(context, own, y, 0), every_second(context, own, y, 1));
    return model_experts_stacked(context, own, "down_proj", &down, y);
}

static const struct model_decoder_experts experts = {
    .count = "/num_local_experts|/num_experts",
    .chosen = "/num_experts_per_tok",
    .width = "/intermediate_size",
    .count_fallback = 128,
    .chosen_fallback = 4,
    .routing = MODEL_ROUTING_TOPK,
    .has_router_bias = 1,
    .products = products,
    .tensors = {.router = "model.layers.{i}.mlp.router",
                .gate = "model.layers.{i}.mlp.experts.gate_up_proj",
                .down = "model.layers.{i}.mlp.experts.down_proj"},
};

const struct model_decoder describe_gpt_oss = {
    .model_type = "gpt_oss",
    .class_name = "GptOssForCausalLM",
    .attention = add_sinks,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .sizes = {.head_width = 64},
            .eps = 1e-5,
            .activation = "silu",
            .has_attention_biases = 1,
            .rope = {.theta = 150000,
                     .positions = 131072,
                     .kind = "yarn",
                     .numbers = {{"factor", 32}, {"original_max_position_embeddings", 4096}},
                     .is_ramp_exact = 1},
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .window_fallback = 128,
                .period = 2},
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
        },
    .experts = &experts,
    .ignored = {"/experts_per_token", "/initial_context_length"},
    .expected = {{"/swiglu_limit", "7.0"}, {"/hidden_act", "\"silu\""}},
};
