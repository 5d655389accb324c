// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "stack.h"

#include <string.h>

static const char cosines[] = "rope.cos", sines[] = "rope.sin";

int64_t stack_count(struct model_context *context, const char *key, int64_t fallback, int64_t most)
{
    return model_config_count(context, model_config_key(context, key).text, fallback, most);
}

static void read_stack(struct model_context *context,
                       const struct stack_description *description,
                       struct stack *out_stack)
{
    struct stack stack = {.description = description};

    stack.hidden = stack_count(context, "/hidden_size", 0, STACK_WIDTH_MAX);
    stack.layers = stack_count(context, "/num_hidden_layers", 0, STACK_LAYERS_MAX);
    stack.vocabulary = stack_count(context, "/vocab_size", 0, STACK_WIDTH_MAX);
    stack.eps =
        context->config_table->f64(context->config, description->eps, description->eps_fallback);
    if (!(stack.eps >= 0 && stack.eps <= 1)) {
        model_fail(context, TAPML_INVALID, "'%s' is %g, expected a number from 0 to 1",
                   description->eps + 1, stack.eps);
    }
    stack.is_tied = context->config_table->boolean(context->config, "/tie_word_embeddings", 0);
    *out_stack = stack;
}

tapml_graph_value stack_norm(struct model_context *context,
                             const struct stack *stack,
                             const char *name,
                             const char *tensor,
                             tapml_graph_value x)
{
    struct model_norm norm = stack->description->norm_form;

    norm.tensor = tensor;
    norm.width = stack->hidden;
    norm.eps = stack->eps;
    return model_norm(context, name, x, &norm);
}

tapml_graph_value stack_linear(struct model_context *context,
                               const char *name,
                               const char *tensor,
                               tapml_graph_value x,
                               int64_t in,
                               int64_t out)
{
    return model_linear(context, name, x,
                        &(struct model_linear){.tensor = tensor, .in = in, .out = out});
}

tapml_graph_value
stack_heads(struct model_context *context, tapml_graph_value x, int64_t heads, int64_t width)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, heads, width};

    return model_reshape(context, x, shape, 3);
}

tapml_graph_value stack_rows(struct model_context *context, tapml_graph_value x, int64_t width)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, width};

    return model_reshape(context, x, shape, 2);
}

tapml_graph_value
stack_widen(struct model_context *context, tapml_graph_value x, int64_t heads, int64_t width)
{
    return model_repeat(context, stack_heads(context, x, heads, 1), 2, width);
}

tapml_graph_value
stack_taps(struct model_context *context, const char *tensor, int64_t width, int64_t taps)
{
    const int64_t stored[] = {width, 1, taps}, shape[] = {width, taps};
    const struct model_name name = model_name(context, tensor, context->layer, ".weight");

    return model_reshape(context, model_weight(context, name.text, stored, 3), shape, 2);
}

tapml_graph_value stack_conv(struct model_context *context,
                             const char *tensor,
                             tapml_graph_value x,
                             int64_t width,
                             int64_t taps,
                             int has_bias)
{
    const int64_t tail[] = {taps - 1, width};
    const struct model_name bias = model_name(context, tensor, context->layer, ".bias");
    struct model_conv1d conv = {
        .weight = stack_taps(context, tensor, width, taps),
        .tail = model_fixed_state(context, "layers.{i}/tail", tail, 2),
    };

    if (model_has_tensor(context, bias.text, &width, 1, has_bias)) {
        conv.bias = model_weight(context, bias.text, &width, 1);
    }
    return model_activation(context, "silu", model_conv1d(context, "conv", x, &conv));
}

// Older checkpoints of Mamba call the embedding otherwise.
static const char *embed_of(struct model_context *context, const struct stack *stack)
{
    const struct stack_description *description = stack->description;
    const int64_t shape[] = {stack->vocabulary, stack->hidden};
    const struct model_name name = model_name(context, description->embed, 0, ".weight");

    return description->older_embed == NULL || model_has_tensor(context, name.text, shape, 2, 1)
               ? description->embed
               : description->older_embed;
}

// Without a tensor of its own, or where the config ties it, the head is the embedding.
static const char *
head_of(struct model_context *context, const struct stack *stack, const char *embed)
{
    const struct model_name name = model_name(context, stack->description->head, 0, ".weight");
    const int64_t shape[] = {stack->vocabulary, stack->hidden};

    return !stack->is_tied && model_has_tensor(context, name.text, shape, 2, 1)
               ? stack->description->head
               : embed;
}

static void build_stack(struct model_context *context, const struct stack *stack)
{
    const struct stack_description *description = stack->description;
    const int64_t tokens = TAPML_SYM_TOKENS, wanted = TAPML_SYM_ROWS;
    const tapml_graph_value ids =
        model_input(context, "input_ids", TAPML_FROM_USER, TAPML_I32, &tokens, 1);
    const tapml_graph_value rows =
        model_input(context, "rows", TAPML_FROM_HOST, TAPML_I32, &wanted, 1);
    const char *embed = embed_of(context, stack);
    tapml_graph_value h =
        model_embed(context, "embed", ids, embed, stack->vocabulary, stack->hidden);

    h = description->layers(context, stack, h);
    h = stack_norm(context, stack, "norm", description->norm, h);
    model_output_hidden(context, stack->layers, h);
    h = model_gather_rows(context, "rows", h, rows);
    model_output(context, "logits",
                 stack_linear(context, "head", head_of(context, stack, embed), h, stack->hidden,
                              stack->vocabulary));
}

void stack_build(struct model_context *context, const void *description)
{
    struct stack stack;

    read_stack(context, description, &stack);
    if (context->status == TAPML_OK) {
        build_stack(context, &stack);
    }
}

void stack_fill(struct model_context *context,
                const void *description,
                const struct model_fill *fill)
{
    const struct stack_description *stack = description;
    const int is_sine = strcmp(fill->name, sines) == 0;
    struct model_rope rope;

    if (stack->rope == NULL || (!is_sine && strcmp(fill->name, cosines) != 0)) {
        model_fill_nothing(context, fill);
        return;
    }
    stack->rope(context, &rope);
    if (context->status == TAPML_OK) {
        model_rope_fill(context, &rope, is_sine, fill);
    }
}
