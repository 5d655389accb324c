// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Command R: attention and MLP side by side on one norm without a bias; heads are turned pair by
// pair, and may be normalised, each by a weight of its own; logits are multiplied.
#include "cohere.h"

#include <tapml/model/names.h>
#include <tapml/model/recurrence.h>

tapml_graph_value cohere_scale_logits(struct model_context *context,
                                      const struct model_block *block,
                                      tapml_graph_value logits)
{
    (void)block;
    return model_scale(context, "logit_scale", logits,
                       model_config_factor(context, "/logit_scale", 0.0625));
}

// Each head of `tensor` [heads, width] has a row.
static tapml_graph_value norm_heads(struct model_context *context,
                                    const struct model_block *block,
                                    const char *name,
                                    const char *tensor,
                                    tapml_graph_value x,
                                    int64_t heads)
{
    const int64_t shape[] = {heads, block->sizes->head_width};
    const tapml_graph_value weights = model_operand(context, name, tensor, shape, 2);

    return model_block_norm_each(context, block, name, x, heads, weights);
}

static void norm_if_wanted(struct model_context *context,
                           const struct model_block *block,
                           struct model_heads *heads)
{
    static const char q_norm[] = "model.layers.{i}.self_attn.q_norm.weight";
    static const char k_norm[] = "model.layers.{i}.self_attn.k_norm.weight";

    if (model_config_boolean_of(context, "/use_qk_norm", 0)) {
        heads->q = norm_heads(context, block, "q_norm", q_norm, heads->q, block->sizes->heads);
        heads->k = norm_heads(context, block, "k_norm", k_norm, heads->k, block->sizes->kv_heads);
    }
}

const struct model_decoder describe_cohere = {
    .model_type = "cohere",
    .class_name = "CohereForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .head_steps = {norm_if_wanted, model_heads_turn},
    .is_rope_interleaved = 1,
    .logit_steps = {cohere_scale_logits},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/layer_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .sizes = {.hidden = 8192,
                      .layers = 40,
                      .heads = 64,
                      .mlp_width = 22528,
                      .vocabulary = 256000},
            .eps = 1e-5,
            .activation = "silu",
            .is_tied = 1,
            .is_parallel = 1,
            .rope = {.theta = 500000, .positions = 8192},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            MODEL_TENSORS_MLP,
        },
    .ignored = {"/model_max_length", "/use_embedding_sharing", "/use_parallel_embedding"},
    .expected = {{"/use_gated_activation", "true"},
                 {"/use_parallel_block", "true"},
                 {"/position_embedding_type", "\"rope_gptj\""},
                 {"/rotary_pct", "1.0"}},
};
