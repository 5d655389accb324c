// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.h"

#include <tapml/model/layer.h>

#include <stdio.h>
#include <string.h>

// Of the first token of the call.
static tapml_value position(const struct model_context *context)
{
    return context->is_whole ? whole(0) : symbol(TAPML_SYM_POSITION);
}

void model_scope_begin(struct model_context *context, const char *name)
{
    const struct model_name whole_name = model_name(context, name, context->layer, "");

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->scope_begin(context->graph, context->call,
                                                              whole_name.text));
    }
}

void model_scope_end(struct model_context *context)
{
    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->scope_end(context->graph, context->call));
    }
}

tapml_graph_value model_input(struct model_context *context,
                              const char *name,
                              uint32_t from,
                              uint32_t dtype,
                              const int64_t *shape,
                              uint32_t rank)
{
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->input(context->graph, context->call, name, from,
                                                        dtype, shape, rank, NULL, &value));
    }
    return value;
}

tapml_graph_value model_input_or(struct model_context *context,
                                 const char *name,
                                 uint32_t dtype,
                                 const int64_t *shape,
                                 uint32_t rank,
                                 double fallback)
{
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context,
                   context->graph_table->input(context->graph, context->call, name, TAPML_FROM_USER,
                                               dtype, shape, rank, &fallback, &value));
    }
    return value;
}

tapml_graph_value
model_state(struct model_context *context, const char *name, int64_t heads, int64_t width)
{
    const int64_t shape[] = {TAPML_SYM_CAPACITY, heads, width};
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->state(context->graph, context->call, name,
                                                        TAPML_F32, shape, 3, 0, &value));
    }
    return value;
}

// The tensor `name` as the checkpoint calls it; "" after a failure.
static struct model_name tensor_name(struct model_context *context, const char *name)
{
    const struct model_renaming *renaming = &context->renaming;
    const size_t length = renaming->from != NULL ? strlen(renaming->from) : 0;
    const struct model_name whole = model_name(context, name, context->layer, "");
    struct model_name renamed = {""};

    if (renaming->from == NULL || strncmp(whole.text, renaming->from, length) != 0) {
        return whole;
    }
    if ((size_t)snprintf(renamed.text, sizeof(renamed.text), "%s%s", renaming->to,
                         whole.text + length) >= sizeof(renamed.text)) {
        model_fail(context, TAPML_INVALID, "the name '%.200s' is too long", name);
    }
    return renamed;
}

int model_has_tensor(struct model_context *context,
                     const char *name,
                     const int64_t *shape,
                     uint32_t rank,
                     int expected)
{
    const struct model_name whole = tensor_name(context, name);
    const tapml_tensor tensor_expected = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = rank, .shape = shape};

    return context->status == TAPML_OK &&
           context->weights_table->find(context->weights, whole.text,
                                        expected ? &tensor_expected : NULL) != NULL;
}

tapml_graph_value
model_weight(struct model_context *context, const char *name, const int64_t *shape, uint32_t rank)
{
    const struct model_name whole = tensor_name(context, name);
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->weight(context->graph, context->call, whole.text,
                                                         shape, rank, NULL, &value));
    }
    return value;
}

void model_read_weight(
    struct model_context *context, const char *name, int64_t first, int64_t count, double *out)
{
    const struct model_name whole = tensor_name(context, name);

    if (context->status == TAPML_OK) {
        model_note(context,
                   context->weights_table->read(context->weights, context->call, whole.text,
                                                (uint64_t)first, (uint64_t)count, out));
    }
}

// The weight `name` without its ".weight".
static tapml_graph_value
weight(struct model_context *context, const char *name, const int64_t *shape, uint32_t rank)
{
    return model_weight(context, model_name(context, name, context->layer, ".weight").text, shape,
                        rank);
}

// The bias of `name`, or 0 where it has none.
static tapml_graph_value
bias(struct model_context *context, const char *name, const int64_t *width, int expected)
{
    const struct model_name whole = model_name(context, name, context->layer, ".bias");

    return model_has_tensor(context, whole.text, width, 1, expected)
               ? model_weight(context, whole.text, width, 1)
               : 0;
}

tapml_graph_value model_reshape(struct model_context *context,
                                tapml_graph_value x,
                                const int64_t *shape,
                                uint32_t rank)
{
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->reshape(context->graph, context->call, x, shape,
                                                          rank, &value));
    }
    return value;
}

tapml_graph_value model_slice(
    struct model_context *context, tapml_graph_value x, uint32_t axis, int64_t begin, int64_t end)
{
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->slice(context->graph, context->call, x, axis,
                                                        begin, end, &value));
    }
    return value;
}

tapml_graph_value model_transpose(struct model_context *context,
                                  tapml_graph_value x,
                                  const uint32_t *axes,
                                  uint32_t rank)
{
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->transpose(context->graph, context->call, x, axes,
                                                            rank, &value));
    }
    return value;
}

tapml_graph_value
model_repeat(struct model_context *context, tapml_graph_value x, uint32_t axis, int64_t times)
{
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->repeat(context->graph, context->call, x, axis,
                                                         times, &value));
    }
    return value;
}

tapml_graph_value model_constant(struct model_context *context, const float *values, int64_t count)
{
    tapml_graph_value value = 0;

    if (context->status == TAPML_OK) {
        model_note(context, context->graph_table->constant(context->graph, context->call, TAPML_F32,
                                                           &count, 1, values, &value));
    }
    return value;
}

void model_output(struct model_context *context, const char *name, tapml_graph_value value)
{
    if (context->status == TAPML_OK) {
        model_note(context,
                   context->graph_table->output(context->graph, context->call, name, value));
    }
}

void model_output_hidden(struct model_context *context, int64_t index, tapml_graph_value value)
{
    model_output(context, model_name(context, "hidden.{i}", index, "").text, value);
}

int model_linear_is_transposed(struct model_context *context, const struct model_linear *linear)
{
    return linear->is_transposed &&
           context->config_table->boolean(context->config, "/transposed_weights", 1);
}

tapml_graph_value model_linear(struct model_context *context,
                               const char *name,
                               tapml_graph_value x,
                               const struct model_linear *linear)
{
    const int is_transposed = model_linear_is_transposed(context, linear);
    const int64_t in_out[] = {linear->in, linear->out};
    const int64_t out_in[] = {linear->out, linear->in};
    const tapml_graph_value w = weight(context, linear->tensor, is_transposed ? in_out : out_in, 2);
    const char *own = linear->bias != NULL ? linear->bias : linear->tensor;
    const tapml_graph_value b = bias(context, own, &linear->out, linear->has_bias);
    tapml_value args[] = {tensor(x), tensor(w), tensor(b), whole(is_transposed), result()};

    return add_op(context, name, "tapml.linear", args, COUNT(args));
}

tapml_graph_value model_embed(struct model_context *context,
                              const char *name,
                              tapml_graph_value ids,
                              const char *table,
                              int64_t rows,
                              int64_t width)
{
    const int64_t shape[] = {rows, width};

    return model_embed_value(context, name, ids, weight(context, table, shape, 2));
}

tapml_graph_value model_embed_value(struct model_context *context,
                                    const char *name,
                                    tapml_graph_value ids,
                                    tapml_graph_value table)
{
    tapml_value args[] = {tensor(table), tensor(ids), whole(0), result()};

    return add_op(context, name, "tapml.embed", args, COUNT(args));
}

tapml_graph_value model_rms_norm(struct model_context *context,
                                 const char *name,
                                 tapml_graph_value x,
                                 const struct model_norm *norm)
{
    tapml_graph_value w = 0;

    if (norm->tensor != NULL) {
        w = weight(context, norm->tensor, &norm->width, 1);
    }

    tapml_value args[] = {tensor(x), tensor(w), real(norm->eps), real(norm->offset), result()};

    return add_op(context, name, "tapml.rms_norm", args, COUNT(args));
}

// Whether the checkpoint calls the weight gamma, and the bias beta.
static int is_old(struct model_context *context, const struct model_norm *norm)
{
    const struct model_name gamma = model_name(context, norm->tensor, context->layer, ".gamma");

    return norm->has_old_names && model_has_tensor(context, gamma.text, &norm->width, 1, 0);
}

static tapml_graph_value layer_norm(struct model_context *context,
                                    const char *name,
                                    tapml_graph_value x,
                                    const struct model_norm *norm)
{
    tapml_graph_value w = 0, b = 0;

    if (norm->tensor != NULL && is_old(context, norm)) {
        w = model_weight(context, model_name(context, norm->tensor, context->layer, ".gamma").text,
                         &norm->width, 1);
        b = model_weight(context, model_name(context, norm->tensor, context->layer, ".beta").text,
                         &norm->width, 1);
    } else if (norm->tensor != NULL) {
        w = weight(context, norm->tensor, &norm->width, 1);
        b = bias(context, norm->tensor, &norm->width, norm->has_bias);
    }

    tapml_value args[] = {tensor(x),       tensor(w),          tensor(b),
                          real(norm->eps), real(norm->offset), result()};

    return add_op(context, name, "tapml.layer_norm", args, COUNT(args));
}

tapml_graph_value model_norm(struct model_context *context,
                             const char *name,
                             tapml_graph_value x,
                             const struct model_norm *norm)
{
    return norm->kind == MODEL_NORM_LAYER ? layer_norm(context, name, x, norm)
                                          : model_rms_norm(context, name, x, norm);
}

tapml_graph_value
model_add(struct model_context *context, const char *name, tapml_graph_value a, tapml_graph_value b)
{
    tapml_value args[] = {tensor(a), tensor(b), result()};

    return add_op(context, name, "tapml.add", args, COUNT(args));
}

tapml_graph_value model_copy(struct model_context *context, const char *name, tapml_graph_value x)
{
    tapml_value args[] = {tensor(x), result()};

    return add_op(context, name, "tapml.copy", args, COUNT(args));
}

tapml_graph_value model_concat(struct model_context *context,
                               const char *name,
                               tapml_graph_value a,
                               tapml_graph_value b)
{
    tapml_value args[] = {tensor(a), tensor(b), result()};

    return add_op(context, name, "tapml.concat", args, COUNT(args));
}

tapml_graph_value model_multiply(struct model_context *context,
                                 const char *name,
                                 tapml_graph_value a,
                                 tapml_graph_value b)
{
    tapml_value args[] = {tensor(a), tensor(b), result()};

    return add_op(context, name, "tapml.mul", args, COUNT(args));
}

tapml_graph_value
model_scale(struct model_context *context, const char *name, tapml_graph_value x, double factor)
{
    tapml_value args[] = {tensor(x), real(factor), result()};

    return add_op(context, name, "tapml.scale", args, COUNT(args));
}

tapml_graph_value
model_softcap(struct model_context *context, const char *name, tapml_graph_value x, double limit)
{
    tapml_value args[] = {tensor(x), real(limit), result()};

    return add_op(context, name, "tapml.softcap", args, COUNT(args));
}

// An op of one operand and no number, called by its own name.
static tapml_graph_value unary(struct model_context *context, const char *op, tapml_graph_value x)
{
    tapml_value args[] = {tensor(x), result()};

    return add_op(context, strchr(op, '.') + 1, op, args, COUNT(args));
}

// x * sigmoid(1.702 x), in a scope: what stands around an activation has a "scale" and a "gate"
// too.
static tapml_graph_value quick_gelu(struct model_context *context, tapml_graph_value x)
{
    model_scope_begin(context, "quick_gelu");
    const tapml_graph_value gate =
        unary(context, "tapml.sigmoid", model_scale(context, "scale", x, 1.702));
    const tapml_graph_value y = model_multiply(context, "gate", x, gate);

    model_scope_end(context);
    return y;
}

// Hugging Face's names, and what the catalogue calls them; behind them those that take more than
// one op.
static const char *const activation_names[] = {
    "silu", "swish",      "gelu",  "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "relu", "sigmoid",
    "tanh", "quick_gelu", "relu2", NULL};
static const char *const activation_ops[] = {
    "tapml.silu",      "tapml.silu", "tapml.gelu",    "tapml.gelu_tanh", "tapml.gelu_tanh",
    "tapml.gelu_tanh", "tapml.relu", "tapml.sigmoid", "tapml.tanh"};

const char *
model_config_activation(struct model_context *context, const char *pointer, const char *fallback)
{
    return model_config_choice(context, pointer, fallback, activation_names);
}

tapml_graph_value
model_activation(struct model_context *context, const char *kind, tapml_graph_value x)
{
    for (size_t i = 0; i < COUNT(activation_ops); i++) {
        if (strcmp(activation_names[i], kind) == 0) {
            return unary(context, activation_ops[i], x);
        }
    }
    if (strcmp(kind, "quick_gelu") == 0) {
        return quick_gelu(context, x);
    }
    if (strcmp(kind, "relu2") == 0) {
        const tapml_graph_value y = unary(context, "tapml.relu", x);

        return model_multiply(context, "square", y, y);
    }
    model_fail_choice(context, "activation", kind, activation_names);
    return 0;
}

tapml_graph_value
model_sigmoid(struct model_context *context, const char *name, tapml_graph_value x)
{
    tapml_value args[] = {tensor(x), result()};

    return add_op(context, name, "tapml.sigmoid", args, COUNT(args));
}

tapml_graph_value model_clip(
    struct model_context *context, const char *name, tapml_graph_value x, double low, double high)
{
    tapml_value args[] = {tensor(x), real(low), real(high), result()};

    return add_op(context, name, "tapml.clip", args, COUNT(args));
}

struct model_route model_route(struct model_context *context,
                               enum model_routing routing,
                               tapml_graph_value scores,
                               int64_t chosen)
{
    const int renormalises = routing == MODEL_ROUTING_SOFTMAX_RENORMALISED;
    tapml_value softmax[] = {tensor(scores), whole(chosen), whole(renormalises), result(),
                             result()};
    tapml_value topk[] = {tensor(scores), whole(chosen), result(), result()};
    struct model_route route;

    if (routing == MODEL_ROUTING_TOPK) {
        route.weights = add_op(context, "route", "tapml.route_topk", topk, COUNT(topk));
        route.indices = route.weights != 0 ? topk[2].u.id : 0;
    } else {
        route.weights = add_op(context, "route", "tapml.route_softmax", softmax, COUNT(softmax));
        route.indices = route.weights != 0 ? softmax[3].u.id : 0;
    }
    return route;
}

struct model_route model_route_groups(struct model_context *context,
                                      const struct model_groups *groups,
                                      tapml_graph_value scores)
{
    const int64_t size = groups->experts / groups->groups;
    const int64_t shape[] = {TAPML_SYM_TOKENS, groups->groups, size};
    const int renormalises = groups->routing == MODEL_ROUTING_SIGMOID_RENORMALISED;
    const tapml_graph_value bias =
        groups->bias != 0 ? model_reshape(context, groups->bias, shape + 1, 2) : 0;
    const tapml_value x = tensor(model_reshape(context, scores, shape, 3));
    tapml_value softmax[] = {x, whole(groups->kept), whole(groups->chosen), result(), result()};
    tapml_value sigmoid[] = {
        x,        tensor(bias), whole(groups->kept), whole(groups->chosen), whole(renormalises),
        result(), result()};
    struct model_route route;

    if (groups->routing == MODEL_ROUTING_GROUPS) {
        route.weights = add_op(context, "route", "tapml.route_groups", softmax, COUNT(softmax));
        route.indices = route.weights != 0 ? softmax[3].u.id : 0;
    } else {
        route.weights = add_op(context, "route", "tapml.route_sigmoid", sigmoid, COUNT(sigmoid));
        route.indices = route.weights != 0 ? sigmoid[5].u.id : 0;
    }
    return route;
}

struct model_route model_route_biased(struct model_context *context,
                                      tapml_graph_value scores,
                                      tapml_graph_value bias,
                                      int64_t chosen,
                                      double least)
{
    tapml_value args[] = {tensor(scores), tensor(bias), whole(chosen),
                          real(least),    result(),     result()};
    struct model_route route = {0, 0};

    route.weights = add_op(context, "route", "tapml.route_biased", args, COUNT(args));
    route.indices = route.weights != 0 ? args[4].u.id : 0;
    return route;
}

struct model_route model_route_sparsemixer(struct model_context *context,
                                           tapml_graph_value scores,
                                           int64_t chosen,
                                           double jitter)
{
    tapml_value args[] = {tensor(scores), whole(chosen), real(jitter), result(), result()};
    struct model_route route = {0, 0};

    route.weights = add_op(context, "route", "tapml.route_sparsemixer", args, COUNT(args));
    route.indices = route.weights != 0 ? args[3].u.id : 0;
    return route;
}

tapml_graph_value model_linear_experts(struct model_context *context,
                                       const char *name,
                                       tapml_graph_value x,
                                       tapml_graph_value indices,
                                       const struct model_experts_linear *experts)
{
    tapml_value args[] = {tensor(x),
                          tensor(indices),
                          list(experts->weights, experts->count),
                          list(experts->biases, experts->count),
                          whole(experts->is_transposed),
                          result()};

    return add_op(context, name, "tapml.linear_experts", args, COUNT(args));
}

tapml_graph_value model_weighted_sum(struct model_context *context,
                                     const char *name,
                                     tapml_graph_value x,
                                     tapml_graph_value weights)
{
    tapml_value args[] = {tensor(x), tensor(weights), result()};

    return add_op(context, name, "tapml.weighted_sum", args, COUNT(args));
}

tapml_graph_value model_rope(struct model_context *context,
                             const char *name,
                             tapml_graph_value x,
                             tapml_graph_value cosines,
                             tapml_graph_value sines,
                             int is_interleaved)
{
    tapml_value args[] = {tensor(x), tensor(cosines), tensor(sines), whole(is_interleaved),
                          result()};

    return add_op(context, name, "tapml.rope", args, COUNT(args));
}

void model_state_append(struct model_context *context,
                        const char *name,
                        tapml_graph_value state,
                        tapml_graph_value rows)
{
    tapml_value args[] = {tensor(state), tensor(rows), position(context)};

    add_op(context, name, "tapml.state_append", args, COUNT(args));
}

tapml_graph_value model_attention(struct model_context *context,
                                  const char *name,
                                  tapml_graph_value q,
                                  tapml_graph_value k_state,
                                  tapml_graph_value v_state,
                                  const struct model_attention *attention)
{
    tapml_value args[] = {
        tensor(q),
        tensor(k_state),
        tensor(v_state),
        tensor(attention->slopes),
        tensor(attention->sinks),
        tensor(attention->key_mask),
        position(context),
        real(attention->scale),
        whole(attention->is_causal),
        whole(attention->window),
        whole(attention->chunk),
        real(attention->softcap),
        whole(attention->has_rounded_slopes),
        result(),
    };

    return add_op(context, name, "tapml.attention", args, COUNT(args));
}

tapml_graph_value model_gather_rows(struct model_context *context,
                                    const char *name,
                                    tapml_graph_value x,
                                    tapml_graph_value rows)
{
    tapml_value args[] = {tensor(x), tensor(rows), result()};

    return add_op(context, name, "tapml.gather_rows", args, COUNT(args));
}
