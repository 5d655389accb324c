// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// MLPs.
#include <tapml/model/block.h>

static tapml_graph_value widen(struct model_context *context,
                               const struct model_block *block,
                               const char *name,
                               const char *tensor,
                               tapml_graph_value x,
                               int64_t width)
{
    const struct model_linear linear = {.tensor = tensor,
                                        .in = block->sizes->hidden,
                                        .out = width,
                                        .has_bias = block->sizes->has_mlp_biases,
                                        .is_transposed = block->decoder->is_transposed};

    return model_linear(context, name, x, &linear);
}

static tapml_graph_value narrow(struct model_context *context,
                                const struct model_block *block,
                                const char *tensor,
                                tapml_graph_value x,
                                int64_t width)
{
    const struct model_linear linear = {.tensor = tensor,
                                        .in = width,
                                        .out = block->sizes->hidden,
                                        .has_bias = block->sizes->has_mlp_biases,
                                        .is_transposed = block->decoder->is_transposed};

    return model_linear(context, "down_proj", x, &linear);
}

static tapml_graph_value
act(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    return model_activation(context, block->sizes->activation, x);
}

tapml_graph_value model_mlp_gated_of(struct model_context *context,
                                     const struct model_block *block,
                                     const struct model_mlp *mlp,
                                     tapml_graph_value x)
{
    // The activation stands beside its gate.
    const tapml_graph_value gate =
        act(context, block, widen(context, block, "gate_proj", mlp->gate, x, mlp->width));
    const tapml_graph_value up = widen(context, block, "up_proj", mlp->up, x, mlp->width);

    return narrow(context, block, mlp->down, model_multiply(context, "mul", gate, up), mlp->width);
}

tapml_graph_value
model_mlp_gated(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;
    const struct model_mlp mlp = {tensors->gate, tensors->up, tensors->down,
                                  block->sizes->mlp_width};

    return model_mlp_gated_of(context, block, &mlp, x);
}

tapml_graph_value
model_mlp_fused(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;
    const int64_t width = block->sizes->mlp_width;
    const tapml_graph_value both =
        widen(context, block, "gate_up_proj", tensors->gate, x, 2 * width);
    const tapml_graph_value gate = act(context, block, model_slice(context, both, 1, 0, width));
    const tapml_graph_value up = model_slice(context, both, 1, width, 2 * width);

    return narrow(context, block, tensors->down, model_multiply(context, "mul", gate, up), width);
}

tapml_graph_value model_mlp_plain_with(struct model_context *context,
                                       const struct model_block *block,
                                       model_value_fn *activation,
                                       tapml_graph_value x)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;
    const int64_t width = block->sizes->mlp_width;
    const tapml_graph_value y = widen(context, block, "up_proj", tensors->up, x, width);

    return narrow(context, block, tensors->down, activation(context, block, y), width);
}

tapml_graph_value
model_mlp_plain(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    return model_mlp_plain_with(context, block, act, x);
}
