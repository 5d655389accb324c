// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/pool.h>

#include <math.h>

tapml_graph_value model_pool_sum(struct model_context *context,
                                 const char *scope,
                                 tapml_graph_value x,
                                 tapml_graph_value mask,
                                 int64_t width)
{
    static const float numbers[] = {0, 1}; // A mask as weights.
    const int64_t table[] = {2, 1};
    const int64_t weights[] = {1, TAPML_SYM_TOKENS};
    const int64_t rows[] = {1, TAPML_SYM_TOKENS, width};

    model_scope_begin(context, scope);

    const tapml_graph_value shown =
        model_embed_value(context, "mask", mask,
                          model_reshape(context, model_constant(context, numbers, 2), table, 2));
    const tapml_graph_value sum =
        model_weighted_sum(context, "sum", model_reshape(context, x, rows, 3),
                           model_reshape(context, shown, weights, 2));

    model_scope_end(context);
    return sum;
}

tapml_graph_value model_pool_unit(struct model_context *context,
                                  const char *scope,
                                  tapml_graph_value x,
                                  int64_t width)
{
    static const double least = 1e-24; // Keeps zeros, and changes nothing else.

    // The root of the mean of squares is the length over the root of the width.
    model_scope_begin(context, scope);
    x = model_rms_norm(context, "norm", x, &(struct model_norm){.width = width, .eps = least});
    x = model_scale(context, "scale", x, 1 / sqrt((double)width));
    model_scope_end(context);
    return model_reshape(context, x, &width, 1);
}
