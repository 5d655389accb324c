// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The text part of Qwen3.5: the gated delta rule (arXiv 2412.06464), from tensors of their own for
// what Qwen3-Next fuses, gated attention, and a dense MLP.
#include "hybrid.h"

static tapml_graph_value
mixer(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    return hybrid_mix(context, block, delta_parts_separate, x);
}

const struct model_decoder describe_qwen3_5_text = {
    .model_type = "qwen3_5_text",
    .class_name = "Qwen3_5ForCausalLM",
    .mixer = mixer,
    HYBRID_DECODER,
    .defaults = {HYBRID_DEFAULTS, .sizes = {.hidden = 4096,
                                            .layers = 32,
                                            .heads = 16,
                                            .kv_heads = 4,
                                            .head_width = 256,
                                            .mlp_width = 12288,
                                            .vocabulary = 248320}},
    .keys = {HYBRID_KEYS, .mlp_width = "/intermediate_size"},
    .tensors = {HYBRID_TENSORS, MODEL_TENSORS_MLP},
    .ignored = {HYBRID_IGNORED, "/mlp_only_layers", "/rope_parameters/mrope_section",
                "/rope_parameters/mrope_interleaved", "/rope_scaling/mrope_section",
                "/rope_scaling/mrope_interleaved"},
    .expected = {{"/attn_output_gate", "true"}},
};
