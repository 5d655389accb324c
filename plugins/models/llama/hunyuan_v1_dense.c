// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Hunyuan, its dense models: Llama whose heads of queries and keys are normalised behind the rope,
// the base of which an alpha may raise.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_hunyuan_v1_dense = {
    .model_type = "hunyuan_v1_dense",
    .class_name = "HunYuanDenseV1ForCausalLM",
    .head_steps = {model_heads_turn, model_heads_norm},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim|/attention_head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 2048, .takes_alpha = 1},
        },
    .tensors =
        {
            MODEL_TENSORS_LLAMA,
            .q_norm = "model.layers.{i}.self_attn.query_layernorm",
            .k_norm = "model.layers.{i}.self_attn.key_layernorm",
        },
    // Of images, of classification and of mixtures, which these models have not.
    .ignored = {"/class_num", "/pool_type", "/dense_list", "/cla_share_factor", "/org_vocab_size",
                "/mask_init_id", "/im_start_id", "/im_end_id", "/im_newline_id", "/text_start_id",
                "/text_end_id", "/sep_id", "/pad_id"},
    .expected = {{"/use_qk_norm", "true"},
                 {"/norm_type", "\"rms\""},
                 {"/use_rotary_pos_emb", "true"},
                 {"/mlp_bias", "false"},
                 {"/num_experts", "1"}},
};
