// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Gemma 2 (arXiv 2408.00118): norms before and behind both halves of a layer, which multiply by
// 1 + weight; scores and logits softly limited; every other layer, from the first on, slides.
#include "gemma.h"

static void attention(struct model_context *context,
                      const struct model_block *block,
                      struct model_attention *attention)
{
    gemma_scale(context, block, attention);
    attention->softcap = model_config_number_of(context, "/attn_logit_softcapping", 50);
}

static tapml_graph_value limit_logits(struct model_context *context,
                                      const struct model_block *block,
                                      tapml_graph_value logits)
{
    (void)block;
    return gemma_limit(context, logits, 30);
}

const struct model_decoder describe_gemma2 = {
    .model_type = "gemma2",
    .class_name = "Gemma2ForCausalLM",
    .norm_offset = 1,
    .embed_steps = {model_embed_root},
    .attention = attention,
    .logit_steps = {limit_logits},
    .keys = {GEMMA_KEYS},
    .defaults =
        {
            .sizes = {.hidden = 2304,
                      .layers = 26,
                      .heads = 8,
                      .kv_heads = 4,
                      .head_width = 256,
                      .mlp_width = 9216,
                      .vocabulary = 256000},
            .eps = 1e-6,
            .activation = "gelu_pytorch_tanh",
            .is_tied = 1,
            .rope = {.theta = 10000, .positions = 8192},
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .window_fallback = 4096,
                .period = 2},
    .tensors = {GEMMA_TENSORS},
    // The activation of the class, whatever the older key says.
    .ignored = {"/hidden_act", "/cache_implementation", "/sliding_window_size"},
    .expected = {{"/use_bidirectional_attention", "false"}},
};
