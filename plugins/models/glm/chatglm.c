// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// ChatGLM 2 and 3, and GLM-4 with the code that came with it (arXiv 2406.12793): GLM-4 under names
// of its own, with queries, keys and values in one tensor. The layers have numbers with which
// queries and scores are scaled to and fro ("apply_query_key_layer_scaling"): nothing is left of
// them. ChatGLM-6B, the first, is another model, whose keys are refused.
#include <tapml/model/block.h>

// The number of groups counts only where there are groups.
static void share_keys(struct model_context *context, struct model_sizes *sizes)
{
    const int has_groups = model_config_boolean_of(context, "/multi_query_attention", 0);

    sizes->kv_heads =
        has_groups ? model_config_count_of(context, sizes->decoder->keys.kv_heads, 1, sizes->heads)
                   : sizes->heads;
}

const struct model_decoder describe_chatglm = {
    .model_type = "chatglm",
    .class_name = "ChatGLMModel",
    .resize = share_keys,
    .layout = model_layout_blocks,
    .mlp = model_mlp_fused,
    .is_rope_interleaved = 1,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_layers|/num_hidden_layers",
            .heads = "/num_attention_heads",
            .kv_heads = "/multi_query_group_num",
            .head_width = "/kv_channels",
            .mlp_width = "/ffn_hidden_size",
            .vocabulary = "/padded_vocab_size|/vocab_size",
            .eps = "/layernorm_epsilon",
            .is_tied = "/tie_word_embeddings",
            .attention_biases = "/add_qkv_bias",
        },
    .defaults =
        {
            .sizes = {.hidden = 4096,
                      .layers = 28,
                      .heads = 32,
                      .head_width = 128,
                      .mlp_width = 13696,
                      .vocabulary = 65024},
            .eps = 1e-5,
            .activation = "silu", // The class has no key for it.
            .output_bias = MODEL_OUTPUT_BIAS_NEVER,
            .rope =
                {
                    .theta = 10000,
                    .positions = 8192,
                    .share = 0.5,
                    .width = "kv_channels",
                    .ratio = "/rope_ratio",
                },
        },
    .tensors =
        {
            .embed = "transformer.embedding.word_embeddings",
            .attention_norm = "transformer.encoder.layers.{i}.input_layernorm",
            .qkv = "transformer.encoder.layers.{i}.self_attention.query_key_value",
            .o = "transformer.encoder.layers.{i}.self_attention.dense",
            .mlp_norm = "transformer.encoder.layers.{i}.post_attention_layernorm",
            .gate = "transformer.encoder.layers.{i}.mlp.dense_h_to_4h",
            .down = "transformer.encoder.layers.{i}.mlp.dense_4h_to_h",
            .norm = "transformer.encoder.final_layernorm",
            .head = "transformer.output_layer",
        },
    .ignored = {"/apply_query_key_layer_scaling", "/bias_dropout_fusion", "/seq_length",
                "/fp32_residual_connection", "/pre_seq_len", "/prefix_projection",
                // The image part of GLM-4V.
                "/vision_config"},
    .expected = {{"/rmsnorm", "true"},
                 {"/post_layer_norm", "true"},
                 {"/add_bias_linear", "false"},
                 {"/apply_residual_connection_post_layernorm", "false"},
                 {"/original_rope", "true"},
                 {"/interleaved_qkv", "false"},
                 {"/quantization_bit", "0"}},
};
