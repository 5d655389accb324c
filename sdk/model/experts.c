// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mixtures of experts (arXiv 1701.06538): a router chooses, chosen experts are added up.
#include "block.h"

#include <float.h>

// The tensors of one linear layer of all experts, and their biases.
struct stack {
    tapml_graph_value weights[SIZES_EXPERTS_MAX], biases[SIZES_EXPERTS_MAX];
};

// One tensor for each expert: `tensor` without its ".weight".
static tapml_graph_value separate(struct model_context *context,
                                  const struct sizes *sizes,
                                  const char *name,
                                  const struct model_linear *linear,
                                  struct model_route route,
                                  tapml_graph_value x)
{
    const int64_t shape[] = {linear->out, linear->in};
    struct stack stack;

    for (context->expert = 0; context->expert < sizes->experts; context->expert++) {
        const struct model_name whole =
            model_name(context, linear->tensor, context->layer, ".weight");

        stack.weights[context->expert] = model_weight(context, whole.text, shape, 2);
    }
    return model_linear_experts(context, name, x, route.indices,
                                &(struct model_experts_linear){.weights = stack.weights,
                                                               .count = (uint32_t)sizes->experts});
}

// One tensor [E, in, out] for all, and "<tensor>_bias" [E, out].
static tapml_graph_value stacked(struct model_context *context,
                                 const struct sizes *sizes,
                                 const char *name,
                                 const struct model_linear *linear,
                                 struct model_route route,
                                 tapml_graph_value x)
{
    const int64_t shape[] = {sizes->experts, linear->in, linear->out};
    const int64_t bias_shape[] = {sizes->experts, linear->out};
    const struct model_name bias = model_name(context, linear->tensor, context->layer, "_bias");
    const tapml_graph_value weights = model_weight(context, linear->tensor, shape, 3);
    const tapml_graph_value biases = model_weight(context, bias.text, bias_shape, 2);
    struct stack stack;

    for (int64_t e = 0; e < sizes->experts; e++) {
        stack.weights[e] =
            model_reshape(context, model_slice(context, weights, 0, e, e + 1), shape + 1, 2);
        stack.biases[e] =
            model_reshape(context, model_slice(context, biases, 0, e, e + 1), bias_shape + 1, 1);
    }
    return model_linear_experts(context, name, x, route.indices,
                                &(struct model_experts_linear){.weights = stack.weights,
                                                               .biases = stack.biases,
                                                               .count = (uint32_t)sizes->experts,
                                                               .is_transposed = 1});
}

static tapml_graph_value separate_experts(struct model_context *context,
                                          const struct sizes *sizes,
                                          struct model_route route,
                                          tapml_graph_value x)
{
    const struct model_decoder_experts *experts = &sizes->decoder->experts;
    const struct model_linear gate = {
        .tensor = experts->tensors.gate, .in = sizes->hidden, .out = sizes->expert_width};
    const struct model_linear up = {
        .tensor = experts->tensors.up, .in = sizes->hidden, .out = sizes->expert_width};
    const struct model_linear down = {
        .tensor = experts->tensors.down, .in = sizes->expert_width, .out = sizes->hidden};
    tapml_graph_value y = model_activation(context, sizes->activation,
                                           separate(context, sizes, "gate_proj", &gate, route, x));

    y = model_multiply(context, "mul", y, separate(context, sizes, "up_proj", &up, route, x));
    return separate(context, sizes, "down_proj", &down, route, y);
}

// GPT-OSS: g = min(gate, 7), u = up within 7; (u + 1) * g * sigmoid(1.702 g).
static tapml_graph_value
limited_gate(struct model_context *context, tapml_graph_value gate, tapml_graph_value up)
{
    static const double limit = 7, slope = 1.702;
    const tapml_graph_value g = model_clip(context, "gate_clip", gate, -(double)FLT_MAX, limit);
    const tapml_graph_value u = model_clip(context, "up_clip", up, -limit, limit);
    tapml_graph_value y =
        model_sigmoid(context, "sigmoid", model_scale(context, "scale", g, slope));

    y = model_multiply(context, "gate", g, y);
    return model_add(context, "glu", y, model_multiply(context, "mul", u, y));
}

// Every second value is of the gate, the others are of up.
static tapml_graph_value every_second(struct model_context *context,
                                      const struct sizes *sizes,
                                      tapml_graph_value x,
                                      int64_t first)
{
    const int64_t pairs[] = {TAPML_SYM_TOKENS, sizes->chosen_experts, sizes->expert_width, 2};

    x = model_slice(context, model_reshape(context, x, pairs, 4), 3, first, first + 1);
    return model_reshape(context, x, pairs, 3);
}

static tapml_graph_value stacked_experts(struct model_context *context,
                                         const struct sizes *sizes,
                                         struct model_route route,
                                         tapml_graph_value x)
{
    const struct model_decoder_experts *experts = &sizes->decoder->experts;
    const struct model_linear gate_up = {
        .tensor = experts->tensors.gate, .in = sizes->hidden, .out = 2 * sizes->expert_width};
    const struct model_linear down = {
        .tensor = experts->tensors.down, .in = sizes->expert_width, .out = sizes->hidden};
    tapml_graph_value y = stacked(context, sizes, "gate_up_proj", &gate_up, route, x);

    y = limited_gate(context, every_second(context, sizes, y, 0),
                     every_second(context, sizes, y, 1));
    return stacked(context, sizes, "down_proj", &down, route, y);
}

// The experts of each token, and how much of each it takes.
static struct model_route
choose(struct model_context *context, const struct sizes *sizes, tapml_graph_value scores)
{
    const struct model_decoder_experts *experts = &sizes->decoder->experts;
    struct model_groups groups = {.routing = sizes->routing,
                                  .experts = sizes->experts,
                                  .groups = sizes->expert_groups,
                                  .kept = sizes->kept_groups,
                                  .chosen = sizes->chosen_experts};
    struct model_route route;

    if (sizes->expert_groups == 0) {
        route = model_route(context, sizes->routing, scores, sizes->chosen_experts);
    } else {
        if (experts->tensors.bias != NULL) {
            groups.bias = model_weight(context, experts->tensors.bias, &sizes->experts, 1);
        }
        route = model_route_groups(context, &groups, scores);
    }
    if (sizes->expert_factor > 0 && sizes->expert_factor != 1) {
        route.weights = model_scale(context, "route_scale", route.weights, sizes->expert_factor);
    }
    return route;
}

// What every token takes besides.
static tapml_graph_value add_shared(struct model_context *context,
                                    const struct sizes *sizes,
                                    tapml_graph_value x,
                                    tapml_graph_value y)
{
    const struct model_decoder_experts *experts = &sizes->decoder->experts;
    const struct block_dense dense = {experts->tensors.shared_gate, experts->tensors.shared_up,
                                      experts->tensors.shared_down,
                                      sizes->shared_experts * sizes->expert_width};

    model_scope_begin(context, "shared");

    const tapml_graph_value shared = block_dense(context, sizes, &dense, x);

    model_scope_end(context);
    return model_add(context, "add_shared", y, shared);
}

tapml_graph_value
block_experts(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    const struct model_decoder_experts *experts = &sizes->decoder->experts;
    const int64_t slots[] = {TAPML_SYM_TOKENS, 1, sizes->hidden};
    const struct model_linear router = {.tensor = experts->tensors.router,
                                        .in = sizes->hidden,
                                        .out = sizes->experts,
                                        .has_bias = experts->kind == MODEL_EXPERTS_STACKED};
    const tapml_graph_value scores = model_linear(context, "router", x, &router);
    const struct model_route route = choose(context, sizes, scores);
    const tapml_graph_value rows = model_reshape(context, x, slots, 3);
    tapml_graph_value y = 0;

    switch (experts->kind) {
    case MODEL_EXPERTS_SEPARATE:
        y = separate_experts(context, sizes, route, rows);
        break;
    case MODEL_EXPERTS_STACKED:
        y = stacked_experts(context, sizes, route, rows);
        break;
    }
    y = model_weighted_sum(context, "weighted_sum", y, route.weights);
    return sizes->shared_experts > 0 ? add_shared(context, sizes, x, y) : y;
}
