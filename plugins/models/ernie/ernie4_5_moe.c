// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// ERNIE 4.5 with experts: chosen by a softmax and a bias, beside shared ones; their weights are
// divided by a sum that has a lower limit; heads are turned pair by pair.
#include "ernie.h"

// Layers behind the last that has experts are dense, as are those before the first; -1 is the last
// of all.
static int has_experts(struct model_context *context, const struct model_block *block)
{
    const int64_t end = context->config_table->i64(context->config, "/moe_layer_end_index", -1);

    return (end == -1 || context->layer <= end) && model_experts_layer(context, block);
}

static struct model_route choose(struct model_context *context,
                                 const struct model_block *block,
                                 const struct model_experts *own,
                                 tapml_graph_value scores)
{
    const char *tensor = block->decoder->experts->tensors.bias;
    const int64_t shape[] = {1, own->count};
    const tapml_graph_value bias =
        model_has_tensor(context, tensor, shape, 2, 1)
            ? model_reshape(context, model_weight(context, tensor, shape, 2), shape + 1, 1)
            : 0;

    return model_route_biased(context, scores, bias, own->chosen,
                              model_config_factor(context, "/moe_norm_min", 1e-12));
}

static const struct model_decoder_experts experts = {
    .count = "/moe_num_experts|/num_experts",
    .chosen = "/moe_k|/num_experts_per_tok",
    .width = "/moe_intermediate_size",
    .period = "/moe_layer_interval",
    .first = "/moe_layer_start_index",
    .shared = "/moe_num_shared_experts",
    .count_fallback = 64,
    .chosen_fallback = 6,
    .width_fallback = 1536,
    .first_fallback = 1,
    .shared_fallback = 2,
    .layer = has_experts,
    .choice = choose,
    .tensors = {MODEL_TENSORS_SHARED_EXPERTS,
                .bias = "model.layers.{i}.mlp.moe_statics.e_score_correction_bias"},
};

const struct model_decoder describe_ernie4_5_moe = {
    .model_type = "ernie4_5_moe",
    .class_name = "Ernie4_5_MoeForCausalLM",
    .is_rope_interleaved = 1,
    .keys = {ERNIE_KEYS},
    .defaults =
        {
            .sizes = {.hidden = 2560,
                      .layers = 28,
                      .heads = 20,
                      .kv_heads = 4,
                      .mlp_width = 12288,
                      .vocabulary = 103424},
            ERNIE_DEFAULTS,
        },
    .tensors = {MODEL_TENSORS_LLAMA},
    .experts = &experts,
    .ignored = {"/moe_capacity", "/moe_use_aux_free", "/fuse_rms_norm", "/num_nextn_predict_layers",
                "/moe_norm_min"},
    .expected = {{"/use_rmsnorm", "true"},
                 {"/compression_ratio", "1.0"},
                 {"/moe_gate", "\"topk\""},
                 {"/moe_gate_act", "\"softmax\""}},
};
