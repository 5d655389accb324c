// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-2 (Radford et al., 2019): a learned table of positions, layer norms, one tensor for queries,
// keys and values, weights stored [in, out]. Many files leave "transformer." out of the names.
#include <tapml/model/block.h>

// Scores may be left as they are, and be divided by the layer's number besides.
static void attention(struct model_context *context,
                      const struct model_block *block,
                      struct model_attention *attention)
{
    (void)block;
    if (!model_config_boolean_of(context, "/scale_attn_weights", 1)) {
        attention->scale = 1;
    }
    if (model_config_boolean_of(context, "/scale_attn_by_inverse_layer_idx", 0)) {
        attention->scale /= (double)(context->layer + 1);
    }
}

const struct model_decoder describe_gpt2 = {
    .model_type = "gpt2",
    .class_name = "GPT2LMHeadModel",
    .prefix = "transformer.",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .embed_steps = {model_embed_positions},
    .layout = model_layout_blocks,
    .attention = attention,
    .mlp = model_mlp_plain,
    .ropes = MODEL_ROPES_NONE,
    .is_transposed = 1,
    .keys =
        {
            .hidden = "/n_embd",
            .layers = "/n_layer",
            .heads = "/n_head",
            .mlp_width = "/n_inner",
            .vocabulary = "/vocab_size",
            .eps = "/layer_norm_epsilon",
            .activation = "/activation_function",
            .is_tied = "/tie_word_embeddings",
            .positions = "/n_positions",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "gelu_new",
            .mlp_factor = 4,
            .is_tied = 1,
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
        },
    .tensors =
        {
            .embed = "transformer.wte",
            .positions = "transformer.wpe",
            .attention_norm = "transformer.h.{i}.ln_1",
            .qkv = "transformer.h.{i}.attn.c_attn",
            .o = "transformer.h.{i}.attn.c_proj",
            .mlp_norm = "transformer.h.{i}.ln_2",
            .up = "transformer.h.{i}.mlp.c_fc",
            .down = "transformer.h.{i}.mlp.c_proj",
            .norm = "transformer.ln_f",
            .head = "lm_head",
        },
    .ignored = {"/n_ctx"},
};
