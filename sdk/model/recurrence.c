// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.h"

#include <tapml/model/recurrence.h>

tapml_graph_value model_fixed_state(struct model_context *context,
                                    const char *name,
                                    const int64_t *shape,
                                    uint32_t rank)
{
    const struct model_name whole_name = model_name(context, name, context->layer, "");
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context,
                   context->graph_table->state(context->graph, context->call, whole_name.text,
                                               TAPML_F32, shape, rank, 0, &value));
    }
    return value;
}

// The only row of a table, which tapml.embed widens.
static tapml_graph_value
widen(struct model_context *context, const char *name, tapml_graph_value weight, int64_t width)
{
    static const int32_t first = 0;
    const int64_t one = 1;
    const int64_t table[] = {1, width};
    const tapml_graph_value row = model_reshape(context, weight, table, 2);
    tapml_graph_value number = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->constant(context->graph, context->call, TAPML_I32,
                                                           &one, 1, &first, &number));
    }

    tapml_value args[] = {tensor(row), tensor(number), whole(0), result()};

    return add_op(context, name, "tapml.embed", args, COUNT(args));
}

tapml_graph_value model_operand(struct model_context *context,
                                const char *name,
                                const char *tensor,
                                const int64_t *shape,
                                uint32_t rank)
{
    tapml_graph_value value = model_weight(context, tensor, shape, rank);
    int64_t width = 1;

    for (uint32_t i = 0; i < rank; i++) {
        width *= shape[i];
    }
    if (value != 0 && context->graph_table->describe(context->graph, value)->dtype != TAPML_F32) {
        value = widen(context, name, value, width);
    }
    return model_reshape(context, value, &width, 1);
}

tapml_graph_value
model_every_token(struct model_context *context, tapml_graph_value operand, int64_t width)
{
    const int64_t row[] = {1, width};

    return model_repeat(context, model_reshape(context, operand, row, 2), 0, TAPML_SYM_TOKENS);
}

tapml_graph_value model_subtract(struct model_context *context,
                                 const char *name,
                                 tapml_graph_value a,
                                 tapml_graph_value b)
{
    tapml_value args[] = {tensor(a), tensor(b), result()};

    return add_op(context, name, "tapml.sub", args, COUNT(args));
}

static tapml_graph_value
unary(struct model_context *context, const char *name, const char *op, tapml_graph_value x)
{
    tapml_value args[] = {tensor(x), result()};

    return add_op(context, name, op, args, COUNT(args));
}

tapml_graph_value model_exp(struct model_context *context, const char *name, tapml_graph_value x)
{
    return unary(context, name, "tapml.exp", x);
}

tapml_graph_value
model_softplus(struct model_context *context, const char *name, tapml_graph_value x)
{
    return unary(context, name, "tapml.softplus", x);
}

tapml_graph_value model_sum(struct model_context *context, const char *name, tapml_graph_value x)
{
    return unary(context, name, "tapml.sum", x);
}

tapml_graph_value
model_l2_norm(struct model_context *context, const char *name, tapml_graph_value x, double eps)
{
    tapml_value args[] = {tensor(x), real(eps), result()};

    return add_op(context, name, "tapml.l2_norm", args, COUNT(args));
}

tapml_graph_value model_conv1d(struct model_context *context,
                               const char *name,
                               tapml_graph_value x,
                               const struct model_conv1d *conv)
{
    tapml_value args[] = {tensor(x), tensor(conv->weight), tensor(conv->bias), tensor(conv->tail),
                          result()};

    return add_op(context, name, "tapml.conv1d_causal", args, COUNT(args));
}

tapml_graph_value
model_linear_scan(struct model_context *context, const char *name, const struct model_scan *scan)
{
    tapml_value args[] = {tensor(scan->r),     tensor(scan->w),           tensor(scan->k),
                          tensor(scan->v),     tensor(scan->kk),          tensor(scan->a),
                          tensor(scan->state), whole(scan->reads_before), result()};

    return add_op(context, name, "tapml.linear_scan", args, COUNT(args));
}
