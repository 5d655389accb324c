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

// Null and 0 are none.
static int64_t read_shared(struct model_context *context, const struct model_decoder_experts *keys)
{
    const struct model_name key = model_config_key(context, keys->shared);

    if (keys->shared == NULL || context->config_table->is_null(context->config, key.text) ||
        context->config_table->i64(context->config, key.text, keys->shared_fallback) == 0) {
        return 0;
    }
    return model_config_count(context, key.text, keys->shared_fallback, MODEL_EXPERTS_MAX);
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
    own->factor = model_config_factor(context, keys->factor, keys->factor_fallback);
    if (keys->first != NULL) {
        own->first = context->config_table->i64(
            context->config, model_config_key(context, keys->first).text, keys->first_fallback);
    }
    own->shared = read_shared(context, keys);
    read_routing(context, keys, own);
    if (context->status == TAPML_OK && own->chosen > own->count) {
        model_fail(context, TAPML_INVALID, "'%s': %lld experts for a token, there are %lld",
                   model_config_key(context, keys->chosen).text + 1, (long long)own->chosen,
                   (long long)own->count);
    }
}

// Reads the config for the first layer that asks.
static const struct model_experts *experts_of(struct model_context *context,
                                              const struct model_block *block)
{
    if (block->experts->count == 0) {
        read_experts(context, block->decoder->experts, block->experts);
    }
    return block->experts;
}

int model_experts_layer(struct model_context *context, const struct model_block *block)
{
    const struct model_experts *own = experts_of(context, block);
    // Read in every layer: the list may name none that could have experts.
    const int is_dense =
        model_config_lists(context, block->decoder->experts->dense, context->layer);

    return context->status == TAPML_OK && context->layer >= own->first &&
           (context->layer + 1) % own->period == 0 && !is_dense;
}

int model_experts_are_in(struct model_context *context, const struct model_block *block)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    model_experts_layer_fn *layer =
        keys != NULL && keys->layer != NULL ? keys->layer : model_experts_layer;

    return keys != NULL && layer(context, block);
}

// -- Products ------------------------------------------------------------------------------------

// The tensors of one linear layer of all experts, and their biases.
struct stack {
    tapml_graph_value weights[MODEL_EXPERTS_MAX], biases[MODEL_EXPERTS_MAX];
};

// One tensor for each expert: `tensor` without its ".weight"; all have a bias if the first has.
static tapml_graph_value separate(struct model_context *context,
                                  const struct model_experts *experts,
                                  const char *name,
                                  const struct model_linear *linear,
                                  tapml_graph_value x)
{
    const int64_t shape[] = {linear->out, linear->in};
    struct stack stack;
    struct model_name part;

    for (context->expert = 0; context->expert < experts->count; context->expert++) {
        part = model_name(context, linear->tensor, context->layer, ".weight");
        stack.weights[context->expert] = model_weight(context, part.text, shape, 2);
    }
    context->expert = 0;
    part = model_name(context, linear->tensor, context->layer, ".bias");
    const int has_biases = model_has_tensor(context, part.text, shape, 1, linear->has_bias);

    for (; has_biases && context->expert < experts->count; context->expert++) {
        part = model_name(context, linear->tensor, context->layer, ".bias");
        stack.biases[context->expert] = model_weight(context, part.text, shape, 1);
    }
    return model_linear_experts(
        context, name, x, experts->route.indices,
        &(struct model_experts_linear){.weights = stack.weights,
                                       .biases = has_biases ? stack.biases : NULL,
                                       .count = (uint32_t)experts->count});
}

// The parts of one tensor for all experts, which has them on its first axis.
static void unstack(struct model_context *context,
                    const char *tensor,
                    const int64_t *shape,
                    uint32_t rank,
                    tapml_graph_value *out_parts)
{
    const tapml_graph_value whole = model_weight(context, tensor, shape, rank);

    for (int64_t e = 0; e < shape[0]; e++) {
        out_parts[e] =
            model_reshape(context, model_slice(context, whole, 0, e, e + 1), shape + 1, rank - 1);
    }
}

// The tensors of all experts, of which `part` names that of the context's expert.
static void
list_parts(struct model_context *context, const char *part, const int64_t *shape, struct stack *out)
{
    for (context->expert = 0; context->expert < shape[0]; context->expert++) {
        out->weights[context->expert] = model_weight(context, part, shape + 1, 2);
    }
}

tapml_graph_value model_experts_stacked(struct model_context *context,
                                        const struct model_experts *experts,
                                        const char *name,
                                        const struct model_linear *linear,
                                        tapml_graph_value x)
{
    const int is_turned = model_linear_is_transposed(context, linear);
    const int64_t in_out[] = {experts->count, linear->in, linear->out};
    const int64_t out_in[] = {experts->count, linear->out, linear->in};
    const int64_t biases[] = {experts->count, linear->out};
    const struct model_name bias = model_name(context, linear->tensor, context->layer, "_bias");
    const struct model_name part = model_name(context, linear->tensor, context->layer, ".{e}");
    struct stack stack;

    // The host takes a quantised stack apart, whose matrices are [out, in].
    context->expert = 0;
    const int is_apart = model_has_tensor(context, part.text, out_in + 1, 2, 0);
    const int is_transposed = is_turned && !is_apart;

    if (is_apart) {
        list_parts(context, part.text, out_in, &stack);
    } else {
        unstack(context, linear->tensor, is_transposed ? in_out : out_in, 3, stack.weights);
    }
    if (linear->has_bias) {
        unstack(context, bias.text, biases, 2, stack.biases);
    }
    return model_linear_experts(
        context, name, x, experts->route.indices,
        &(struct model_experts_linear){.weights = stack.weights,
                                       .biases = linear->has_bias ? stack.biases : NULL,
                                       .count = (uint32_t)experts->count,
                                       .is_transposed = is_transposed});
}

tapml_graph_value model_experts_separate(struct model_context *context,
                                         const struct model_block *block,
                                         const struct model_experts *experts,
                                         tapml_graph_value x)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const int64_t hidden = block->sizes->hidden, width = experts->width;
    const int has_bias = block->sizes->has_mlp_biases;
    const struct model_linear gate = {
        .tensor = keys->tensors.gate, .in = hidden, .out = width, .has_bias = has_bias};
    const struct model_linear up = {
        .tensor = keys->tensors.up, .in = hidden, .out = width, .has_bias = has_bias};
    const struct model_linear down = {
        .tensor = keys->tensors.down, .in = width, .out = hidden, .has_bias = has_bias};
    tapml_graph_value y = model_activation(context, block->sizes->activation,
                                           separate(context, experts, "gate_proj", &gate, x));

    y = model_multiply(context, "mul", y, separate(context, experts, "up_proj", &up, x));
    return separate(context, experts, "down_proj", &down, y);
}

tapml_graph_value model_experts_fused(struct model_context *context,
                                      const struct model_block *block,
                                      const struct model_experts *experts,
                                      int is_transposed,
                                      tapml_graph_value x)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const int64_t hidden = block->sizes->hidden, width = experts->width;
    const struct model_linear gate_up = {.tensor = keys->tensors.gate,
                                         .in = hidden,
                                         .out = 2 * width,
                                         .is_transposed = is_transposed};
    const struct model_linear down = {
        .tensor = keys->tensors.down, .in = width, .out = hidden, .is_transposed = is_transposed};
    const tapml_graph_value both =
        model_experts_stacked(context, experts, "gate_up_proj", &gate_up, x);
    const tapml_graph_value gate = model_activation(context, block->sizes->activation,
                                                    model_slice(context, both, 2, 0, width));
    const tapml_graph_value up = model_slice(context, both, 2, width, 2 * width);

    return model_experts_stacked(context, experts, "down_proj", &down,
                                 model_multiply(context, "mul", gate, up));
}

// -- The mixture ---------------------------------------------------------------------------------

struct model_route model_experts_choice(struct model_context *context,
                                        const struct model_block *block,
                                        const struct model_experts *own,
                                        tapml_graph_value scores)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
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

// What every token takes in addition.
static tapml_graph_value add_shared(struct model_context *context,
                                    const struct model_block *block,
                                    const struct model_experts *own,
                                    tapml_graph_value x,
                                    tapml_graph_value y)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    const struct model_mlp mlp = {keys->tensors.shared_gate, keys->tensors.shared_up,
                                  keys->tensors.shared_down, own->shared * own->width};

    if (own->shared == 0 && keys->besides == NULL) {
        return y;
    }
    model_scope_begin(context, "shared");

    const tapml_graph_value shared = keys->besides != NULL
                                         ? keys->besides(context, block, x)
                                         : model_mlp_gated_of(context, block, &mlp, x);

    model_scope_end(context);
    return model_add(context, "add_shared", y, shared);
}

// What each chosen expert takes: x, for which one slot is enough, or a part of it.
static tapml_graph_value spread(struct model_context *context,
                                const struct model_block *block,
                                const struct model_experts *own,
                                tapml_graph_value x)
{
    const int64_t hidden = block->sizes->hidden;
    const int64_t one[] = {TAPML_SYM_TOKENS, 1, hidden};
    const int64_t parts[] = {TAPML_SYM_TOKENS, own->chosen, 1};
    const tapml_graph_value slot = model_reshape(context, x, one, 3);

    if (!block->decoder->experts->weighs_inputs) {
        return slot;
    }
    const tapml_graph_value weights = model_reshape(context, own->route.weights, parts, 3);

    return model_multiply(context, "weighted", model_repeat(context, slot, 1, own->chosen),
                          model_repeat(context, weights, 2, hidden));
}

// The sum of what the chosen experts give, y [T, chosen, hidden], by their weights unless these are
// in it already.
static tapml_graph_value gather(struct model_context *context,
                                const struct model_block *block,
                                const struct model_experts *own,
                                tapml_graph_value y)
{
    const int64_t row[] = {TAPML_SYM_TOKENS, block->sizes->hidden};
    tapml_graph_value sum;

    if (!block->decoder->experts->weighs_inputs) {
        return model_weighted_sum(context, "weighted_sum", y, own->route.weights);
    }
    sum = model_reshape(context, model_slice(context, y, 1, 0, 1), row, 2);
    for (int64_t i = 1; i < own->chosen; i++) {
        const tapml_graph_value next = model_slice(context, y, 1, i, i + 1);

        sum = model_add(context, model_name(context, "sum.{i}", i, "").text, sum,
                        model_reshape(context, next, row, 2));
    }
    return sum;
}

tapml_graph_value model_mlp_experts(struct model_context *context,
                                    const struct model_block *block,
                                    tapml_graph_value x)
{
    const struct model_decoder_experts *keys = block->decoder->experts;
    model_experts_choice_fn *choice = keys->choice != NULL ? keys->choice : model_experts_choice;
    model_experts_fn *products = keys->products != NULL ? keys->products : model_experts_separate;
    struct model_experts own = *experts_of(context, block);

    if (context->status != TAPML_OK) {
        return 0; // The counts may be beyond all limits.
    }
    const struct model_linear router = {.tensor = keys->tensors.router,
                                        .in = block->sizes->hidden,
                                        .out = own.count,
                                        .has_bias = keys->has_router_bias};

    own.route = choice(context, block, &own, model_linear(context, "router", x, &router));
    const tapml_graph_value y = products(context, block, &own, spread(context, block, &own, x));

    return add_shared(context, block, &own, x, gather(context, block, &own, y));
}
