// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Phi-3.5-MoE (arXiv 2404.14219): layer norms and biases; two experts, each with its part of a
// softmax over those that come near it; a factor on cosines and sines for short texts and one for
// long ones.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

static struct model_route choose(struct model_context *context,
                                 const struct model_block *block,
                                 const struct model_experts *own,
                                 tapml_graph_value scores)
{
    static const char key[] = "/router_jitter_noise";
    const double jitter = model_config_between(context, key, 0.01, 0, 1);

    (void)block;
    return model_route_sparsemixer(context, scores, own->chosen, jitter);
}

static const struct model_decoder_experts experts = {
    .count = "/num_local_experts",
    .chosen = "/num_experts_per_tok",
    .width = "/intermediate_size",
    .count_fallback = 16,
    .chosen_fallback = 2,
    .choice = choose,
    .tensors = {MODEL_TENSORS_BLOCK_EXPERTS},
};

const struct model_decoder describe_phimoe = {
    .model_type = "phimoe",
    .class_name = "PhimoeForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .keys =
        {
            MODEL_KEYS_USUAL,
            .head_biases = "/lm_head_bias",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 1e6, .positions = 131072},
        },
    .windows = {.window = "/sliding_window"},
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            MODEL_TENSORS_ATTENTION,
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
        },
    .experts = &experts,
    .expected = {{"/num_experts_per_tok", "2"}},
};
