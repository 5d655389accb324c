// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// RWKV-5 (arXiv 2404.05892): a matrix of each head, whose columns decay at a learned rate.
#include "blocks.h"

static tapml_graph_value attend(struct model_context *context,
                                const struct blocks *blocks,
                                const struct rwkv_shifted *shifted)
{
    const int64_t shape[] = {blocks->heads.count, blocks->heads.width};
    const tapml_graph_value logs =
        model_operand(context, "time_decay", "rwkv.blocks.{i}.attention.time_decay", shape, 2);
    const tapml_graph_value rates =
        model_scale(context, "minus", model_exp(context, "rate", logs), -1);
    const tapml_graph_value decay =
        model_every_token(context, model_exp(context, "decay", rates), blocks->stack->hidden);
    const struct blocks_parts parts = {
        .r = blocks_mix_between(context, blocks, "attention.time_mix_receptance", shifted),
        .k = blocks_mix_between(context, blocks, "attention.time_mix_key", shifted),
        .v = blocks_mix_between(context, blocks, "attention.time_mix_value", shifted),
        .g = blocks_mix_between(context, blocks, "attention.time_mix_gate", shifted),
        .w = model_in_heads(context, decay, shape[0], shape[1]),
    };

    return blocks_attend_heads(context, blocks, &parts);
}

static tapml_graph_value
layers(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    static const struct blocks_version version = {
        .number = "\"5_2\"",
        .divisor = 1,
        .ratio = 3.5,
        .is_rounded = 1,
        .mixed_keys = "feed_forward.time_mix_key",
        .mixed_gates = "feed_forward.time_mix_receptance",
        .mix = blocks_mix_between,
        .attend = attend,
    };

    return blocks_layers(context, stack, &version, h);
}

BLOCKS_ARCHITECTURE(rwkv5, "Rwkv5ForCausalLM", layers, 768, 24, 65536)
