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

tapml_graph_value model_linear_of(struct model_context *context,
                                  const char *name,
                                  const char *tensor,
                                  tapml_graph_value x,
                                  int64_t in,
                                  int64_t out)
{
    return model_linear(context, name, x,
                        &(struct model_linear){.tensor = tensor, .in = in, .out = out});
}

tapml_graph_value
model_in_heads(struct model_context *context, tapml_graph_value x, int64_t heads, int64_t width)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, heads, width};

    return model_reshape(context, x, shape, 3);
}

tapml_graph_value model_in_rows(struct model_context *context, tapml_graph_value x, int64_t width)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, width};

    return model_reshape(context, x, shape, 2);
}

tapml_graph_value
model_widen(struct model_context *context, tapml_graph_value x, int64_t heads, int64_t width)
{
    return model_repeat(context, model_in_heads(context, x, heads, 1), 2, width);
}

tapml_graph_value
model_taps(struct model_context *context, const char *tensor, int64_t width, int64_t taps)
{
    const int64_t stored[] = {width, 1, taps}, shape[] = {width, taps};
    const struct model_name name = model_name(context, tensor, context->layer, ".weight");

    return model_reshape(context, model_weight(context, name.text, stored, 3), shape, 2);
}

tapml_graph_value model_conv1d_of(struct model_context *context,
                                  const char *tensor,
                                  tapml_graph_value x,
                                  int64_t width,
                                  int64_t taps,
                                  int has_bias)
{
    const int64_t tail[] = {taps - 1, width};
    const struct model_name bias = model_name(context, tensor, context->layer, ".bias");
    struct model_conv1d conv = {
        .weight = model_taps(context, tensor, width, taps),
        .tail = model_fixed_state(context, "layers.{i}/tail", tail, 2),
    };

    if (model_has_tensor(context, bias.text, &width, 1, has_bias)) {
        conv.bias = model_weight(context, bias.text, &width, 1);
    }
    return model_conv1d(context, "conv", x, &conv);
}

tapml_graph_value model_linear_value(struct model_context *context,
                                     const char *name,
                                     tapml_graph_value x,
                                     tapml_graph_value weight,
                                     int is_transposed)
{
    tapml_value args[] = {tensor(x), tensor(weight), tensor(0), whole(is_transposed), result()};

    return add_op(context, name, "tapml.linear", args, COUNT(args));
}

tapml_graph_value
model_wkv4(struct model_context *context, const char *name, const struct model_wkv4 *mean)
{
    tapml_value args[] = {tensor(mean->w), tensor(mean->u),     tensor(mean->k),
                          tensor(mean->v), tensor(mean->state), result()};

    return add_op(context, name, "tapml.wkv4", args, COUNT(args));
}
