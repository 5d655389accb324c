// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "mixture.h"

#include <tapml/model/recurrence.h>

#include <stdio.h>

struct mixture {
    int64_t hidden, experts, chosen, width;
    int64_t shared;         // The width of the shared expert; 0: there is none.
    int64_t dense;          // Of layers without experts.
    int64_t period;         // Layers whose number + 1 is a multiple have experts,
    const char *exceptions; // but for those that this key lists.
    enum model_routing routing;
};

// Bounds what is looked through for each layer.
static void check_exceptions(struct model_context *context, const struct mixture *mixture)
{
    const int64_t count = context->config_table->length(context->config, mixture->exceptions);

    if (count > MODEL_LAYERS_MAX) {
        model_fail(context, TAPML_INVALID, "'%s' lists %lld layers, at most %d are possible",
                   mixture->exceptions + 1, (long long)count, MODEL_LAYERS_MAX);
    }
}

static void read_mixture(struct model_context *context, int64_t hidden, struct mixture *out_mixture)
{
    const tapml_host_config *table = context->config_table;
    struct mixture mixture = {.hidden = hidden, .exceptions = "/mlp_only_layers"};
    const char *shared = "/shared_expert_intermediate_size";

    mixture.experts =
        model_config_count_of(context, "/num_experts|/num_local_experts", 512, MODEL_EXPERTS_MAX);
    mixture.chosen = model_config_count_of(context, "/num_experts_per_tok", 10, MODEL_EXPERTS_MAX);
    mixture.width = model_config_count_of(context, "/moe_intermediate_size", 512, MODEL_WIDTH_MAX);
    mixture.shared = table->i64(context->config, shared, 512);
    mixture.dense = model_config_count_of(context, "/intermediate_size", 5632, MODEL_WIDTH_MAX);
    mixture.period = model_config_count_of(context, "/decoder_sparse_step", 1, MODEL_LAYERS_MAX);
    mixture.routing = table->boolean(context->config, "/norm_topk_prob", 1)
                          ? MODEL_ROUTING_SOFTMAX_RENORMALISED
                          : MODEL_ROUTING_SOFTMAX;
    if (mixture.shared != 0) {
        mixture.shared = model_config_count_of(context, shared, 512, MODEL_WIDTH_MAX);
    }
    if (mixture.chosen > mixture.experts) {
        model_fail(context, TAPML_INVALID, "'num_experts_per_tok' is %lld, there are %lld experts",
                   (long long)mixture.chosen, (long long)mixture.experts);
    }
    check_exceptions(context, &mixture);
    *out_mixture = mixture;
}

// The number at a place of the list of exceptions.
static int64_t
exception_at(struct model_context *context, const struct mixture *mixture, int64_t index)
{
    struct model_name pointer;

    snprintf(pointer.text, sizeof(pointer.text), "%s/%lld", mixture->exceptions, (long long)index);
    return context->config_table->i64(context->config, pointer.text, -1);
}

static int has_experts(struct model_context *context, const struct mixture *mixture)
{
    const int64_t count = context->config_table->length(context->config, mixture->exceptions);

    for (int64_t i = 0; i < count; i++) {
        if (exception_at(context, mixture, i) == context->layer) {
            return 0;
        }
    }
    return (context->layer + 1) % mixture->period == 0;
}

// down(silu(gate x) * up x), of tensors whose names begin with `tensor`.
static tapml_graph_value glu(struct model_context *context,
                             const struct mixture *mixture,
                             const char *tensor,
                             int64_t width,
                             tapml_graph_value x)
{
    const struct model_name gate = model_name(context, tensor, context->layer, ".gate_proj");
    const struct model_name up = model_name(context, tensor, context->layer, ".up_proj");
    const struct model_name down = model_name(context, tensor, context->layer, ".down_proj");
    const int64_t hidden = mixture->hidden;
    tapml_graph_value y = model_activation(
        context, "silu", model_linear_of(context, "gate_proj", gate.text, x, hidden, width));

    y = model_multiply(context, "mul", y,
                       model_linear_of(context, "up_proj", up.text, x, hidden, width));
    return model_linear_of(context, "down_proj", down.text, y, width, hidden);
}

// The product with one linear layer of the experts that each token chose.
static tapml_graph_value chosen(struct model_context *context,
                                const struct mixture *mixture,
                                const char *name,
                                const int64_t out_in[2],
                                const struct model_route *route,
                                tapml_graph_value x)
{
    tapml_graph_value weights[MODEL_EXPERTS_MAX];
    char tensor[64];

    snprintf(tensor, sizeof(tensor), "model.layers.{i}.mlp.experts.{e}.%s", name);
    for (context->expert = 0; context->expert < mixture->experts; context->expert++) {
        const struct model_name whole = model_name(context, tensor, context->layer, ".weight");

        weights[context->expert] = model_weight(context, whole.text, out_in, 2);
    }
    return model_linear_experts(
        context, name, x, route->indices,
        &(struct model_experts_linear){.weights = weights, .count = (uint32_t)mixture->experts});
}

static tapml_graph_value
experts(struct model_context *context, const struct mixture *mixture, tapml_graph_value x)
{
    const int64_t wide[] = {mixture->width, mixture->hidden};
    const int64_t narrow[] = {mixture->hidden, mixture->width};
    const tapml_graph_value scores = model_linear_of(context, "router", "model.layers.{i}.mlp.gate",
                                                     x, mixture->hidden, mixture->experts);
    const struct model_route route =
        model_route(context, mixture->routing, scores, mixture->chosen);
    const tapml_graph_value slots = model_in_heads(context, x, 1, mixture->hidden);
    tapml_graph_value y = model_activation(
        context, "silu", chosen(context, mixture, "gate_proj", wide, &route, slots));

    y = model_multiply(context, "mul", y, chosen(context, mixture, "up_proj", wide, &route, slots));
    y = chosen(context, mixture, "down_proj", narrow, &route, y);
    return model_weighted_sum(context, "weighted_sum", y, route.weights);
}

// sigmoid(gate x) * shared(x); without a tensor for it there is no gate.
static tapml_graph_value
shared(struct model_context *context, const struct mixture *mixture, tapml_graph_value x)
{
    static const char tensor[] = "model.layers.{i}.mlp.shared_expert_gate";
    const int64_t shape[] = {1, mixture->hidden};
    const struct model_name name = model_name(context, tensor, context->layer, ".weight");
    tapml_graph_value y =
        glu(context, mixture, "model.layers.{i}.mlp.shared_expert", mixture->shared, x);

    if (model_has_tensor(context, name.text, shape, 2, 1)) {
        const tapml_graph_value gate = model_sigmoid(
            context, "sigmoid", model_linear_of(context, "gate", tensor, x, mixture->hidden, 1));

        y = model_multiply(context, "gated", y, model_repeat(context, gate, 1, mixture->hidden));
    }
    return y;
}

tapml_graph_value
mixture_mlp(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    struct mixture mixture;

    read_mixture(context, block->sizes->hidden, &mixture);
    if (context->status != TAPML_OK) {
        return 0; // Sizes that are refused may be 0.
    }
    if (!has_experts(context, &mixture)) {
        return glu(context, &mixture, "model.layers.{i}.mlp", mixture.dense, x);
    }

    tapml_graph_value y = experts(context, &mixture, x);

    if (mixture.shared > 0) {
        model_scope_begin(context, "shared");
        const tapml_graph_value other = shared(context, &mixture, x);

        model_scope_end(context);
        y = model_add(context, "shared_add", y, other);
    }
    return y;
}
