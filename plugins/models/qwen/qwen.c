// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen (arXiv 2309.16609), the first: one tensor for queries, keys and values, which has a bias;
// the activation is on what other names call up. Beyond the trained length the base of the rope
// grows by steps, and queries by the logarithm of their position.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

#include <math.h>

// The key says the width of both halves together.
static void halve_mlp(struct model_context *context, struct model_sizes *sizes)
{
    if (sizes->mlp_width % 2 != 0) {
        model_fail(context, TAPML_INVALID, "'intermediate_size' is %lld, expected an even number",
                   (long long)sizes->mlp_width);
    }
    sizes->mlp_width /= 2;
}

static void
grow_queries(struct model_context *context, int64_t first, int64_t count, float *out_factors)
{
    const double length = (double)model_config_count(context, "/seq_length", 8192, 1 << 30);
    const int grows = model_config_boolean_of(context, "/use_logn_attn", 1) && length > 1;

    for (int64_t i = 0; i < count; i++) {
        const double position = (double)(first + i + 1);

        out_factors[i] = grows && position > length ? (float)(log(position) / log(length)) : 1;
    }
}

const struct model_decoder describe_qwen = {
    .model_type = "qwen",
    .class_name = "QWenLMHeadModel",
    .resize = halve_mlp,
    .layout = model_layout_blocks,
    .head_steps = {model_heads_turn, model_heads_factor},
    .factors = grow_queries,
    .keys =
        {
            // Behind the bar what the first files had.
            .hidden = "/hidden_size|/n_embd",
            .layers = "/num_hidden_layers|/n_layer",
            .heads = "/num_attention_heads|/n_head",
            .mlp_width = "/intermediate_size|/ffn_hidden_size",
            .vocabulary = "/vocab_size|/padded_vocab_size",
            .is_tied = "/tie_word_embeddings",
            .head_width = "/kv_channels",
            .eps = "/layer_norm_epsilon",
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "silu",
            .has_attention_biases = 1,
            .output_bias = MODEL_OUTPUT_BIAS_NEVER,
            .rope = {.theta = 10000,
                     .positions = 8192,
                     .width = "kv_channels",
                     .base = "/rotary_emb_base",
                     .shares = "/rotary_pct",
                     .doubles = "/use_dynamic_ntk",
                     .length = "/seq_length"},
        },
    .tensors =
        {
            .embed = "transformer.wte",
            .norm = "transformer.ln_f",
            .head = "lm_head",
            .attention_norm = "transformer.h.{i}.ln_1",
            .qkv = "transformer.h.{i}.attn.c_attn",
            .o = "transformer.h.{i}.attn.c_proj",
            .mlp_norm = "transformer.h.{i}.ln_2",
            .gate = "transformer.h.{i}.mlp.w2",
            .up = "transformer.h.{i}.mlp.w1",
            .down = "transformer.h.{i}.mlp.c_proj",
        },
    .ignored = {"/max_position_embeddings", "/bf16", "/fp16", "/fp32", "/use_flash_attn",
                "/softmax_in_fp32", "/onnx_safe", "/bias_dropout_fusion", "/n_positions",
                "/params_dtype", "/tokenizer_type",
                "/rope_theta"}, // The class reads "rotary_emb_base".
    .expected = {{"/no_bias", "true"},
                 {"/scale_attn_weights", "true"},
                 {"/activation", "\"swiglu\""},
                 {"/pos_emb", "\"rotary\""},
                 {"/apply_residual_connection_post_layernorm", "false"}},
};
