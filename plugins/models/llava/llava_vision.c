// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The image part of LLaVA: the tower of CLIP (arXiv 2103.00020) and a projector.
//
// x = norm([class; patches]) + positions; every layer: x = x + attention(norm(x)),
// x = x + fc2(act(fc1(norm(x)))); features = linear_2(act(linear_1(x of a layer))).
//
// A call is one image, all of whose sizes are numbers of the config.
#include "llava.h"

#include <tapml/model/recurrence.h>
#include <tapml/model/root.h>

#include <math.h>

enum {
    WIDTH_MAX = 1 << 20,
    SIDE_MAX = 1 << 14,
    CHANNELS_MAX = 1 << 8,
    LAYERS_MAX = 1 << 10,
    HEADS_MAX = 1 << 14,
    FEATURES_MAX = 16 // Layers whose features are taken.
};

struct sizes {
    int64_t hidden, layers, heads, mlp_width, channels, side, patch;
    int64_t patches; // Of an image; a row for each, behind that of the class.
    double eps;
    const char *activation;

    int64_t features[FEATURES_MAX]; // Numbers of hidden states, 0 .. layers.
    int64_t feature_count;
    int drops_class; // Their first row.

    int64_t out; // The width of the text part.
    const char *out_activation;
    int has_out_biases;
};

// -- The config ----------------------------------------------------------------------------------

#define VISION "/vision_config"

// With a section, absent keys have the defaults of CLIP's class, without one those of LLaVA's.
static void read_tower(struct model_context *context, struct sizes *sizes)
{
    const tapml_host_config *table = context->config_table;
    const int is_clip = table->has(context->config, VISION);
    static const char *const kinds[] = {"clip_vision_model", NULL};

    (void)model_config_choice(context, VISION "/model_type", kinds[0], kinds);
    sizes->hidden =
        model_config_count(context, VISION "/hidden_size", is_clip ? 768 : 1024, WIDTH_MAX);
    sizes->mlp_width =
        model_config_count(context, VISION "/intermediate_size", is_clip ? 3072 : 4096, WIDTH_MAX);
    sizes->layers =
        model_config_count(context, VISION "/num_hidden_layers", is_clip ? 12 : 24, LAYERS_MAX);
    sizes->heads =
        model_config_count(context, VISION "/num_attention_heads", is_clip ? 12 : 16, HEADS_MAX);
    sizes->channels = model_config_count(context, VISION "/num_channels", 3, CHANNELS_MAX);
    sizes->side = model_config_count(context, VISION "/image_size", is_clip ? 224 : 336, SIDE_MAX);
    sizes->patch = model_config_count(context, VISION "/patch_size", is_clip ? 32 : 14, SIDE_MAX);
    sizes->eps = model_config_eps(context, VISION "/layer_norm_eps", 1e-5);
    sizes->activation = model_config_activation(context, VISION "/hidden_act", "quick_gelu");
}

static void check_tower(struct model_context *context, struct sizes *sizes)
{
    if (context->status == TAPML_OK && sizes->hidden % sizes->heads != 0) {
        model_fail(context, TAPML_INVALID,
                   "'vision_config/num_attention_heads': %lld hidden values do not divide among "
                   "%lld heads",
                   (long long)sizes->hidden, (long long)sizes->heads);
    }
    if (context->status == TAPML_OK && sizes->side % sizes->patch != 0) {
        model_fail(context, TAPML_INVALID,
                   "'vision_config/patch_size': images of %lld times %lld do not divide into "
                   "patches of %lld times %lld",
                   (long long)sizes->side, (long long)sizes->side, (long long)sizes->patch,
                   (long long)sizes->patch);
    }
    if (context->status == TAPML_OK) {
        sizes->patches = (sizes->side / sizes->patch) * (sizes->side / sizes->patch);
    }
}

// A hidden state by its number, or from the end by a number below 0.
static void add_feature(struct model_context *context, struct sizes *sizes, const char *pointer)
{
    const int64_t states = sizes->layers + 1;
    const int64_t index = context->config_table->i64(context->config, pointer, -2);

    if (context->status == TAPML_OK && (index < -states || index >= states)) {
        model_fail(context, TAPML_INVALID,
                   "'%s' is %lld, expected %lld to %lld: the tower has %lld layers", pointer + 1,
                   (long long)index, (long long)-states, (long long)(states - 1),
                   (long long)sizes->layers);
        return;
    }
    sizes->features[sizes->feature_count++] = index < 0 ? index + states : index;
}

// One number, or a list of them.
static void read_features(struct model_context *context, struct sizes *sizes)
{
    static const char key[] = "/vision_feature_layer";
    static const char *const strategies[] = {"default", "full", NULL};
    const tapml_host_config *table = context->config_table;
    const int is_list = table->has(context->config, "/vision_feature_layer/0");
    const int64_t count = is_list ? table->length(context->config, key) : 1;

    if (count < 1 || count > FEATURES_MAX) {
        model_fail(context, TAPML_INVALID, "'%s' has %lld layers, expected 1 to %d", key + 1,
                   (long long)count, FEATURES_MAX);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        add_feature(context, sizes,
                    is_list ? model_name(context, "/vision_feature_layer/{i}", i, "").text : key);
    }
    sizes->drops_class = model_config_choice(context, "/vision_feature_select_strategy",
                                             strategies[0], strategies) == strategies[0];
}

static void read_sizes(struct model_context *context, struct sizes *sizes)
{
    static const char *const ignored[] = {
        LLAVA_TEXT,          LLAVA_IMAGE_TOKEN,        LLAVA_IMAGE_TOKEN_NEW,
        "/image_seq_length", "/tie_word_embeddings",   "/ignore_index",
        "/vocab_size",       VISION "/projection_dim", VISION "/vocab_size"};
    const tapml_host_config *table = context->config_table;

    *sizes = (struct sizes){0};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++) {
        table->ignore(context->config, ignored[i]);
    }
    read_tower(context, sizes);
    check_tower(context, sizes);
    read_features(context, sizes);
    sizes->out =
        model_config_count(context, LLAVA_TEXT "/hidden_size", LLAVA_TEXT_WIDTH, WIDTH_MAX);
    sizes->out_activation = model_config_activation(context, "/projector_hidden_act", "gelu");
    sizes->has_out_biases = table->boolean(context->config, "/multimodal_projector_bias", 1);
}

// -- The tower -----------------------------------------------------------------------------------

#define TOWER "vision_tower."
#define LAYER TOWER "encoder.layers.{i}."

// Of the pixels [channels, side, side] a row for each patch, as its weight lies: [patches, hidden].
static tapml_graph_value embed_patches(struct model_context *context, const struct sizes *sizes)
{
    const int64_t image[] = {sizes->channels, sizes->side, sizes->side};
    const int64_t n = sizes->side / sizes->patch;
    const int64_t parts[] = {sizes->channels, n, sizes->patch, n, sizes->patch};
    static const uint32_t axes[] = {1, 3, 0, 2, 4};
    const int64_t stored[] = {sizes->hidden, sizes->channels, sizes->patch, sizes->patch};
    const int64_t rows[] = {sizes->patches, sizes->channels * sizes->patch * sizes->patch};
    const int64_t weights[] = {sizes->hidden, rows[1]};
    tapml_graph_value x =
        model_input(context, "pixel_values", TAPML_FROM_USER, TAPML_F32, image, 3);

    x = model_transpose(context, model_reshape(context, x, parts, 5), axes, 5);
    x = model_reshape(context, model_copy(context, "patches", x), rows, 2);
    return model_linear_value(
        context, "patch_embedding", x,
        model_reshape(context,
                      model_weight(context, TOWER "embeddings.patch_embedding.weight", stored, 4),
                      weights, 2),
        0);
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
                                           .has_bias = 1});
}

// The rows of class and patches, with their positions: [patches + 1, hidden]. The operator that
// puts values side by side does so on the last axis, so that rows are columns for it.
static tapml_graph_value embed(struct model_context *context, const struct sizes *sizes)
{
    static const uint32_t swapped[] = {1, 0};
    const int64_t column[] = {sizes->hidden, 1};
    const int64_t rows[] = {sizes->patches + 1, sizes->hidden};
    const tapml_graph_value patches =
        model_transpose(context, embed_patches(context, sizes), swapped, 2);
    const tapml_graph_value class_row =
        model_reshape(context,
                      model_operand(context, "class_embedding", TOWER "embeddings.class_embedding",
                                    &sizes->hidden, 1),
                      column, 2);
    const tapml_graph_value positions =
        model_reshape(context,
                      model_operand(context, "position_embedding",
                                    TOWER "embeddings.position_embedding.weight", rows, 2),
                      rows, 2);
    const tapml_graph_value columns = model_concat(context, "add_class", class_row, patches);
    const tapml_graph_value x = model_add(context, "add_positions",
                                          model_transpose(context, columns, swapped, 2), positions);

    return norm(context, sizes, "embed_norm", TOWER "pre_layrnorm", x); // Spelt like this.
}

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

static tapml_graph_value heads_of(struct model_context *context,
                                  const struct sizes *sizes,
                                  const char *name,
                                  const char *tensor,
                                  tapml_graph_value x)
{
    const int64_t shape[] = {sizes->patches + 1, sizes->heads, sizes->hidden / sizes->heads};

    return model_reshape(context, linear(context, name, tensor, x, sizes->hidden, sizes->hidden),
                         shape, 3);
}

// Every row sees every other one.
static tapml_graph_value
attention(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    const int64_t width = sizes->hidden / sizes->heads;
    const int64_t rows[] = {sizes->patches + 1, sizes->hidden};
    const int64_t heads[] = {sizes->patches + 1, sizes->heads, width};
    const tapml_graph_value k_state =
        model_fixed_state(context, "vision/layers.{i}/attn/k", heads, 3);
    const tapml_graph_value v_state =
        model_fixed_state(context, "vision/layers.{i}/attn/v", heads, 3);

    model_scope_begin(context, "attn");

    const tapml_graph_value h = norm(context, sizes, "norm", LAYER "layer_norm1", x);
    const tapml_graph_value q = heads_of(context, sizes, "q_proj", LAYER "self_attn.q_proj", h);
    const tapml_graph_value k = heads_of(context, sizes, "k_proj", LAYER "self_attn.k_proj", h);
    const tapml_graph_value v = heads_of(context, sizes, "v_proj", LAYER "self_attn.v_proj", h);

    model_state_append(context, "k_append", k_state, k);
    model_state_append(context, "v_append", v_state, v);

    tapml_graph_value y =
        model_attention(context, "attention", q, k_state, v_state,
                        &(struct model_attention){.scale = 1 / sqrt((double)width)});

    y = linear(context, "o_proj", LAYER "self_attn.out_proj", model_reshape(context, y, rows, 2),
               sizes->hidden, sizes->hidden);
    y = model_add(context, "add", x, y);
    model_scope_end(context);
    return y;
}

static tapml_graph_value
mlp(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    model_scope_begin(context, "mlp");

    tapml_graph_value y = norm(context, sizes, "norm", LAYER "layer_norm2", x);

    y = linear(context, "up_proj", LAYER "mlp.fc1", y, sizes->hidden, sizes->mlp_width);
    y = linear(context, "down_proj", LAYER "mlp.fc2",
               model_activation(context, sizes->activation, y), sizes->mlp_width, sizes->hidden);
    y = model_add(context, "add", x, y);
    model_scope_end(context);
    return y;
}

// The features of the hidden state `x`, whose number is `index`, where they are taken.
static void take_features(struct model_context *context,
                          const struct sizes *sizes,
                          int64_t index,
                          tapml_graph_value x,
                          tapml_graph_value *features)
{
    for (int64_t i = 0; i < sizes->feature_count; i++) {
        if (sizes->features[i] == index) {
            features[i] =
                sizes->drops_class ? model_slice(context, x, 0, 1, sizes->patches + 1) : x;
        }
    }
}

static int64_t last_feature(const struct sizes *sizes)
{
    int64_t last = 0;

    for (int64_t i = 0; i < sizes->feature_count; i++) {
        last = sizes->features[i] > last ? sizes->features[i] : last;
    }
    return last;
}

// The features of all layers that are taken, side by side. Layers behind the last one are left out.
static tapml_graph_value build_tower(struct model_context *context, const struct sizes *sizes)
{
    const int64_t last = last_feature(sizes);
    tapml_graph_value features[FEATURES_MAX] = {0};

    model_scope_begin(context, "vision");

    tapml_graph_value x = embed(context, sizes);

    take_features(context, sizes, 0, x, features);
    for (context->layer = 0; context->layer < last; context->layer++) {
        model_scope_begin(context, "layers.{i}");
        x = mlp(context, sizes, attention(context, sizes, x));
        model_scope_end(context);
        take_features(context, sizes, context->layer + 1, x, features);
    }
    x = features[0];
    for (context->layer = 1; context->layer < sizes->feature_count; context->layer++) {
        x = model_concat(context, model_name(context, "features.{i}", context->layer, "").text, x,
                         features[context->layer]);
    }
    model_scope_end(context);
    return x;
}

// -- The graph -----------------------------------------------------------------------------------

// The tower's tensors as the hub has them, as newer classes write them, and both with a prefix.
static void find_tower(struct model_context *context, const struct sizes *sizes)
{
    static const struct model_renaming usual[] = {{NULL, NULL},
                                                  {TOWER, TOWER "vision_model."},
                                                  {"", "model."},
                                                  {TOWER, "model." TOWER "vision_model."}};
    const int64_t shape[] = {sizes->patches + 1, sizes->hidden};

    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
        context->renaming = usual[i];
        if (model_has_tensor(context, TOWER "embeddings.position_embedding.weight", shape, 2, 1)) {
            return;
        }
    }
    context->renaming = usual[0];
}

static tapml_graph_value
project(struct model_context *context, const struct sizes *sizes, tapml_graph_value x)
{
    static const struct model_renaming usual[] = {{NULL, NULL}, {"", "model."}};
    const int64_t shape[] = {sizes->out, sizes->hidden * sizes->feature_count};
    struct model_linear layer = {.tensor = "multi_modal_projector.linear_1",
                                 .in = shape[1],
                                 .out = shape[0],
                                 .has_bias = sizes->has_out_biases};

    context->renaming = usual[1];
    if (!model_has_tensor(context, "multi_modal_projector.linear_1.weight", shape, 2, 0)) {
        context->renaming = usual[0];
    }
    model_scope_begin(context, "projector");
    x = model_activation(context, sizes->out_activation,
                         model_linear(context, "linear_1", x, &layer));
    layer.tensor = "multi_modal_projector.linear_2";
    layer.in = sizes->out;
    x = model_linear(context, "linear_2", x, &layer);
    model_scope_end(context);
    return x;
}

static void build(struct model_context *context, const void *description)
{
    struct sizes sizes;

    read_sizes(context, &sizes);
    if (context->status == TAPML_OK) {
        context->is_whole = 1;
        find_tower(context, &sizes);

        const tapml_graph_value features = build_tower(context, &sizes);

        model_output(context, LLAVA_FEATURES, project(context, &sizes, features));
    }
}

static void
fill(struct model_context *context, const void *description, const struct model_fill *fill)
{
    model_fill_nothing(context, fill);
}

// Only taken by its name, for which no config is: `llava` says when.
const struct model_architecture describe_llava_vision = {
    .model_type = LLAVA_VISION,
    .class_name = "",
    .build = build,
    .fill = fill,
};
