// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// OPT (arXiv 2205.01068): learned positions from row 2 on, layer norms with an eps of their own, an
// MLP with relu. The one of 350 million parameters has norms behind each half, on the residual
// stream, and an embedding that is narrower than the stream.
#include <tapml/model/block.h>

static int is_norm_before(struct model_context *context)
{
    return model_config_boolean_of(context, "/do_layer_norm_before", 1);
}

static tapml_graph_value
add_positions(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    return model_embed_positions_from(context, block, x, 2);
}

// Between the width of the embedding and that of the stream, where they differ.
static tapml_graph_value
widen(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_linear linear = {.tensor = "model.decoder.project_in",
                                        .in = block->sizes->embed_width,
                                        .out = block->sizes->hidden};

    return linear.in != linear.out ? model_linear(context, "project_in", x, &linear) : x;
}

static tapml_graph_value
narrow(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_linear linear = {.tensor = "model.decoder.project_out",
                                        .in = block->sizes->hidden,
                                        .out = block->sizes->embed_width};

    return linear.in != linear.out ? model_linear(context, "project_out", x, &linear) : x;
}

static tapml_graph_value
norm_last(struct model_context *context, const struct model_block *block, tapml_graph_value h)
{
    const int is_removed = model_config_boolean_of(context, "/_remove_final_layer_norm", 0);

    return is_norm_before(context) && !is_removed
               ? model_block_norm(context, block, "norm", "model.decoder.final_layer_norm", h)
               : h;
}

// h + y, normalised.
static tapml_graph_value close_half(struct model_context *context,
                                    const struct model_block *block,
                                    const char *norm,
                                    tapml_graph_value h,
                                    tapml_graph_value y)
{
    return model_block_norm(context, block, "norm", norm, model_add(context, "add", h, y));
}

static tapml_graph_value
layer(struct model_context *context, const struct model_block *block, tapml_graph_value h)
{
    const struct model_decoder_tensors *tensors = &block->decoder->tensors;

    if (is_norm_before(context)) {
        return model_layer_residual(context, block, h);
    }
    model_scope_begin(context, "attn");
    h = close_half(context, block, tensors->attention_norm, h,
                   model_mixer_attention(context, block, h));
    model_scope_end(context);
    model_scope_begin(context, "mlp");
    h = close_half(context, block, tensors->mlp_norm, h, model_mlp_plain(context, block, h));
    model_scope_end(context);
    return h;
}

const struct model_decoder describe_opt = {
    .model_type = "opt",
    .class_name = "OPTForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .embed_steps = {widen, add_positions},
    .layer = layer,
    .mlp = model_mlp_plain,
    .norm_steps = {norm_last, narrow},
    .ropes = MODEL_ROPES_NONE,
    .keys =
        {
            .hidden = "/hidden_size",
            .embed_width = "/word_embed_proj_dim",
            .layers = "/num_hidden_layers",
            .heads = "/num_attention_heads",
            .mlp_width = "/ffn_dim",
            .vocabulary = "/vocab_size",
            .positions = "/max_position_embeddings",
            .activation = "/activation_function",
            .is_tied = "/tie_word_embeddings",
            .attention_biases = "/enable_bias",
            .mlp_biases = "/enable_bias",
            .norm_weights = "/layer_norm_elementwise_affine",
        },
    .defaults =
        {
            .sizes = {.hidden = 768,
                      .layers = 12,
                      .heads = 12,
                      .mlp_width = 3072,
                      .vocabulary = 50272,
                      .positions = 2048},
            .eps = 1e-5,
            .activation = "relu",
            .is_tied = 1,
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
        },
    .tensors =
        {
            .embed = "model.decoder.embed_tokens",
            .positions = "model.decoder.embed_positions",
            .attention_norm = "model.decoder.layers.{i}.self_attn_layer_norm",
            .q = "model.decoder.layers.{i}.self_attn.q_proj",
            .k = "model.decoder.layers.{i}.self_attn.k_proj",
            .v = "model.decoder.layers.{i}.self_attn.v_proj",
            .o = "model.decoder.layers.{i}.self_attn.out_proj",
            .mlp_norm = "model.decoder.layers.{i}.final_layer_norm",
            .up = "model.decoder.layers.{i}.fc1",
            .down = "model.decoder.layers.{i}.fc2",
            .head = "lm_head",
        },
    .ignored = {"/embed_dim"},
    .expected = {{"/learned_embeddings", "true"}}, // Galactica says so of the table of positions.
};
