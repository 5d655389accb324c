// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mixtures of experts (arXiv 1701.06538): a router chooses, chosen experts are added up.
#include <tapml/model/block.h>

#include <stdio.h>
#include <string.h>

// -- What the config says ------------------------------------------------------------------------

static void read_groups(struct model_context *context,
                        const struct model_decoder_experts *keys,
                        struct model_experts *own)
{
    own->groups =
        model_config_count_of(context, keys->groups, keys->groups_fallback, MODEL_EXPERTS_MAX);
    own->kept_groups = model_config_count_of(context, keys->kept_groups, keys->kept_groups_fallback,
                                             MODEL_EXPERTS_MAX);
    if (context->status != TAPML_OK) {
        return;
    }
    if (own->count % own->groups != 0) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, which does not divide %lld experts",
                   keys->groups + 1, (long long)own->groups, (long long)own->count);
    } else if (own->kept_groups > own->groups) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, there are %lld groups",
                   keys->kept_groups + 1, (long long)own->kept_groups, (long long)own->groups);
    } else if (own->chosen > own->kept_groups * (own->count / own->groups)) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, which %lld of %lld groups do not have",
                   keys->chosen + 1, (long long)own->chosen, (long long)own->kept_groups,
                   (long long)own->groups);
    }
}

static void read_routing(struct model_context *context,
                         const struct model_decoder_experts *keys,
                         struct model_experts *own)
{
    const int renormalises =
        model_config_boolean_of(context, keys->renormalises, keys->renormalises_fallback);
    static const char *const methods[] = {"greedy", "group_limited_greedy", NULL};
    const char *method = keys->method != NULL
                             ? model_config_choice(context, keys->method, methods[0], methods)
                             : methods[0];

    own->routing = keys->routing;
    if (strcmp(method, methods[1]) == 0) {
        own->routing = MODEL_ROUTING_GROUPS;
    }
    if (renormalises) {
        own->routing = own->routing == MODEL_ROUTING_SIGMOID ? MODEL_ROUTING_SIGMOID_RENORMALISED
                                                             : MODEL_ROUTING_SOFTMAX_RENORMALISED;
    }
    if (own->routing == MODEL_ROUTING_GROUPS || own->routing == MODEL_ROUTING_SIGMOID ||
        own->routing == MODEL_ROUTING_SIGMOID_RENORMALISED) {
        read_groups(context, keys, own);
    } else if (keys->groups != NULL) {
        context->config_table->ignore(context->config, keys->groups);
        context->config_table->ignore(context->config, keys->kept_groups);
    }
}

static void read_experts(struct model_context *context,
                         const struct model_decoder_experts *keys,
                         struct model_experts *own)
{
    own->count =
        model_config_count_of(context, keys->count, keys->count_fallback, MODEL_EXPERTS_MAX);
    own->chosen =
        model_config_count_of(context, keys->chosen, keys->chosen_fallback, MODEL_EXPERTS_MAX);
    own->width = model_config_count_of(context, keys->width, keys->width_fallback, MODEL_WIDTH_MAX);
    own->period = model_config_count_of(context, keys->period, 1, MODEL_LAYERS_MAX);
    own->factor = model_config_number_of(context, keys->factor, keys->factor_fallback);
    if (keys->first != NULL) {
        own->first = context->config_table->i64(
            context->config, model_config_key(context, keys->first).text, keys->first_fallback);
    }
    if (keys->shared != NULL && !context->config_table->is_null(context->config, keys->shared)) {
        own->shared =
            model_config_count_of(context, keys->shared, keys->shared_fallback, MODEL_EXPERTS_MAX);
    }
    read_routing(context, keys, own);
    if (context->status == TAPML_OK && own->chosen > own->count) {
        model_fail(context, TAPML_INVALID, "'%s': %lld experts for a token, there are %lld",
                   model_config_key(context, keys->chosen).text + 1, (long long)own->chosen,
                   (long long)own->count);
    }
}

// Whether the config lists the layer among those without experts.
static int is_dense(struct model_context *context, const char *list, int64_t index)
{
    const int64_t length = list != NULL ? context->config_table->length(context->config, list) : 0;

    for (int64_t i = 0; i < length; i++) {
        struct model_name pointer;

        snprintf(pointer.text, sizeof(pointer.text), "%.200s/%lld", list, (long long)i);
        if (context->config_table->i64(context->config, pointer.text, -1) == index) {
            return 1;
        }
    }
    return 0;
}

int model_experts_are_in(struct model_context *context, const struct model_block *block)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    struct model_experts own = {0};

    read_experts(context, keys, &own);
    return context->status == TAPML_OK && context->layer >= own.first &&
           (context->layer + 1) % own.period == 0 &&
           !is_dense(context, keys->dense, context->layer);
}

// -- Products ------------------------------------------------------------------------------------

// The tensors of one linear layer of all experts, and their biases.
struct stack {
    tapml_graph_value weights[MODEL_EXPERTS_MAX], biases[MODEL_EXPERTS_MAX];
};

// One tensor for each expert: `tensor` without its ".weight".
static tapml_graph_value separate(struct model_context *context,
                                  const struct model_experts *experts,
                                  const char *name,
                                  const struct model_linear *linear,
                                  tapml_graph_value x)
{
    const int64_t shape[] = {linear->out, linear->in};
    struct stack stack;

    for (context->expert = 0; context->expert < experts->count; context->expert++) {
        const struct model_name whole =
            model_name(context, linear->tensor, context->layer, ".weight");

        stack.weights[context->expert] = model_weight(context, whole.text, shape, 2);
    }
    return model_linear_experts(context, name, x, experts->route.indices,
                                &(struct model_experts_linear){.weights = stack.weights,
                                                               .count = (uint32_t)experts->count});
}

tapml_graph_value model_experts_stacked(struct model_context *context,
                                        const struct model_experts *experts,
                                        const char *name,
                                        const struct model_linear *linear,
                                        tapml_graph_value x)
{
    const int64_t shape[] = {experts->count, linear->in, linear->out};
    const int64_t bias_shape[] = {experts->count, linear->out};
    const struct model_name bias = model_name(context, linear->tensor, context->layer, "_bias");
    const tapml_graph_value weights = model_weight(context, linear->tensor, shape, 3);
    const tapml_graph_value biases = model_weight(context, bias.text, bias_shape, 2);
    struct stack stack;

    for (int64_t e = 0; e < experts->count; e++) {
        stack.weights[e] =
            model_reshape(context, model_slice(context, weights, 0, e, e + 1), shape + 1, 2);
        stack.biases[e] =
            model_reshape(context, model_slice(context, biases, 0, e, e + 1), bias_shape + 1, 1);
    }
    return model_linear_experts(context, name, x, experts->route.indices,
                                &(struct model_experts_linear){.weights = stack.weights,
                                                               .biases = stack.biases,
                                                               .count = (uint32_t)experts->count,
                                                               .is_transposed = 1});
}

tapml_graph_value model_experts_separate(struct model_context *context,
                                         const struct model_block *block,
                                         const struct model_experts *experts,
                                         tapml_graph_value x)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const int64_t hidden = block->sizes->hidden, width = experts->width;
    const struct model_linear gate = {.tensor = keys->tensors.gate, .in = hidden, .out = width};
    const struct model_linear up = {.tensor = keys->tensors.up, .in = hidden, .out = width};
    const struct model_linear down = {.tensor = keys->tensors.down, .in = width, .out = hidden};
    tapml_graph_value y = model_activation(context, block->sizes->activation,
                                           separate(context, experts, "gate_proj", &gate, x));

    y = model_multiply(context, "mul", y, separate(context, experts, "up_proj", &up, x));
    return separate(context, experts, "down_proj", &down, y);
}

// -- The mixture ---------------------------------------------------------------------------------

// The experts of each token, and how much of each it takes.
static struct model_route choose(struct model_context *context,
                                 const struct model_decoder_experts *keys,
                                 const struct model_experts *own,
                                 tapml_graph_value scores)
{
    struct model_groups groups = {.routing = own->routing,
                                  .experts = own->count,
                                  .groups = own->groups,
                                  .kept = own->kept_groups,
                                  .chosen = own->chosen};
    struct model_route route;

    if (own->groups == 0) {
        route = model_route(context, own->routing, scores, own->chosen);
    } else {
        if (keys->tensors.bias != NULL) {
            groups.bias = model_weight(context, keys->tensors.bias, &own->count, 1);
        }
        route = model_route_groups(context, &groups, scores);
    }
    if (own->factor > 0 && own->factor != 1) {
        route.weights = model_scale(context, "route_scale", route.weights, own->factor);
    }
    return route;
}

// What every token takes besides.
static tapml_graph_value add_shared(struct model_context *context,
                                    const struct model_block *block,
                                    const struct model_experts *own,
                                    tapml_graph_value x,
                                    tapml_graph_value y)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const struct model_mlp mlp = {keys->tensors.shared_gate, keys->tensors.shared_up,
                                  keys->tensors.shared_down, own->shared * own->width};

    model_scope_begin(context, "shared");

    const tapml_graph_value shared = model_mlp_gated_of(context, block, &mlp, x);

    model_scope_end(context);
    return model_add(context, "add_shared", y, shared);
}

tapml_graph_value model_mlp_experts(struct model_context *context,
                                    const struct model_block *block,
                                    tapml_graph_value x)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    model_experts_fn *products = keys->products != NULL ? keys->products : model_experts_separate;
    const int64_t slots[] = {TAPML_SYM_TOKENS, 1, block->sizes->hidden};
    struct model_experts own = {0};

    read_experts(context, keys, &own);
    const struct model_linear router = {.tensor = keys->tensors.router,
                                        .in = block->sizes->hidden,
                                        .out = own.count,
                                        .has_bias = keys->has_router_bias};

    own.route = choose(context, keys, &own, model_linear(context, "router", x, &router));
    tapml_graph_value y = products(context, block, &own, model_reshape(context, x, slots, 3));

    y = model_weighted_sum(context, "weighted_sum", y, own.route.weights);
    return own.shared > 0 ? add_shared(context, block, &own, x, y) : y;
}
