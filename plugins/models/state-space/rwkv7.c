// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// RWKV-7 (arXiv 2503.14456), in the layout of flash-linear-attention. Both halves of a layer mix
// each token with the one before; the first half carries a matrix of each head, which decays by
// columns and forgets along a direction of its own. Most gates are products of two thin matrices.
#include "rwkv7.h"

#include "thin.h"

#include <string.h>

static const struct thin thin_w = {"w_lora", "attn.w_lora.lora.0",  "attn.w_lora.lora.2",
                                   "tanh",   "/decay_low_rank_dim", 1};
static const struct thin thin_a = {"a_lora", "attn.a_lora.lora.0", "attn.a_lora.lora.2",
                                   NULL,     "/a_low_rank_dim",    1};
static const struct thin thin_v = {"v_lora", "attn.v_lora.lora.0", "attn.v_lora.lora.2",
                                   NULL,     "/v_low_rank_dim",    1};
static const struct thin thin_g = {"g_lora",  "attn.g_lora.lora.0", "attn.g_lora.lora.2",
                                   "sigmoid", "/gate_low_rank_dim", 0};

// The tensor `part` of the context's layer: "attn.r_proj".
static struct model_name tensor_of(struct model_context *context, const char *part)
{
    return model_name(context, "model.layers.{i}.", context->layer, part);
}

static tapml_graph_value project(
    struct model_context *context, const char *part, tapml_graph_value x, int64_t in, int64_t out)
{
    return model_linear_of(context, strchr(part, '.') + 1, tensor_of(context, part).text, x, in,
                           out);
}

static tapml_graph_value
vector(struct model_context *context, const char *part, const int64_t *shape, uint32_t rank)
{
    return rwkv_vector(context, strchr(part, '.') + 1, tensor_of(context, part).text, shape, rank);
}

static tapml_graph_value scaled_by(struct model_context *context,
                                   const struct rwkv7 *own,
                                   const char *name,
                                   const char *part,
                                   tapml_graph_value x)
{
    return model_multiply(context, name, x, vector(context, part, &own->stack->hidden, 1));
}

static struct rwkv_shifted shift(struct model_context *context,
                                 const struct rwkv7 *own,
                                 const char *state,
                                 const char *norm,
                                 tapml_graph_value h)
{
    return rwkv_shift(context, own->stack, own->back, state, tensor_of(context, norm).text, h);
}

// x + d * x_<use>, for one use of a token in the first half.
static tapml_graph_value mix(struct model_context *context,
                             const struct rwkv7 *own,
                             const struct rwkv_shifted *shifted,
                             const char *part)
{
    const int64_t shape[] = {1, 1, own->stack->hidden};
    const char *name = strchr(part, '.') + 1;

    model_scope_begin(context, name);
    const tapml_graph_value moved =
        model_multiply(context, "mul", shifted->d, vector(context, part, shape, 3));
    const tapml_graph_value y = model_add(context, "add", shifted->x, moved);

    model_scope_end(context);
    return y;
}

static tapml_graph_value
heads_of(struct model_context *context, const struct rwkv7 *own, tapml_graph_value x)
{
    return model_in_heads(context, x, own->heads, own->width);
}

// exp(-e^(-1/2) sigmoid(w)), e^(-1/2) as the original has it.
static tapml_graph_value
decays(struct model_context *context, const struct rwkv7 *own, const struct rwkv_shifted *shifted)
{
    tapml_graph_value w =
        thin_build(context, own->stack->hidden, &thin_w, mix(context, own, shifted, "attn.x_w"));

    w = model_scale(context, "w_scale", model_sigmoid(context, "w_sigmoid", w),
                    -0.6065306597126334);
    return model_exp(context, "decay", w);
}

// v + (v of layer 0 - v) * sigmoid(gate). Layer 0 keeps its own.
static tapml_graph_value
values(struct model_context *context, struct rwkv7 *own, const struct rwkv_shifted *shifted)
{
    const int64_t hidden = own->stack->hidden;
    const tapml_graph_value x = mix(context, own, shifted, "attn.x_v");
    const tapml_graph_value v = project(context, "attn.v_proj", x, hidden, hidden);

    if (context->layer == 0) {
        own->v_first = v;
        return v;
    }

    const tapml_graph_value gate =
        model_sigmoid(context, "v_sigmoid", thin_build(context, hidden, &thin_v, x));
    const tapml_graph_value away = model_subtract(context, "v_away", own->v_first, v);

    return model_add(context, "v_add", v, model_multiply(context, "v_mul", away, gate));
}

// What the recurrence takes, and the keys: all [T, hidden].
struct parts {
    tapml_graph_value r, k, v, a, direction;
};

static struct parts
split(struct model_context *context, struct rwkv7 *own, const struct rwkv_shifted *shifted)
{
    const int64_t hidden = own->stack->hidden;
    struct parts parts;

    parts.r =
        project(context, "attn.r_proj", mix(context, own, shifted, "attn.x_r"), hidden, hidden);

    const tapml_graph_value k =
        project(context, "attn.k_proj", mix(context, own, shifted, "attn.x_k"), hidden, hidden);

    parts.v = values(context, own, shifted);
    parts.a =
        model_sigmoid(context, "a_sigmoid",
                      thin_build(context, hidden, &thin_a, mix(context, own, shifted, "attn.x_a")));
    parts.direction = model_l2_norm(
        context, "k_norm",
        heads_of(context, own, scaled_by(context, own, "k_k_mul", "attn.k_k", k)), 1e-24);

    // k (1 + (a - 1) k_a)
    const tapml_graph_value less = scaled_by(context, own, "k_a_mul", "attn.k_a", k);
    const tapml_graph_value change = model_subtract(
        context, "k_change", model_multiply(context, "k_a_rate", less, parts.a), less);

    parts.k = model_add(context, "k_add", k, change);
    return parts;
}

static tapml_graph_value
attend(struct model_context *context, struct rwkv7 *own, tapml_graph_value h)
{
    const int64_t hidden = own->stack->hidden, state[] = {own->heads, own->width, own->width};
    const struct rwkv_heads heads = {own->heads, own->width};
    const struct rwkv_shifted shifted = shift(context, own, "layers.{i}/attn/last", "attn_norm", h);
    const struct parts parts = split(context, own, &shifted);
    const struct model_scan scan = {
        .r = heads_of(context, own, parts.r),
        .w = heads_of(context, own, decays(context, own, &shifted)),
        .k = heads_of(context, own, parts.k),
        .v = heads_of(context, own, parts.v),
        .kk = parts.direction,
        .a = heads_of(context, own, parts.a),
        .state = model_fixed_state(context, "layers.{i}/attn/state", state, 3),
    };
    const tapml_graph_value gate =
        thin_build(context, hidden, &thin_g, mix(context, own, &shifted, "attn.x_g"));
    const tapml_graph_value r_k_v[] = {parts.r, parts.k, parts.v};
    tapml_graph_value y = rwkv_norm_heads(
        context, &heads, "g_norm", tensor_of(context, "attn.g_norm").text,
        (double)own->width * own->stack->eps, model_linear_scan(context, "scan", &scan));

    y = model_add(context, "bonus_add", y,
                  rwkv_bonus(context, &heads, tensor_of(context, "attn.r_k").text, r_k_v));
    y = project(context, "attn.o_proj", model_multiply(context, "gated", y, gate), hidden, hidden);
    return model_add(context, "add", h, y);
}

// h + value(relu(key(x + d x_k))^2)
static tapml_graph_value
feed_forward(struct model_context *context, const struct rwkv7 *own, tapml_graph_value h)
{
    const int64_t hidden = own->stack->hidden;
    const struct rwkv_shifted shifted = shift(context, own, "layers.{i}/ffn/last", "ffn_norm", h);
    const tapml_graph_value moved = scaled_by(context, own, "x_k_mul", "ffn.x_k", shifted.d);
    tapml_graph_value y = project(
        context, "ffn.key", model_add(context, "x_k_add", shifted.x, moved), hidden, own->mlp);

    y = project(context, "ffn.value", model_activation(context, "relu2", y), own->mlp, hidden);
    return model_add(context, "add", h, y);
}

static tapml_graph_value
layers(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    struct rwkv7 own = {.stack = stack};

    rwkv7_read(context, &own);
    if (context->status != TAPML_OK) {
        return 0; // Sizes that are refused may be 0.
    }
    own.back = rwkv_back(context, stack->hidden);
    for (context->layer = 0; context->layer < stack->layers; context->layer++) {
        model_scope_begin(context, "layers.{i}");
        if (context->layer == 0 && own.has_first_norm) {
            h = stack_norm(context, stack, "first_norm", "model.layers.{i}.pre_norm", h);
        }
        model_output_hidden(context, context->layer, h);
        model_scope_begin(context, "attn");
        h = attend(context, &own, h);
        model_scope_end(context);
        model_scope_begin(context, "ffn");
        h = feed_forward(context, &own, h);
        model_scope_end(context);
        model_scope_end(context);
    }
    return h;
}

static const struct stack_description description = {
    .embed = "model.embeddings",
    .norm = "model.norm",
    .head = "lm_head",
    .eps = "/norm_eps",
    .eps_fallback = 1e-5,
    .norm_form = {.kind = MODEL_NORM_LAYER, .has_bias = 1},
    .layers = layers,
};

const struct model_architecture describe_rwkv7 = {
    .model_type = "rwkv7",
    .class_name = "RWKV7ForCausalLM",
    .description = &description,
    .build = stack_build,
    .fill = stack_fill,
};
