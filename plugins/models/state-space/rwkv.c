// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// RWKV-4 (arXiv 2305.13048): each channel keeps a weighted mean of the values that it has seen.
#include "blocks.h"

static tapml_graph_value
vector(struct model_context *context, const struct blocks *blocks, const char *part)
{
    const struct model_name tensor =
        model_name(context, "rwkv.blocks.{i}.attention.", context->layer, part);

    return model_operand(context, part, tensor.text, &blocks->attention, 1);
}

static tapml_graph_value attend(struct model_context *context,
                                const struct blocks *blocks,
                                const struct rwkv_shifted *shifted)
{
    const int64_t hidden = blocks->stack->hidden, width = blocks->attention, state[] = {3, width};
    const tapml_graph_value r_x =
        blocks_mix_between(context, blocks, "attention.time_mix_receptance", shifted);
    const tapml_graph_value k_x =
        blocks_mix_between(context, blocks, "attention.time_mix_key", shifted);
    const tapml_graph_value v_x =
        blocks_mix_between(context, blocks, "attention.time_mix_value", shifted);
    const tapml_graph_value gate = model_sigmoid(
        context, "sigmoid", blocks_project(context, "attention.receptance", r_x, hidden, width));
    const struct model_wkv4 mean = {
        .w = model_scale(context, "minus",
                         model_exp(context, "rate", vector(context, blocks, "time_decay")), -1),
        .u = vector(context, blocks, "time_first"),
        .k = blocks_project(context, "attention.key", k_x, hidden, width),
        .v = blocks_project(context, "attention.value", v_x, hidden, width),
        .state = model_fixed_state(context, "layers.{i}/attn/state", state, 2),
    };
    const tapml_graph_value y =
        model_multiply(context, "gated", gate, model_wkv4(context, "wkv", &mean));

    return blocks_project(context, "attention.output", y, width, hidden);
}

static tapml_graph_value
layers(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    static const struct blocks_version version = {
        .ratio = 4,
        .is_hidden_behind = 1,
        .mixed_keys = "feed_forward.time_mix_key",
        .mixed_gates = "feed_forward.time_mix_receptance",
        .mix = blocks_mix_between,
        .attend = attend,
    };

    return blocks_layers(context, stack, &version, h);
}

BLOCKS_ARCHITECTURE(rwkv, "RwkvForCausalLM", layers, 4096, 32, 50277)
