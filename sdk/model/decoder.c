// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/decoder.h>
#include <tapml/model/layer.h>
#include <tapml/model/root.h>

#include <math.h>
#include <string.h>

enum { LAYERS_MAX = 1 << 12, HEADS_MAX = 1 << 14, WIDTH_MAX = 1 << 24 };

// The inputs that `fill` computes.
static const char cosines_name[] = "rope.cos";
static const char sines_name[] = "rope.sin";

// What the config says, with the defaults filled in.
struct sizes {
    int64_t hidden, layers, heads, kv_heads, head_width, mlp_width, vocabulary;
    double eps;
    const char *activation;
    int is_tied, has_attention_biases, has_mlp_biases;
    struct model_rope rope;
};

// The values that every layer takes.
struct shared {
    const struct model_decoder *decoder;
    const struct sizes *sizes;
    tapml_graph_value cosines, sines;
};

// A head's width where no key says it; 1 stands in for what has failed already.
static int64_t even_share(struct model_context *context, int64_t hidden, int64_t heads)
{
    if (heads < 1 || hidden % heads != 0) {
        model_fail(context, TAPML_INVALID, "%lld hidden values do not divide among %lld heads",
                   (long long)hidden, (long long)heads);
        return 1;
    }
    return hidden / heads;
}

static void read_widths(struct model_context *context,
                        const struct model_decoder_keys *keys,
                        struct sizes *out_sizes)
{
    struct sizes *sizes = out_sizes;

    sizes->hidden = model_config_count(context, keys->hidden, 0, WIDTH_MAX);
    sizes->layers = model_config_count(context, keys->layers, 0, LAYERS_MAX);
    sizes->heads = model_config_count(context, keys->heads, 0, HEADS_MAX);
    sizes->kv_heads = model_config_count(context, keys->kv_heads, sizes->heads, HEADS_MAX);
    sizes->head_width =
        context->config_table->has(context->config, keys->head_width)
            ? model_config_count(context, keys->head_width, 0, 2 * MODEL_ROPE_PAIRS_MAX)
            : even_share(context, sizes->hidden, sizes->heads);
    sizes->mlp_width = model_config_count(context, keys->mlp_width, 0, WIDTH_MAX);
    sizes->vocabulary = model_config_count(context, keys->vocabulary, 0, WIDTH_MAX);
    if (context->status == TAPML_OK && sizes->heads % sizes->kv_heads != 0) {
        model_fail(context, TAPML_INVALID,
                   "%lld heads do not share %lld key and value heads evenly",
                   (long long)sizes->heads, (long long)sizes->kv_heads);
    }
}

static void read_sizes(struct model_context *context,
                       const struct model_decoder *decoder,
                       struct sizes *out_sizes)
{
    const tapml_host_config *table = context->config_table;
    const struct model_decoder_keys *keys = &decoder->keys;
    const struct model_decoder_defaults *defaults = &decoder->defaults;

    *out_sizes = (struct sizes){0};
    read_widths(context, keys, out_sizes);
    out_sizes->eps = table->f64(context->config, keys->eps, defaults->eps);
    out_sizes->activation = table->string(context->config, keys->activation, defaults->activation);
    out_sizes->is_tied = table->boolean(context->config, keys->is_tied, defaults->is_tied);
    out_sizes->has_attention_biases =
        table->boolean(context->config, keys->attention_biases, defaults->has_attention_biases);
    out_sizes->has_mlp_biases =
        table->boolean(context->config, keys->mlp_biases, defaults->has_mlp_biases);
    model_rope_read(context, &defaults->rope, out_sizes->head_width, &out_sizes->rope);
}

static tapml_graph_value norm(struct model_context *context,
                              const struct sizes *sizes,
                              const char *tensor,
                              tapml_graph_value x)
{
    return model_rms_norm(
        context, "norm", x,
        &(struct model_norm){.tensor = tensor, .width = sizes->hidden, .eps = sizes->eps});
}

// A linear layer whose rows are heads: [T, heads, head width].
static tapml_graph_value project(struct model_context *context,
                                 const struct sizes *sizes,
                                 const char *name,
                                 const char *tensor,
                                 tapml_graph_value x,
                                 int64_t heads)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, heads, sizes->head_width};
    const struct model_linear linear = {.tensor = tensor,
                                        .in = sizes->hidden,
                                        .out = heads * sizes->head_width,
                                        .has_bias = sizes->has_attention_biases};

    return model_reshape(context, model_linear(context, name, x, &linear), shape, 3);
}

static tapml_graph_value
attention(struct model_context *context, const struct shared *shared, tapml_graph_value h)
{
    const struct sizes *sizes = shared->sizes;
    const struct model_decoder_tensors *tensors = &shared->decoder->tensors;
    const int64_t rows[] = {TAPML_SYM_TOKENS, sizes->heads * sizes->head_width};
    const struct model_attention options = {.scale = 1 / sqrt((double)sizes->head_width),
                                            .is_causal = 1};
    const struct model_linear out = {.tensor = tensors->o,
                                     .in = rows[1],
                                     .out = sizes->hidden,
                                     .has_bias = sizes->has_attention_biases};

    model_scope_begin(context, "attn");

    const tapml_graph_value x = norm(context, sizes, tensors->attention_norm, h);
    tapml_graph_value q = project(context, sizes, "q_proj", tensors->q, x, sizes->heads);
    tapml_graph_value k = project(context, sizes, "k_proj", tensors->k, x, sizes->kv_heads);
    const tapml_graph_value v = project(context, sizes, "v_proj", tensors->v, x, sizes->kv_heads);
    const struct model_name k_name = model_name(context, "layers.{i}/attn/k", context->layer, "");
    const struct model_name v_name = model_name(context, "layers.{i}/attn/v", context->layer, "");
    const tapml_graph_value k_state =
        model_state(context, k_name.text, sizes->kv_heads, sizes->head_width);
    const tapml_graph_value v_state =
        model_state(context, v_name.text, sizes->kv_heads, sizes->head_width);

    q = model_rope(context, "q_rope", q, shared->cosines, shared->sines, 0);
    k = model_rope(context, "k_rope", k, shared->cosines, shared->sines, 0);
    model_state_append(context, "k_append", k_state, k);
    model_state_append(context, "v_append", v_state, v);

    tapml_graph_value y = model_attention(context, "attention", q, k_state, v_state, &options);

    y = model_linear(context, "o_proj", model_reshape(context, y, rows, 2), &out);
    y = model_add(context, "add", h, y);
    model_scope_end(context);
    return y;
}

static tapml_graph_value
mlp(struct model_context *context, const struct shared *shared, tapml_graph_value h)
{
    const struct sizes *sizes = shared->sizes;
    const struct model_decoder_tensors *tensors = &shared->decoder->tensors;
    const struct model_linear gate = {.tensor = tensors->gate,
                                      .in = sizes->hidden,
                                      .out = sizes->mlp_width,
                                      .has_bias = sizes->has_mlp_biases};
    struct model_linear up = gate;
    struct model_linear down = gate;

    up.tensor = tensors->up;
    down.tensor = tensors->down;
    down.in = sizes->mlp_width;
    down.out = sizes->hidden;

    model_scope_begin(context, "mlp");

    const tapml_graph_value x = norm(context, sizes, tensors->mlp_norm, h);
    const tapml_graph_value a =
        model_activation(context, sizes->activation, model_linear(context, "gate_proj", x, &gate));
    const tapml_graph_value b = model_linear(context, "up_proj", x, &up);
    tapml_graph_value y = model_multiply(context, "mul", a, b);

    y = model_linear(context, "down_proj", y, &down);
    y = model_add(context, "add", h, y);
    model_scope_end(context);
    return y;
}

// Without a tensor of its own, or where the config ties it, the head is the embedding.
static const char *head_tensor(struct model_context *context, const struct shared *shared)
{
    const struct sizes *sizes = shared->sizes;
    const struct model_decoder_tensors *tensors = &shared->decoder->tensors;
    const int64_t shape[] = {sizes->vocabulary, sizes->hidden};
    const struct model_name name = model_name(context, tensors->head, 0, ".weight");

    return !sizes->is_tied && model_has_tensor(context, name.text, shape, 2, 1) ? tensors->head
                                                                                : tensors->embed;
}

static tapml_graph_value input(struct model_context *context, const char *name, int64_t pairs)
{
    const int64_t shape[] = {TAPML_SYM_TOKENS, pairs};

    return model_input(context, name, TAPML_FROM_FILL, TAPML_F32, shape, 2);
}

static void build_graph(struct model_context *context, struct shared *shared)
{
    const struct sizes *sizes = shared->sizes;
    const struct model_decoder_tensors *tensors = &shared->decoder->tensors;
    const int64_t tokens = TAPML_SYM_TOKENS;
    const int64_t wanted = TAPML_SYM_ROWS;
    const tapml_graph_value ids =
        model_input(context, "input_ids", TAPML_FROM_USER, TAPML_I32, &tokens, 1);
    const tapml_graph_value rows =
        model_input(context, "rows", TAPML_FROM_HOST, TAPML_I32, &wanted, 1);

    shared->cosines = input(context, cosines_name, sizes->rope.pairs);
    shared->sines = input(context, sines_name, sizes->rope.pairs);

    tapml_graph_value h =
        model_embed(context, "embed", ids, tensors->embed, sizes->vocabulary, sizes->hidden);

    for (context->layer = 0; context->layer < sizes->layers; context->layer++) {
        model_output_hidden(context, context->layer, h);
        model_scope_begin(context, "layers.{i}");
        h = attention(context, shared, h);
        h = mlp(context, shared, h);
        model_scope_end(context);
    }
    h = norm(context, sizes, tensors->norm, h);
    model_output_hidden(context, sizes->layers, h);

    const struct model_linear head = {
        .tensor = head_tensor(context, shared), .in = sizes->hidden, .out = sizes->vocabulary};

    h = model_gather_rows(context, "rows", h, rows);
    model_output(context, "logits", model_linear(context, "head", h, &head));
}

static tapml_status
match(tapml_object *root, tapml_call *call, tapml_object *config, uint32_t *out_score)
{
    const struct model_decoder *decoder = model_root_description(root);
    struct model_context context;

    model_context_init(&context, model_root_host(root), call, config);

    const tapml_host_config *table = context.config_table;
    const char *type = table->string(config, "/model_type", "");
    const char *class_name = table->string(config, "/architectures/0", "");

    if (strcmp(type, decoder->model_type) == 0) {
        *out_score = 100;
    } else {
        *out_score = *type == '\0' && strcmp(class_name, decoder->class_name) == 0 ? 90 : 0;
    }
    return TAPML_OK;
}

static tapml_status build(tapml_object *root,
                          tapml_call *call,
                          tapml_object *config,
                          tapml_object *weights,
                          tapml_object *graph)
{
    struct model_context context;
    struct sizes sizes;
    struct shared shared = {.decoder = model_root_description(root), .sizes = &sizes};

    model_context_init(&context, model_root_host(root), call, config);
    context.weights = weights;
    context.graph = graph;
    read_sizes(&context, shared.decoder, &sizes);
    if (context.status == TAPML_OK) {
        build_graph(&context, &shared);
    }
    return context.status;
}

static tapml_status fill(tapml_object *root,
                         tapml_call *call,
                         tapml_object *config,
                         const char *name,
                         int64_t first,
                         int64_t count,
                         int64_t length,
                         void *target,
                         uint64_t target_bytes)
{
    const int is_sine = strcmp(name, sines_name) == 0;
    struct model_context context;
    struct sizes sizes;

    model_context_init(&context, model_root_host(root), call, config);
    read_sizes(&context, model_root_description(root), &sizes);
    if (context.status != TAPML_OK) {
        return context.status;
    }
    if (!is_sine && strcmp(name, cosines_name) != 0) {
        return model_fail(&context, TAPML_NOT_FOUND, "no input '%.64s' is filled here", name);
    }
    if (count < 0 || target_bytes / sizeof(float) != (uint64_t)count * (uint64_t)sizes.rope.pairs) {
        return model_fail(&context, TAPML_INVALID, "'%s' of %lld tokens has not %llu bytes", name,
                          (long long)count, (unsigned long long)target_bytes);
    }
    model_rope_fill(&sizes.rope, is_sine, first, count, length, target);
    return TAPML_OK;
}

tapml_status model_decoder_create(const struct model_decoder *decoder,
                                  const tapml_host *host,
                                  tapml_call *call,
                                  tapml_object **out_root)
{
    static const tapml_model table = {
        .hdr = TAPML_HDR(tapml_model), .match = match, .build = build, .fill = fill};

    return model_root_create(&table, decoder, host, call, out_root);
}
