// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen3-Next: the gated delta rule (arXiv 2412.06464) and gated attention, each followed by a
// mixture of experts.
#include "hybrid.h"
#include "mixture.h"

static tapml_graph_value
mixer(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    return hybrid_mix(context, block, delta_parts_by_head, x);
}

const struct model_decoder describe_qwen3_next = {
    .model_type = "qwen3_next",
    .class_name = "Qwen3NextForCausalLM",
    .mixer = mixer,
    .mlp = mixture_mlp,
    HYBRID_DECODER,
    .defaults = {HYBRID_DEFAULTS, .sizes = {.hidden = 2048,
                                            .layers = 48,
                                            .heads = 16,
                                            .kv_heads = 2,
                                            .head_width = 256,
                                            .vocabulary = 151936}},
    .keys = {HYBRID_KEYS},
    .tensors = {HYBRID_TENSORS},
    .ignored = {HYBRID_IGNORED},
};
