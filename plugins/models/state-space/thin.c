// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "thin.h"

static struct model_name
tensor_of(struct model_context *context, const char *part, const char *ending)
{
    const struct model_name begin = model_name(context, "model.layers.{i}.", context->layer, part);

    return model_name(context, begin.text, 0, ending);
}

static int64_t rank_of(struct model_context *context, int64_t hidden, const struct thin *thin)
{
    const int64_t shape[] = {model_config_count_of(context, thin->rank, 64, MODEL_WIDTH_MAX),
                             hidden};

    return stack_extent(context, tensor_of(context, thin->first, ".weight").text, shape, 2, 0);
}

tapml_graph_value thin_build(struct model_context *context,
                             int64_t hidden,
                             const struct thin *thin,
                             tapml_graph_value x)
{
    const int64_t rank = rank_of(context, hidden, thin);

    model_scope_begin(context, thin->name);
    tapml_graph_value y =
        model_linear_of(context, "down", tensor_of(context, thin->first, "").text, x, hidden, rank);

    y = thin->act != NULL ? model_activation(context, thin->act, y) : y;
    y = model_linear(context, "up", y,
                     &(struct model_linear){.tensor = tensor_of(context, thin->second, "").text,
                                            .in = rank,
                                            .out = hidden,
                                            .has_bias = thin->has_bias});
    model_scope_end(context);
    return y;
}
