// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Bloom (arXiv 2211.05100): positions by slopes (ALiBi), a norm behind the embedding, one tensor
// that holds query, key and value of one head after the other. Many files leave "transformer." out
// of the names.
#include <tapml/model/block.h>

const struct model_decoder describe_bloom = {
    .model_type = "bloom",
    .class_name = "BloomForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .embed_steps = {model_embed_norm},
    .layout = model_layout_whole,
    .mlp = model_mlp_plain,
    .ropes = MODEL_ROPES_NONE,
    .slopes = model_slopes_alibi,
    .keys =
        {
            .hidden = "/hidden_size|/n_embed",
            .layers = "/n_layer|/num_hidden_layers",
            .heads = "/n_head|/num_attention_heads",
            .vocabulary = "/vocab_size",
            .eps = "/layer_norm_epsilon",
            .is_tied = "/tie_word_embeddings",
            .adds_normed = "/apply_residual_connection_post_layernorm",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "gelu_new", // The class has this one, and no key for it.
            .mlp_factor = 4,
            .is_tied = 1,
            .has_attention_biases = 1,
            .has_mlp_biases = 1,
        },
    .tensors =
        {
            .embed = "transformer.word_embeddings",
            .embed_norm = "transformer.word_embeddings_layernorm",
            .attention_norm = "transformer.h.{i}.input_layernorm",
            .qkv = "transformer.h.{i}.self_attention.query_key_value",
            .o = "transformer.h.{i}.self_attention.dense",
            .mlp_norm = "transformer.h.{i}.post_attention_layernorm",
            .up = "transformer.h.{i}.mlp.dense_h_to_4h",
            .down = "transformer.h.{i}.mlp.dense_4h_to_h",
            .norm = "transformer.ln_f",
            .head = "lm_head",
        },
    .ignored = {"/seq_length", "/offset_alibi", "/skip_bias_add", "/skip_bias_add_qkv",
                "/masked_softmax_fusion", "/bias_dropout_fusion", "/n_positions"},
};
