// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Gemma 3 (arXiv 2503.19786), its text model: Gemma 2 with normalised heads of queries and keys in
// place of limited scores; every sixth layer is full; layers that slide have a rope of their own.
#include "gemma.h"

static tapml_graph_value limit_logits(struct model_context *context,
                                      const struct model_block *block,
                                      tapml_graph_value logits)
{
    (void)block;
    return gemma_limit(context, logits, 0);
}

const struct model_decoder describe_gemma3_text = {
    .model_type = "gemma3_text",
    .class_name = "Gemma3ForCausalLM",
    .norm_offset = 1,
    .embed_steps = {model_embed_root},
    .attention = gemma_scale,
    .logit_steps = {limit_logits},
    .ropes = MODEL_ROPES_BY_LAYER,
    .keys = {GEMMA_KEYS},
    .defaults =
        {
            .sizes = {.hidden = 2304,
                      .layers = 26,
                      .heads = 8,
                      .kv_heads = 4,
                      .head_width = 256,
                      .mlp_width = 9216,
                      .vocabulary = 262208},
            .eps = 1e-6,
            .activation = "gelu_pytorch_tanh",
            .is_tied = 1,
            .rope = {.theta = 1e6, .positions = 131072, .newer = "/rope_parameters/full_attention"},
            .local_rope = {.theta = 10000,
                           .positions = 131072,
                           .newer = "/rope_parameters/sliding_attention",
                           .older = "/rope_local_scaling",
                           .base = "/rope_local_base_freq"},
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .periods = "/sliding_window_pattern|/_sliding_window_pattern",
                .window_fallback = 4096,
                .period = 6},
    .tensors = {GEMMA_TENSORS, MODEL_TENSORS_HEAD_NORMS},
    // The activation of the class, whatever the older key says. Its scores are never limited.
    .ignored = {"/hidden_act", "/attn_logit_softcapping", "/cache_implementation"},
    .expected = {{"/use_bidirectional_attention", "false"},
                 {"/rope_parameters/rope_type", "\"default\""}},
};
