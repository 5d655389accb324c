// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "blocks.h"

#include <string.h>

static struct model_name tensor_of(struct model_context *context, const char *part)
{
    return model_name(context, "rwkv.blocks.{i}.", context->layer, part);
}

static const char *last_word(const char *part)
{
    return strrchr(part, '.') + 1;
}

tapml_graph_value
blocks_vector(struct model_context *context, const struct blocks *blocks, const char *part)
{
    const int64_t shape[] = {1, 1, blocks->stack->hidden};

    return rwkv_vector(context, last_word(part), tensor_of(context, part).text, shape, 3);
}

tapml_graph_value blocks_project(
    struct model_context *context, const char *part, tapml_graph_value x, int64_t in, int64_t out)
{
    return model_linear_of(context, last_word(part), tensor_of(context, part).text, x, in, out);
}

// -- The config ----------------------------------------------------------------------------------

// Older configs keep the width of a head under the number of heads.
static void read_heads(struct model_context *context, struct blocks *own)
{
    const int64_t hidden = own->stack->hidden;
    const double divisor =
        model_config_factor(context, "/head_size_divisor", own->version->divisor);

    own->heads.width =
        model_config_count_of(context, "/head_size|/num_attention_heads", 64, MODEL_HEADS_MAX);
    own->head_eps = 1e-5 * divisor * divisor;
    if (context->status == TAPML_OK && hidden % own->heads.width != 0) {
        model_fail(context, TAPML_INVALID,
                   "'hidden_size' is %lld, no multiple of 'head_size', %lld", (long long)hidden,
                   (long long)own->heads.width);
    }
    own->heads.count = own->heads.width > 0 ? hidden / own->heads.width : 1;
    if (own->attention != hidden) {
        model_fail(context, TAPML_UNIMPLEMENTED,
                   "'attention_hidden_size' is %lld, not 'hidden_size', %lld",
                   (long long)own->attention, (long long)hidden);
    }
    if (!(own->head_eps > 0 && own->head_eps <= 1)) {
        model_fail(context, TAPML_INVALID, "'head_size_divisor' is %g, expected above 0, up to 300",
                   divisor);
    }
}

static void read_own(struct model_context *context, struct blocks *own)
{
    const tapml_host_config *table = context->config_table;

    own->attention = model_config_count_of(context, "/attention_hidden_size", own->stack->hidden,
                                           MODEL_WIDTH_MAX);
    static const char *const unread[] = {
        "/context_length", "/max_context_length", "/max_position_embeddings",
        "/n_positions",    "/hidden_act",         "/activation_function"};

    for (size_t i = 0; i < sizeof(unread) / sizeof(*unread); i++) {
        table->ignore(context->config, unread[i]);
    }
    if (own->version->divisor > 0) {
        read_heads(context, own);
    }
    if (own->version->number != NULL) {
        table->expect(context->config, "/model_version", own->version->number);
    }
    own->back = rwkv_back(context, own->stack->hidden);
}

// The tensor knows it: classes compute a width of their own, whatever a config says.
static int64_t mlp_width(struct model_context *context, const struct blocks *own)
{
    const int64_t hidden = own->stack->hidden;
    const int64_t usual = (int64_t)((double)hidden * own->version->ratio);
    const int64_t shape[] = {
        model_config_count_of(context, "/intermediate_size",
                              own->version->is_rounded && usual >= 32 ? usual / 32 * 32 : usual,
                              MODEL_WIDTH_MAX),
        hidden};

    return stack_extent(context, "rwkv.blocks.{i}.feed_forward.key.weight", shape, 2, 0);
}

// -- The halves ----------------------------------------------------------------------------------

tapml_graph_value blocks_mix_between(struct model_context *context,
                                     const struct blocks *blocks,
                                     const char *tensor,
                                     const struct rwkv_shifted *shifted)
{
    model_scope_begin(context, last_word(tensor));
    const tapml_graph_value before = model_add(context, "before", shifted->x, shifted->d);
    const tapml_graph_value y = model_subtract(
        context, "sub", before,
        model_multiply(context, "mul", shifted->d, blocks_vector(context, blocks, tensor)));

    model_scope_end(context);
    return y;
}

// Reads the state before a token joins it: the token itself counts by its bonus.
tapml_graph_value blocks_attend_heads(struct model_context *context,
                                      const struct blocks *blocks,
                                      const struct blocks_parts *parts)
{
    const int64_t hidden = blocks->stack->hidden, count = blocks->heads.count;
    const int64_t width = blocks->heads.width, state[] = {count, width, width};
    const tapml_graph_value r_k_v[] = {
        blocks_project(context, "attention.receptance", parts->r, hidden, hidden),
        blocks_project(context, "attention.key", parts->k, hidden, hidden),
        blocks_project(context, "attention.value", parts->v, hidden, hidden)};
    const tapml_graph_value gate = model_activation(
        context, "silu", blocks_project(context, "attention.gate", parts->g, hidden, hidden));
    const struct model_scan scan = {
        .r = model_in_heads(context, r_k_v[0], count, width),
        .w = parts->w,
        .k = model_in_heads(context, r_k_v[1], count, width),
        .v = model_in_heads(context, r_k_v[2], count, width),
        .state = model_fixed_state(context, "layers.{i}/attn/state", state, 3),
        .reads_before = 1,
    };
    tapml_graph_value y = model_in_rows(context, model_linear_scan(context, "scan", &scan), hidden);

    y = model_add(context, "bonus_add", y,
                  rwkv_bonus(context, &blocks->heads,
                             tensor_of(context, "attention.time_faaaa").text, r_k_v));
    y = rwkv_norm_heads(context, &blocks->heads, "ln_x", tensor_of(context, "attention.ln_x").text,
                        blocks->head_eps, model_in_heads(context, y, count, width));
    return blocks_project(context, "attention.output", model_multiply(context, "gated", y, gate),
                          hidden, hidden);
}

// sigmoid(receptance x_r) value(relu(key x_k)^2)
static tapml_graph_value feed_forward(struct model_context *context,
                                      const struct blocks *own,
                                      const struct rwkv_shifted *shifted)
{
    const struct blocks_version *version = own->version;
    const int64_t hidden = own->stack->hidden, width = mlp_width(context, own);
    const tapml_graph_value keys = version->mix(context, own, version->mixed_keys, shifted);
    const tapml_graph_value gates = version->mix(context, own, version->mixed_gates, shifted);
    const tapml_graph_value gate =
        model_sigmoid(context, "sigmoid",
                      blocks_project(context, "feed_forward.receptance", gates, hidden, hidden));
    tapml_graph_value y = blocks_project(context, "feed_forward.key", keys, hidden, width);

    y = blocks_project(context, "feed_forward.value", model_activation(context, "relu2", y), width,
                       hidden);
    return model_multiply(context, "gated", gate, y);
}

static tapml_graph_value
layer(struct model_context *context, const struct blocks *own, tapml_graph_value h)
{
    model_scope_begin(context, "attn");
    const struct rwkv_shifted first = rwkv_shift(
        context, own->stack, own->back, "layers.{i}/attn/last", tensor_of(context, "ln1").text, h);

    h = model_add(context, "add", h, own->version->attend(context, own, &first));
    model_scope_end(context);
    model_scope_begin(context, "ffn");
    const struct rwkv_shifted second = rwkv_shift(
        context, own->stack, own->back, "layers.{i}/ffn/last", tensor_of(context, "ln2").text, h);

    h = model_add(context, "add", h, feed_forward(context, own, &second));
    model_scope_end(context);
    return h;
}

tapml_graph_value blocks_layers(struct model_context *context,
                                const struct stack *stack,
                                const struct blocks_version *version,
                                tapml_graph_value h)
{
    struct blocks own = {.stack = stack, .version = version};

    context->layer = 0;
    read_own(context, &own);
    if (context->status != TAPML_OK) {
        return 0; // Sizes that are refused may be 0.
    }
    h = stack_norm(context, stack, "first_norm", "rwkv.blocks.0.pre_ln", h);
    for (context->layer = 0; context->layer < stack->layers; context->layer++) {
        if (!version->is_hidden_behind) {
            model_output_hidden(context, context->layer, h);
        }
        model_scope_begin(context, "layers.{i}");
        h = layer(context, &own, h);
        model_scope_end(context);
        if (version->is_hidden_behind) {
            model_output_hidden(context, context->layer, h);
        }
    }
    return h;
}
