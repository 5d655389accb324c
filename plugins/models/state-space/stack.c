// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "stack.h"

#include <string.h>

static const char cosines[] = "rope.cos", sines[] = "rope.sin";

static void read_stack(struct model_context *context,
                       const struct stack_description *description,
                       struct stack *out_stack)
{
    struct stack stack = {.description = description};

    stack.hidden =
        model_config_count_of(context, "/hidden_size", description->sizes.hidden, MODEL_WIDTH_MAX);
    stack.layers = model_config_count_of(context, "/num_hidden_layers", description->sizes.layers,
                                         MODEL_LAYERS_MAX);
    stack.vocabulary = model_config_count_of(context, "/vocab_size", description->sizes.vocabulary,
                                             MODEL_WIDTH_MAX);
    stack.eps = model_config_eps(context, description->eps, description->eps_fallback);
    stack.is_tied = context->config_table->boolean(context->config, "/tie_word_embeddings",
                                                   description->is_tied);
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

int64_t stack_expanded(struct model_context *context, const struct stack *stack)
{
    const double expand = context->config_table->f64(context->config, "/expand", 2);
    const double inner = expand * (double)stack->hidden;

    if (!(inner >= 1 && inner <= MODEL_WIDTH_MAX)) {
        model_fail(context, TAPML_INVALID, "'expand' is %g, expected a number above 0", expand);
        return 1;
    }
    return (int64_t)inner;
}

int64_t stack_extent(struct model_context *context,
                     const char *name,
                     const int64_t *shape,
                     uint32_t rank,
                     uint32_t axis)
{
    const tapml_tensor expected = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = rank, .shape = shape};
    const struct model_name whole = model_name(context, name, context->layer, "");
    const tapml_tensor *found =
        context->status == TAPML_OK
            ? context->weights_table->find(context->weights, whole.text, &expected)
            : NULL;

    if (found == NULL || found->rank != rank || found->shape[axis] < 1 ||
        found->shape[axis] > MODEL_WIDTH_MAX) {
        model_fail(context, TAPML_INVALID, "the checkpoint has no '%s' of rank %u", whole.text,
                   (unsigned)rank);
        return 1;
    }
    for (uint32_t other = 0; other < rank; other++) {
        if (other != axis && found->shape[other] != shape[other]) {
            model_fail(context, TAPML_INVALID,
                       "tensor '%s': its extent of axis %u is %lld, expected %lld", whole.text,
                       (unsigned)other, (long long)found->shape[other], (long long)shape[other]);
            return 1;
        }
    }
    return found->shape[axis];
}

// Older checkpoints of Mamba call the embedding otherwise.
static const char *embed_of(struct model_context *context, const struct stack *stack)
{
    const struct stack_description *description = stack->description;
    const int64_t shape[] = {stack->vocabulary, stack->hidden};
    const struct model_name name = model_name(context, description->embed, 0, ".weight");

    if (description->older_embed != NULL && !model_has_tensor(context, name.text, shape, 2, 1)) {
        const struct model_name older = model_name(context, description->older_embed, 0, ".weight");

        return model_has_tensor(context, older.text, shape, 2, 0) ? description->older_embed
                                                                  : description->embed;
    }
    return description->embed;
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

static tapml_graph_value
final_norm(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    struct stack last = *stack;

    if (stack->description->final_eps > 0) {
        last.eps = stack->description->final_eps;
    }
    return stack_norm(context, &last, "norm", stack->description->norm, h);
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
    h = final_norm(context, stack, h);
    model_output_hidden(context, stack->layers, h);
    h = model_gather_rows(context, "rows", h, rows);
    model_output(context, "logits",
                 model_linear_of(context, "head", head_of(context, stack, embed), h, stack->hidden,
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

tapml_graph_value stack_mixers(struct model_context *context,
                               const struct stack *stack,
                               stack_mixer *mixer,
                               const void *own,
                               tapml_graph_value h)
{
    for (context->layer = 0; context->layer < stack->layers; context->layer++) {
        model_scope_begin(context, "layers.{i}");
        const tapml_graph_value x =
            stack_norm(context, stack, "norm", "backbone.layers.{i}.norm", h);

        h = model_add(context, "add", h, mixer(context, own, x));
        model_scope_end(context);
        model_output_hidden(context, context->layer, h);
    }
    return h;
}
