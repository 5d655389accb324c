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
    const int64_t shape[] = {stack_count(context, thin->rank, 64, STACK_WIDTH_MAX), hidden};
    const tapml_tensor expected = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = shape};
    const struct model_name name = tensor_of(context, thin->first, ".weight");
    const tapml_tensor *found =
        context->status == TAPML_OK
            ? context->weights_table->find(context->weights, name.text, &expected)
            : NULL;

    if (found == NULL || found->rank != 2) {
        model_fail(context, TAPML_INVALID, "the checkpoint has no matrix '%s'", name.text);
        return 1;
    }
    return found->shape[0];
}

tapml_graph_value thin_build(struct model_context *context,
                             int64_t hidden,
                             const struct thin *thin,
                             tapml_graph_value x)
{
    const int64_t rank = rank_of(context, hidden, thin);

    model_scope_begin(context, thin->name);
    tapml_graph_value y =
        stack_linear(context, "down", tensor_of(context, thin->first, "").text, x, hidden, rank);

    y = thin->act != NULL ? model_activation(context, thin->act, y) : y;
    y = model_linear(context, "up", y,
                     &(struct model_linear){.tensor = tensor_of(context, thin->second, "").text,
                                            .in = rank,
                                            .out = hidden,
                                            .has_bias = thin->has_bias});
    model_scope_end(context);
    return y;
}
