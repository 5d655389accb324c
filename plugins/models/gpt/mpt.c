// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// MPT (MosaicML, 2023): slopes in place of positions, by a rule of its own; layer norms without
// biases; queries, keys and values in one tensor, and limited if the config says so. Without slopes
// it has learned positions.
#include <tapml/model/block.h>

#include <math.h>

static int has_slopes(struct model_context *context)
{
    return model_config_boolean_of(context, "/attn_config/alibi", 1);
}

// The MLP is so many times as wide as the stream. Norms of low precision are a way to compute them.
static void resize(struct model_context *context, struct model_sizes *sizes)
{
    static const char *const norms[] = {"low_precision_layernorm", "layernorm", NULL};
    const int64_t most = MODEL_WIDTH_MAX / sizes->hidden;
    const int64_t ratio =
        model_config_count_of(context, "/expansion_ratio", 4, most > 0 ? most : 1);

    sizes->mlp_width = ratio * sizes->hidden;
    model_config_choice(context, "/norm_type", norms[0], norms);
}

static tapml_graph_value
add_positions(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const int is_learned = model_config_boolean_of(context, "/learned_pos_emb", 1);

    return !has_slopes(context) && is_learned ? model_embed_positions(context, block, x) : x;
}

// Slopes of a power of two of heads, 2^(-i * most / power); of fewer heads every second one first.
static tapml_graph_value slopes(struct model_context *context, int64_t heads)
{
    const double most = model_config_factor(context, "/attn_config/alibi_bias_max", 8);
    const int64_t power = (int64_t)exp2(ceil(log2((double)heads)));
    float slopes[MODEL_HEADS_MAX];

    if (!has_slopes(context)) {
        return 0;
    }
    for (int64_t i = 0; i < heads; i++) {
        const int64_t odd = 2 * i + 2, even = 2 * (i - power / 2) + 1;
        const int64_t number = power == heads ? i + 1 : i < power / 2 ? odd : even;

        slopes[i] = (float)exp2(-(double)number * most / (double)power);
    }
    return model_constant(context, slopes, heads);
}

static void
clip(struct model_context *context, const struct model_block *block, struct model_heads *heads)
{
    (void)block;
    model_heads_clip_to(context, heads,
                        model_config_number_of(context, "/attn_config/clip_qkv", 0));
}

static void attention(struct model_context *context,
                      const struct model_block *block,
                      struct model_attention *attention)
{
    const double scale = model_config_number_of(context, "/attn_config/softmax_scale", 0);

    (void)block;
    attention->scale = scale > 0 ? scale : attention->scale;
}

const struct model_decoder describe_mpt = {
    .model_type = "mpt",
    .class_name = "MptForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .resize = resize,
    .embed_steps = {add_positions},
    .layout = model_layout_blocks,
    .head_steps = {clip},
    .attention = attention,
    .slopes = slopes,
    .mlp = model_mlp_plain,
    .ropes = MODEL_ROPES_NONE,
    .keys =
        {
            .hidden = "/d_model|/hidden_size",
            .layers = "/n_layers|/num_hidden_layers",
            .heads = "/n_heads|/num_attention_heads",
            .vocabulary = "/vocab_size",
            .positions = "/max_seq_len",
            .eps = "/layer_norm_epsilon",
            .is_tied = "/tie_word_embeddings",
        },
    .defaults =
        {
            .sizes =
                {.hidden = 2048, .layers = 24, .heads = 16, .vocabulary = 50368, .positions = 2048},
            .eps = 1e-5,
            .activation = "gelu", // The class has no key for it.
            .mlp_factor = 4,
            .is_tied = 1,
        },
    .tensors =
        {
            .embed = "transformer.wte",
            .positions = "transformer.wpe",
            .attention_norm = "transformer.blocks.{i}.norm_1",
            .qkv = "transformer.blocks.{i}.attn.Wqkv",
            .o = "transformer.blocks.{i}.attn.out_proj",
            .mlp_norm = "transformer.blocks.{i}.norm_2",
            .up = "transformer.blocks.{i}.ffn.up_proj",
            .down = "transformer.blocks.{i}.ffn.down_proj",
            .norm = "transformer.norm_f",
            .head = "lm_head",
        },
    // Biases are used where there are any. The fraction is about gradients.
    .ignored = {"/no_bias", "/attn_config/attn_impl", "/attn_config/model_type",
                "/embedding_fraction", "/verbose", "/tokenizer_name", "/seq_length",
                "/n_positions"},
    .expected = {{"/attn_config/attn_type", "\"multihead_attention\""},
                 {"/attn_config/qk_ln", "false"},
                 {"/attn_config/prefix_lm", "false"},
                 {"/attn_config/attn_uses_sequence_id", "false"},
                 {"/logit_scale", "null"}},
};
