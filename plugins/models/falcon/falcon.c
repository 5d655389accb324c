// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Falcon (arXiv 2311.16867). The first (7B) has attention and MLP side by side on one norm, and one
// key for all heads. The new architecture (40B, 180B, 11B) has groups of heads, each with its key,
// and one norm or two. Falcon-RW has halves one after the other, and slopes in place of a rope.
#include <tapml/model/block.h>

// Early files of the new architecture do not say so, but name the groups as only they do.
static int is_new(struct model_context *context)
{
    const int has_groups = context->config_table->has(context->config, "/n_head_kv");

    return model_config_boolean_of(context, "/new_decoder_architecture", has_groups);
}

static int has_one_key(struct model_context *context)
{
    return model_config_boolean_of(context, "/multi_query", 1);
}

static int has_slopes(struct model_context *context)
{
    return model_config_boolean_of(context, "/alibi", 0);
}

// The number of keys is read in the new architecture only.
static void resize(struct model_context *context, struct model_sizes *sizes)
{
    static const char *const rope_keys[] = {"/rope_parameters", "/rope_theta", "/rope_scaling",
                                            "/max_position_embeddings"};
    const int is_parallel = model_config_boolean_of(context, "/parallel_attn", 1);
    const int64_t old_heads = has_one_key(context) ? 1 : sizes->heads;

    if (is_new(context) && !is_parallel) {
        model_fail(context, TAPML_UNIMPLEMENTED,
                   "'parallel_attn' is false, expected true in the new architecture");
    }
    sizes->is_parallel = is_parallel;
    if (!is_new(context)) {
        sizes->kv_heads = old_heads;
    }
    if (has_slopes(context)) {
        sizes->ropes_used = MODEL_ROPES_NONE;
        for (size_t i = 0; i < sizeof(rope_keys) / sizeof(*rope_keys); i++) {
            context->config_table->ignore(context->config, rope_keys[i]);
        }
    }
}

static struct model_heads
lay_out(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    return !is_new(context) && has_one_key(context) ? model_layout_blocks(context, block, x)
                                                    : model_layout_groups(context, block, x);
}

// In the order of the layers: two norms, one, or one before each half.
static tapml_graph_value
layer(struct model_context *context, const struct model_block *block, tapml_graph_value h)
{
    static const char key[] = "/num_ln_in_parallel_attn";
    const int64_t norms = model_config_count_of(context, key, is_new(context) ? 2 : 1, 2);
    struct model_decoder decoder = *block->decoder;
    struct model_block own = *block;

    own.decoder = &decoder;
    if (is_new(context) && norms == 2) {
        decoder.tensors.attention_norm = "transformer.h.{i}.ln_attn";
        decoder.tensors.mlp_norm = "transformer.h.{i}.ln_mlp";
    } else if (block->sizes->is_parallel) {
        decoder.tensors.mlp_norm = NULL;
    }
    return model_layer_residual(context, &own, h);
}

static tapml_graph_value slopes(struct model_context *context, int64_t heads)
{
    return has_slopes(context) ? model_slopes_alibi(context, heads) : 0;
}

// The class rounds what it adds, and scales it as it does the products.
static void attention(struct model_context *context,
                      const struct model_block *block,
                      struct model_attention *attention)
{
    (void)block;
    attention->has_rounded_slopes = has_slopes(context);
}

const struct model_decoder describe_falcon = {
    .model_type = "falcon",
    .class_name = "FalconForCausalLM",
    .old_types = "RefinedWeb|RefinedWebModel",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .resize = resize,
    .layer = layer,
    .layout = lay_out,
    .attention = attention,
    .slopes = slopes,
    .mlp = model_mlp_plain,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_hidden_layers|/n_layer",
            .heads = "/num_attention_heads|/n_head",
            .kv_heads = "/num_kv_heads|/n_head_kv",
            .mlp_width = "/ffn_hidden_size",
            .vocabulary = "/vocab_size",
            .eps = "/layer_norm_epsilon",
            .activation = "/activation",
            .is_tied = "/tie_word_embeddings",
            .attention_biases = "/bias",
            .mlp_biases = "/bias",
        },
    .defaults =
        {
            .sizes = {.hidden = 4544, .layers = 32, .heads = 71, .vocabulary = 65024},
            .eps = 1e-5,
            .activation = "gelu",
            .mlp_factor = 4,
            .is_tied = 1,
            .rope = {.theta = 10000, .positions = 2048},
        },
    .tensors =
        {
            .embed = "transformer.word_embeddings",
            .attention_norm = "transformer.h.{i}.input_layernorm",
            .qkv = "transformer.h.{i}.self_attention.query_key_value",
            .o = "transformer.h.{i}.self_attention.dense",
            .mlp_norm = "transformer.h.{i}.post_attention_layernorm",
            .up = "transformer.h.{i}.mlp.dense_h_to_4h",
            .down = "transformer.h.{i}.mlp.dense_4h_to_h",
            .norm = "transformer.ln_f",
            .head = "lm_head",
        },
    .ignored = {"/ff_factor", "/intermediate_size", "/hidden_act"}, // The class reads others.
    .expected = {{"/apply_residual_connection_post_layernorm", "false"}},
};
