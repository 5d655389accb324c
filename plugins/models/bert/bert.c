// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// x = norm(word + position + token type)
// every layer: x = norm(x + attention(x)); x = norm(x + out(act(in x)))
//
// Every token sees every other one that the mask does not hide, so a text is one call.
#include <tapml/model/pool.h>
#include <tapml/model/root.h>

#include <math.h>
#include <string.h>

enum { WIDTH_MAX = 1 << 24, LAYERS_MAX = 1 << 12, HEADS_MAX = 1 << 14, TYPES_MAX = 1 << 16 };

struct sizes {
    int64_t hidden, layers, heads, mlp_width, vocabulary, positions, types;
    double eps;
    const char *activation;
};

// What an optional prefix stands before.
#define PREFIX "bert."

static void read_sizes(struct model_context *context, struct sizes *sizes)
{
    const tapml_host_config *table = context->config_table;
    tapml_object *config = context->config;

    *sizes = (struct sizes){
        .hidden = model_config_count(context, "/hidden_size", 0, WIDTH_MAX),
        .layers = model_config_count(context, "/num_hidden_layers", 0, LAYERS_MAX),
        .heads = model_config_count(context, "/num_attention_heads", 0, HEADS_MAX),
        .mlp_width = model_config_count(context, "/intermediate_size", 0, WIDTH_MAX),
        .vocabulary = model_config_count(context, "/vocab_size", 0, WIDTH_MAX),
        .positions = model_config_count(context, "/max_position_embeddings", 512, WIDTH_MAX),
        .types = model_config_count(context, "/type_vocab_size", 2, TYPES_MAX),
        .eps = model_config_eps(context, "/layer_norm_eps", 1e-12),
        .activation = model_config_activation(context, "/hidden_act", "gelu"),
    };
    if (context->status == TAPML_OK && sizes->hidden % sizes->heads != 0) {
        model_fail(context, TAPML_INVALID,
                   "'num_attention_heads': %lld hidden values do not divide among %lld heads",
                   (long long)sizes->hidden, (long long)sizes->heads);
    }
    table->expect(config, "/is_decoder", "false");
    table->expect(config, "/add_cross_attention", "false");
    table->expect(config, "/position_embedding_type", "\"absolute\"");
    table->ignore(config, "/tie_word_embeddings");
    // Google's first files say how the pooler would be made; the class makes one.
    table->ignore(config, "/pooler_fc_size");
    table->ignore(config, "/pooler_num_attention_heads");
    table->ignore(config, "/pooler_num_fc_layers");
    table->ignore(config, "/pooler_size_per_head");
    table->expect(config, "/pooler_type", "\"first_token_transform\"");
    table->expect(config, "/directionality", "\"bidi\"");
}

// -- The graph ---------------------------------------------------------------------------------

static tapml_graph_value linear(struct model_context *context,
                                const char *name,
                                const char *tensor,
                                tapml_graph_value x,
                                int64_t in,
                                int64_t out)
{
    return model_linear(
        context, name, x,
        &(struct model_linear){.tensor = tensor, .in = in, .out = out, .has_bias = 1});
}

static tapml_graph_value norm(struct model_context *context,
                              const struct sizes *sizes,
                              const char *name,
                              const char *tensor,
                              tapml_graph_value x)
{
    return model_norm(context, name, x,
                      &(struct model_norm){.kind = MODEL_NORM_LAYER,
                                           .tensor = tensor,
                                           .width = sizes->hidden,
                                           .eps = sizes->eps,
                                           .has_bias = 1,
                                           .has_old_names = 1});
}

static tapml_graph_value embed(struct model_context *context, const struct sizes *sizes)
{
    const int64_t tokens = TAPML_SYM_TOKENS;
    const tapml_graph_value ids =
        model_input(context, "input_ids", TAPML_FROM_USER, TAPML_I32, &tokens, 1);
    const tapml_graph_value positions =
        model_input(context, "positions", TAPML_FROM_FILL, TAPML_I32, &tokens, 1);
    const tapml_graph_value types =
        model_input_or(context, "token_type_ids", TAPML_I32, &tokens, 1, 0);
    tapml_graph_value x = model_embed(context, "embed", ids, PREFIX "embeddings.word_embeddings",
                                      sizes->vocabulary, sizes->hidden);

    x = model_add(context, "add_positions", x,
                  model_embed(context, "embed_positions", positions,
                              PREFIX "embeddings.position_embeddings", sizes->positions,
                              sizes->hidden));
    x = model_add(context, "add_types", x,
                  model_embed(context, "embed_types", types,
                              PREFIX "embeddings.token_type_embeddings", sizes->types,
                              sizes->hidden));
    return norm(context, sizes, "embed_norm", PREFIX "embeddings.LayerNorm", x);
}

#define LAYER PREFIX "encoder.layer.{i}."

static tapml_graph_value heads_of(struct model_context *context,
                                  const struct sizes *sizes,
                                  const char *name,
                                  const char *tensor,
                                  tapml_graph_value x)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, sizes->heads, sizes->hidden / sizes->heads};

    return model_reshape(context, linear(context, name, tensor, x, sizes->hidden, sizes->hidden),
                         shape, 3);
}

// Of one layer, with what is added to it and the norm.
static tapml_graph_value attention(struct model_context *context,
                                   const struct sizes *sizes,
                                   tapml_graph_value x,
                                   tapml_graph_value mask)
{
    const int64_t width = sizes->hidden / sizes->heads;
    const int64_t rows[] = {TAPML_SYM_TOKENS, sizes->hidden};
    const struct model_name k_name = model_name(context, "layers.{i}/attn/k", context->layer, "");
    const struct model_name v_name = model_name(context, "layers.{i}/attn/v", context->layer, "");
    const tapml_graph_value k_state = model_state(context, k_name.text, sizes->heads, width);
    const tapml_graph_value v_state = model_state(context, v_name.text, sizes->heads, width);

    model_scope_begin(context, "attn");

    const tapml_graph_value q = heads_of(context, sizes, "q_proj", LAYER "attention.self.query", x);
    const tapml_graph_value k = heads_of(context, sizes, "k_proj", LAYER "attention.self.key", x);
    const tapml_graph_value v = heads_of(context, sizes, "v_proj", LAYER "attention.self.value", x);

    model_state_append(context, "k_append", k_state, k);
    model_state_append(context, "v_append", v_state, v);

    tapml_graph_value y = model_attention(
        context, "attention", q, k_state, v_state,
        &(struct model_attention){.key_mask = mask, .scale = 1 / sqrt((double)width)});

    y = linear(context, "o_proj", LAYER "attention.output.dense",
               model_reshape(context, y, rows, 2), sizes->hidden, sizes->hidden);
    y = norm(context, sizes, "norm", LAYER "attention.output.LayerNorm",
             model_add(context, "add", x, y));
    model_scope_end(context);
    return y;
}

static tapml_graph_value
mlp(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    model_scope_begin(context, "mlp");

    tapml_graph_value y =
        linear(context, "up_proj", LAYER "intermediate.dense", x, sizes->hidden, sizes->mlp_width);

    y = linear(context, "down_proj", LAYER "output.dense",
               model_activation(context, sizes->activation, y), sizes->mlp_width, sizes->hidden);
    y = norm(context, sizes, "norm", LAYER "output.LayerNorm", model_add(context, "add", x, y));
    model_scope_end(context);
    return y;
}

// -- The outputs -------------------------------------------------------------------------------

static void add_outputs(struct model_context *context,
                        const struct sizes *sizes,
                        tapml_graph_value x,
                        tapml_graph_value mask)
{
    const int64_t square[] = {sizes->hidden, sizes->hidden};
    const tapml_graph_value first = model_slice(context, x, 0, 0, 1);

    model_output(context, "last_hidden_state", x);
    if (model_has_tensor(context, PREFIX "pooler.dense.weight", square, 2, 1)) {
        model_scope_begin(context, "pooler");

        const tapml_graph_value y = model_activation(
            context, "tanh",
            linear(context, "dense", PREFIX "pooler.dense", first, sizes->hidden, sizes->hidden));

        model_scope_end(context);
        model_output(context, "pooler_output", model_reshape(context, y, &sizes->hidden, 1));
    }
    model_output(context, "cls_normalized", model_pool_unit(context, "cls", first, sizes->hidden));
    model_output(context, "mean_normalized",
                 model_pool_unit(context, "mean",
                                 model_pool_sum(context, "pool", x, mask, sizes->hidden),
                                 sizes->hidden));
}

static void build_graph(struct model_context *context, const struct sizes *sizes)
{
    const int64_t table[] = {sizes->vocabulary, sizes->hidden};
    const int64_t tokens = TAPML_SYM_TOKENS;

    context->is_whole = 1;
    if (!model_has_tensor(context, PREFIX "embeddings.word_embeddings.weight", table, 2, 0)) {
        context->renaming = (struct model_renaming){PREFIX, ""};
    }

    tapml_graph_value x = embed(context, sizes);
    const tapml_graph_value mask =
        model_input_or(context, "attention_mask", TAPML_I32, &tokens, 1, 1);

    for (context->layer = 0; context->layer < sizes->layers; context->layer++) {
        model_output_hidden(context, context->layer, x);
        model_scope_begin(context, "layers.{i}");
        x = mlp(context, sizes, attention(context, sizes, x, mask));
        model_scope_end(context);
    }
    model_output_hidden(context, sizes->layers, x);
    add_outputs(context, sizes, x, mask);
}

// -- The component -----------------------------------------------------------------------------

static void build(struct model_context *context, const void *description)
{
    struct sizes sizes;

    read_sizes(context, &sizes);
    if (context->status == TAPML_OK) {
        build_graph(context, &sizes);
    }
}

// The rows 0 .. count - 1 of the table of positions, where that is the whole text.
static void
fill(struct model_context *context, const void *description, const struct model_fill *fill)
{
    struct sizes sizes;

    read_sizes(context, &sizes);
    if (strcmp(fill->name, "positions") != 0) {
        model_fill_nothing(context, fill);
        return;
    }
    if (fill->first != 0 || fill->count != fill->length) {
        model_fail(context, TAPML_INVALID,
                   "an encoder reads a text in one call, and of %lld tokens this one has %lld, "
                   "from number %lld on",
                   (long long)fill->length, (long long)fill->count, (long long)fill->first);
        return;
    }
    if (context->status == TAPML_OK) {
        model_fill_positions(context, fill, sizes.positions);
    }
}

const struct model_architecture describe_bert = {
    .model_type = "bert",
    .class_name = "BertModel",
    .build = build,
    .fill = fill,
};
