// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen3-Next: three layers of the gated delta rule (arXiv 2412.06464) for one of gated attention,
// each followed by a mixture of experts. Norms multiply by 1 + w, but for the one behind the rule.
#include "delta.h"
#include "mixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEAD_MAX = 2 * MODEL_ROPE_PAIRS_MAX };

struct attention {
    int64_t heads, kv_heads, width;
    int has_biases;
    struct model_rope rope;
    tapml_graph_value cosines, sines;
};

struct qwen3_next {
    const struct stack *stack;
    struct attention attention;
    struct delta delta;
    struct mixture mixture;
    int64_t period; // Every one of these layers is attention, where the config has no list.
    int has_types;
};

static void read_rope(struct model_context *context, struct model_rope *out_rope)
{
    static const struct model_rope_defaults defaults = {
        .theta = 10000, .positions = 32768, .share = 0.25};

    model_rope_read(context, &defaults, stack_count(context, "/head_dim", 256, HEAD_MAX), out_rope);
}

static void read_attention(struct model_context *context, struct attention *out_attention)
{
    struct attention own = {0};

    own.heads = stack_count(context, "/num_attention_heads", 0, STACK_HEADS_MAX);
    own.kv_heads = stack_count(context, "/num_key_value_heads", own.heads, STACK_HEADS_MAX);
    own.width = stack_count(context, "/head_dim", 256, HEAD_MAX);
    own.has_biases = context->config_table->boolean(context->config, "/attention_bias", 0);
    read_rope(context, &own.rope);
    if (own.kv_heads < 1 || own.heads % own.kv_heads != 0) {
        model_fail(context, TAPML_INVALID,
                   "'num_attention_heads' is %lld, no multiple of 'num_key_value_heads', %lld",
                   (long long)own.heads, (long long)own.kv_heads);
    }
    *out_attention = own;
}

static void read_own(struct model_context *context, struct qwen3_next *own)
{
    const tapml_host_config *table = context->config_table;
    static const char *const acts[] = {"silu", "swish", NULL};

    read_attention(context, &own->attention);
    delta_read(context, own->stack, &own->delta);
    mixture_read(context, own->stack, &own->mixture);
    own->period = stack_count(context, "/full_attention_interval", 4, STACK_LAYERS_MAX);
    own->has_types = table->length(context->config, "/layer_types") >= 0;
    (void)model_config_choice(context, "/hidden_act", acts[0], acts); // They are the same.
}

// Whether the context's layer is attention, not the delta rule.
static int is_full(struct model_context *context, const struct qwen3_next *own)
{
    static const char *const kinds[] = {"full_attention", "linear_attention", NULL};
    struct model_name pointer;

    if (!own->has_types) {
        return (context->layer + 1) % own->period == 0;
    }
    snprintf(pointer.text, sizeof(pointer.text), "/layer_types/%lld", (long long)context->layer);
    return strcmp(model_config_choice(context, pointer.text, "", kinds), kinds[0]) == 0;
}

// -- Attention -----------------------------------------------------------------------------------

static tapml_graph_value project(struct model_context *context,
                                 const struct qwen3_next *own,
                                 const char *name,
                                 tapml_graph_value x,
                                 int64_t out)
{
    char tensor[64];

    snprintf(tensor, sizeof(tensor), "model.layers.{i}.self_attn.%s", name);
    return model_linear(context, name, x,
                        &(struct model_linear){.tensor = tensor,
                                               .in = own->stack->hidden,
                                               .out = out,
                                               .has_bias = own->attention.has_biases});
}

// Heads normalised and turned.
static tapml_graph_value turn(struct model_context *context,
                              const struct qwen3_next *own,
                              const char *which,
                              tapml_graph_value heads)
{
    char norm_name[16], rope_name[16], tensor[64];

    snprintf(norm_name, sizeof(norm_name), "%s_norm", which);
    snprintf(rope_name, sizeof(rope_name), "%s_rope", which);
    snprintf(tensor, sizeof(tensor), "model.layers.{i}.self_attn.%s_norm", which);
    heads = model_rms_norm(
        context, norm_name, heads,
        &(struct model_norm){
            .tensor = tensor, .width = own->attention.width, .eps = own->stack->eps, .offset = 1});
    return model_rope(context, rope_name, heads, own->attention.cosines, own->attention.sines, 0);
}

static tapml_graph_value
attend(struct model_context *context, const struct qwen3_next *own, tapml_graph_value x)
{
    const struct attention *shape = &own->attention;
    const int64_t heads = shape->heads, kv_heads = shape->kv_heads, width = shape->width;
    const struct model_attention options = {.scale = 1 / sqrt((double)width), .is_causal = 1};
    const struct model_linear out = {.tensor = "model.layers.{i}.self_attn.o_proj",
                                     .in = heads * width,
                                     .out = own->stack->hidden,
                                     .has_bias = shape->has_biases};
    const struct model_name k_name = model_name(context, "layers.{i}/attn/k", context->layer, "");
    const struct model_name v_name = model_name(context, "layers.{i}/attn/v", context->layer, "");
    const tapml_graph_value k_state = model_state(context, k_name.text, kv_heads, width);
    const tapml_graph_value v_state = model_state(context, v_name.text, kv_heads, width);
    // Each head has its query, then its gate.
    const tapml_graph_value both = stack_heads(
        context, project(context, own, "q_proj", x, 2 * heads * width), heads, 2 * width);
    const tapml_graph_value k =
        stack_heads(context, project(context, own, "k_proj", x, kv_heads * width), kv_heads, width);
    const tapml_graph_value v =
        stack_heads(context, project(context, own, "v_proj", x, kv_heads * width), kv_heads, width);
    const tapml_graph_value q = turn(context, own, "q", model_slice(context, both, 2, 0, width));
    const tapml_graph_value gate =
        model_sigmoid(context, "gate", model_slice(context, both, 2, width, 2 * width));

    model_state_append(context, "k_append", k_state, turn(context, own, "k", k));
    model_state_append(context, "v_append", v_state, v);

    const tapml_graph_value y =
        model_multiply(context, "gated",
                       model_attention(context, "attention", q, k_state, v_state, &options), gate);

    return model_linear(context, "o_proj", stack_rows(context, y, heads * width), &out);
}

// -- The layers ----------------------------------------------------------------------------------

static tapml_graph_value
half(struct model_context *context, const struct qwen3_next *own, int is_mlp, tapml_graph_value h)
{
    const tapml_graph_value x = stack_norm(context, own->stack, "norm",
                                           is_mlp ? "model.layers.{i}.post_attention_layernorm"
                                                  : "model.layers.{i}.input_layernorm",
                                           h);
    tapml_graph_value y = 0;

    if (is_mlp) {
        y = mixture_build(context, &own->mixture, x);
    } else {
        y = is_full(context, own) ? attend(context, own, x) : delta_build(context, &own->delta, x);
    }
    return model_add(context, "add", h, y);
}

// Where a layer has a use for them.
static void make_tables(struct model_context *context, struct qwen3_next *own)
{
    struct attention *attention = &own->attention;
    const int64_t shape[] = {TAPML_SYM_TOKENS, attention->rope.pairs};
    int is_used = 0;

    for (context->layer = 0; context->layer < own->stack->layers; context->layer++) {
        is_used |= is_full(context, own);
    }
    if (is_used) {
        attention->cosines = model_input(context, "rope.cos", TAPML_FROM_FILL, TAPML_F32, shape, 2);
        attention->sines = model_input(context, "rope.sin", TAPML_FROM_FILL, TAPML_F32, shape, 2);
    }
}

static tapml_graph_value
layers(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    struct qwen3_next own = {.stack = stack};

    read_own(context, &own);
    if (context->status != TAPML_OK) {
        return 0; // Sizes that are refused may be 0.
    }
    make_tables(context, &own);
    for (context->layer = 0; context->layer < stack->layers; context->layer++) {
        model_output_hidden(context, context->layer, h);
        model_scope_begin(context, "layers.{i}");
        model_scope_begin(context, "attn");
        h = half(context, &own, 0, h);
        model_scope_end(context);
        model_scope_begin(context, "mlp");
        h = half(context, &own, 1, h);
        model_scope_end(context);
        model_scope_end(context);
    }
    return h;
}

static const struct stack_description description = {
    .embed = "model.embed_tokens",
    .norm = "model.norm",
    .head = "lm_head",
    .eps = "/rms_norm_eps",
    .eps_fallback = 1e-6,
    .norm_form = {.offset = 1},
    .layers = layers,
    .rope = read_rope,
};

const struct model_architecture describe_qwen3_next = {
    .model_type = "qwen3_next",
    .class_name = "Qwen3NextForCausalLM",
    .description = &description,
    .build = stack_build,
    .fill = stack_fill,
};
