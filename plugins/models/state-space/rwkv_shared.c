// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "rwkv_shared.h"

tapml_graph_value rwkv_back(struct model_context *context, int64_t width)
{
    static const float back[] = {1, -1};
    static const int64_t shape[] = {1, 2};
    const tapml_graph_value taps =
        model_reshape(context, model_constant(context, back, 2), shape, 2);

    return model_repeat(context, taps, 0, width);
}

struct rwkv_shifted rwkv_shift(struct model_context *context,
                               const struct stack *stack,
                               tapml_graph_value back,
                               const char *state,
                               const char *norm,
                               tapml_graph_value h)
{
    const int64_t tail[] = {1, stack->hidden};
    const struct model_conv1d conv = {.weight = back,
                                      .tail = model_fixed_state(context, state, tail, 2)};
    struct rwkv_shifted shifted = {.x = stack_norm(context, stack, "norm", norm, h)};

    shifted.d = model_conv1d(context, "shift", shifted.x, &conv);
    return shifted;
}

tapml_graph_value rwkv_vector(struct model_context *context,
                              const char *name,
                              const char *tensor,
                              const int64_t *shape,
                              uint32_t rank)
{
    int64_t width = 1;

    for (uint32_t i = 0; i < rank; i++) {
        width *= shape[i];
    }
    return model_every_token(context, model_operand(context, name, tensor, shape, rank), width);
}

tapml_graph_value rwkv_norm_heads(struct model_context *context,
                                  const struct rwkv_heads *heads,
                                  const char *name,
                                  const char *tensor,
                                  double eps,
                                  tapml_graph_value y)
{
    const int64_t hidden = heads->count * heads->width;
    const struct model_norm norm = {.kind = MODEL_NORM_LAYER, .width = heads->width, .eps = eps};
    const struct model_name weight = model_name(context, tensor, context->layer, ".weight");
    const struct model_name bias = model_name(context, tensor, context->layer, ".bias");

    y = model_in_rows(context, model_norm(context, name, y, &norm), hidden);
    y = model_multiply(context, model_name(context, name, 0, "_mul").text, y,
                       rwkv_vector(context, model_name(context, name, 0, ".weight").text,
                                   weight.text, &hidden, 1));
    if (model_has_tensor(context, bias.text, &hidden, 1, 1)) {
        y = model_add(context, model_name(context, name, 0, "_add").text, y,
                      rwkv_vector(context, model_name(context, name, 0, ".bias").text, bias.text,
                                  &hidden, 1));
    }
    return y;
}

tapml_graph_value rwkv_bonus(struct model_context *context,
                             const struct rwkv_heads *heads,
                             const char *factors,
                             const tapml_graph_value r_k_v[3])
{
    const int64_t shape[] = {heads->count, heads->width}, hidden = shape[0] * shape[1];
    const tapml_graph_value rk = model_multiply(context, "rk", r_k_v[0], r_k_v[1]);
    const tapml_graph_value terms =
        model_multiply(context, "r_k_mul", rk, rwkv_vector(context, "r_k", factors, shape, 2));
    const tapml_graph_value sum =
        model_sum(context, "bonus_sum", model_in_heads(context, terms, shape[0], shape[1]));

    return model_multiply(
        context, "bonus", r_k_v[2],
        model_in_rows(context, model_widen(context, sum, shape[0], shape[1]), hidden));
}
