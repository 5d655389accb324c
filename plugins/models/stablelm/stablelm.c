// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// StableLM (arXiv 2402.17834): layer norms, a quarter of each head turned. StableLM 2 12B has
// attention and MLP side by side, and normalises each head by a weight of its own.
#include <tapml/model/block.h>
#include <tapml/model/names.h>
#include <tapml/model/recurrence.h>

#include <stdio.h>

// Both halves on one norm: the second has none.
static tapml_graph_value
layer(struct model_context *context, const struct model_block *block, tapml_graph_value h)
{
    struct model_decoder decoder = *block->decoder;
    struct model_block own = *block;

    own.decoder = &decoder;
    if (block->sizes->is_parallel) {
        decoder.tensors.mlp_norm = NULL;
    }
    return model_layer_residual(context, &own, h);
}

// The weights of `count` heads from `first` on, side by side.
static tapml_graph_value join_weights(
    struct model_context *context, const char *tensor, int64_t width, int64_t first, int64_t count)
{
    const int64_t left = count / 2, end = first + count;
    struct model_name name;

    snprintf(name.text, sizeof(name.text), "weight.%lld.%lld", (long long)first, (long long)end);
    if (count == 1) {
        context->expert = first;
        return model_operand(context, name.text, tensor, &width, 1);
    }
    const tapml_graph_value a = join_weights(context, tensor, width, first, left);

    return model_concat(context, name.text, a,
                        join_weights(context, tensor, width, first + left, count - left));
}

// Each head is a tensor of its own.
enum { NORMED_HEADS_MAX = 256 };

static tapml_graph_value norm_heads(struct model_context *context,
                                    const struct model_block *block,
                                    const char *name,
                                    const char *tensor,
                                    tapml_graph_value x,
                                    int64_t heads)
{
    tapml_graph_value weights;

    model_scope_begin(context, name);
    weights = join_weights(context, tensor, block->sizes->head_width, 0, heads);
    model_scope_end(context);
    return model_block_norm_each(context, block, name, x, heads, weights);
}

static void norm_if_wanted(struct model_context *context,
                           const struct model_block *block,
                           struct model_heads *heads)
{
    static const char q_norm[] = "model.layers.{i}.self_attn.q_layernorm.norms.{e}.weight";
    static const char k_norm[] = "model.layers.{i}.self_attn.k_layernorm.norms.{e}.weight";

    if (!model_config_boolean_of(context, "/qk_layernorm", 0)) {
        return;
    }
    if (block->sizes->heads > NORMED_HEADS_MAX) {
        model_fail(context, TAPML_UNIMPLEMENTED,
                   "'qk_layernorm' of %lld heads, expected at most %d",
                   (long long)block->sizes->heads, NORMED_HEADS_MAX);
    } else {
        heads->q = norm_heads(context, block, "q_norm", q_norm, heads->q, block->sizes->heads);
        heads->k = norm_heads(context, block, "k_norm", k_norm, heads->k, block->sizes->kv_heads);
    }
}

const struct model_decoder describe_stablelm = {
    .model_type = "stablelm",
    .class_name = "StableLmForCausalLM",
    .old_types = "stablelm_epoch",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .layer = layer,
    .head_steps = {norm_if_wanted, model_heads_turn},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/layer_norm_eps|/norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/use_qkv_bias",
            .is_parallel = "/use_parallel_residual",
        },
    .defaults =
        {
            .sizes =
                {.hidden = 2560, .layers = 32, .heads = 32, .mlp_width = 6912, .vocabulary = 50304},
            .eps = 1e-5,
            .activation = "silu",
            .output_bias = MODEL_OUTPUT_BIAS_NEVER,
            .rope = {.theta = 10000,
                     .positions = 4096,
                     .share = 0.25,
                     .shares = "/partial_rotary_factor|/rope_pct"},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/num_heads"},
    .expected = {{"/rotary_scaling_factor", "1.0"}},
};
