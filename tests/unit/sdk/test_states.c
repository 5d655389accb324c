// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Types of plugins/models with states of a fixed size, which are linked into the test.
#include "architecture.h"
#include "base/text.h"
#include "graph/print.h"
#include "model_types.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One of the two.
struct described {
    const struct model_architecture *architecture;
    const struct model_decoder *decoder;
};

static const struct described falcon_mamba = {.architecture = &describe_falcon_mamba};
static const struct described mamba = {.architecture = &describe_mamba};
static const struct described mamba2 = {.architecture = &describe_mamba2};
static const struct described rwkv4 = {.architecture = &describe_rwkv};
static const struct described rwkv5 = {.architecture = &describe_rwkv5};
static const struct described rwkv6 = {.architecture = &describe_rwkv6};
static const struct described rwkv7 = {.architecture = &describe_rwkv7};
static const struct described lfm2 = {.decoder = &describe_lfm2};
static const struct described qwen3_5 = {.decoder = &describe_qwen3_5_text};
static const struct described qwen3_5_images = {.architecture = &describe_qwen3_5};
static const struct described qwen3_next = {.decoder = &describe_qwen3_next};

static struct architecture begin(const struct described *description, struct model_fixture *fixture)
{
    return description->decoder != NULL ? architecture_begin_decoder(description->decoder, fixture)
                                        : architecture_begin(description->architecture, fixture);
}

// The graph of a model folder, or of a config, as text.
static char *printed(const struct described *description, const char *folder, const char *config)
{
    struct architecture architecture = begin(description, model_fixture_open(folder, config));
    struct text text;

    text_init(&text);
    print_graph(architecture_graph(&architecture), &text);

    char *copy = strdup(text.data);

    text_release(&text);
    cr_assert_not_null(copy);
    architecture_close(&architecture);
    return copy;
}

// What a config leads one to expect is what the checkpoint has.
Test(states, with_and_without_weights_the_graph_is_one)
{
    static const struct {
        const char *folder;
        const struct described *description;
    } all[] = {{"mamba2", &mamba2}, {"rwkv4", &rwkv4}, {"rwkv7", &rwkv7}};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        char path[64];
        char *config = architecture_config(all[i].folder);

        snprintf(path, sizeof(path), "models/%s", all[i].folder);

        char *with = printed(all[i].description, path, NULL);
        char *without = printed(all[i].description, NULL, config);

        cr_assert_str_eq(with, without, "%s", all[i].folder);
        free(with);
        free(without);
        free(config);
    }
}

// Small configs, with more after a comma.
static const char mamba2_config[] =
    "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, "
    "\"num_heads\": 4, \"head_dim\": 4, \"n_groups\": 2, "
    "\"state_size\": 3%s}";
static const char mamba_config[] = "{\"hidden_size\": 8, \"num_hidden_layers\": 2, "
                                   "\"vocab_size\": 20, \"state_size\": 3%s}";
static const char lfm2_config[] = "{\"hidden_size\": 8, \"num_hidden_layers\": 3, "
                                  "\"vocab_size\": 20, \"num_attention_heads\": 2, "
                                  "\"intermediate_size\": 30, \"block_multiple_of\": 4%s}";
static const char hybrid_config[] =
    "{\"hidden_size\": 8, \"num_hidden_layers\": 4, \"vocab_size\": 20, "
    "\"num_attention_heads\": 2, \"head_dim\": 8, \"linear_num_key_heads\": 2, "
    "\"linear_num_value_heads\": 4, \"linear_key_head_dim\": 3, \"linear_value_head_dim\": 5, "
    "\"num_experts\": 3, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 6%s}";
static const char qwen3_5_config[] =
    "{\"hidden_size\": 8, \"num_hidden_layers\": 4, \"vocab_size\": 20, \"intermediate_size\": 12, "
    "\"num_attention_heads\": 2, \"head_dim\": 8, \"linear_num_key_heads\": 2, "
    "\"linear_num_value_heads\": 4, \"linear_key_head_dim\": 3, \"linear_value_head_dim\": 5%s}";
static const char rwkv_config[] = "{\"hidden_size\": 64, \"num_hidden_layers\": 2, "
                                  "\"vocab_size\": 20%s}";
static const char rwkv7_config[] =
    "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, "
    "\"head_dim\": 4%s}";

// The graph must say `piece`, or not where that begins with "!".
static void
expect(const struct described *description, const char *config, const char *more, const char *piece)
{
    char text[1024];

    snprintf(text, sizeof(text), config, more);

    char *graph = printed(description, NULL, text);
    const int is_absent = *piece == '!';

    cr_assert_eq(strstr(graph, piece + is_absent) == NULL, is_absent, "%s: '%s' in %s", more, piece,
                 graph);
    free(graph);
}

Test(states, what_absent_keys_mean)
{
    expect(&mamba2, mamba2_config, "", "state layers.0/tail f32 [3, 28]");
    expect(&mamba2, mamba2_config, "", "state layers.1/state f32 [4, 4, 3]");
    expect(&mamba2, mamba2_config, "", "!layers.0/dt_clip");
    expect(&mamba2, mamba2_config, "", "backbone.layers.0.mixer.conv1d.bias");
    expect(&mamba2, mamba2_config, ", \"use_conv_bias\": false",
           "!backbone.layers.0.mixer.conv1d.bias");
    expect(&mamba2, mamba2_config, ", \"use_bias\": true",
           "b=backbone.layers.0.mixer.in_proj.bias");
    expect(&mamba2, mamba2_config, ", \"time_step_limit\": [0.5, Infinity]", "low=0.5");
    expect(&mamba2, mamba2_config, ", \"tie_word_embeddings\": true", "!lm_head");
    expect(&qwen3_next, hybrid_config, "", "state layers.2/attn/tail.v f32 [3, 20]");
    expect(&qwen3_next, hybrid_config, "", "state layers.3/attn/k f32 [C, 2, 8]");
    expect(&qwen3_next, hybrid_config, "", "cos=rope.cos f32 [T, 1]");
    expect(&qwen3_next, hybrid_config, "", "renormalise=1");
    expect(&qwen3_next, hybrid_config, "", "shared_expert.up_proj.weight f32 [512, 8]");
    expect(&qwen3_next, hybrid_config, ", \"shared_expert_intermediate_size\": 0",
           "!shared_expert");
    expect(&qwen3_next, hybrid_config, ", \"full_attention_interval\": 5", "!cos=rope.cos");
    expect(&qwen3_next, hybrid_config, ", \"full_attention_interval\": 2",
           "layers.1/attn/attention");
    expect(&qwen3_next, hybrid_config, ", \"mlp_only_layers\": [2]",
           "model.layers.2.mlp.up_proj.weight f32 [5632, 8]");
    expect(&qwen3_next, hybrid_config, ", \"decoder_sparse_step\": 2", "!layers.2/mlp/route");
    expect(&qwen3_5, qwen3_5_config, "", "state layers.2/tail f32 [3, 32]");
    expect(&qwen3_5, qwen3_5_config, "", "model.layers.3.mlp.up_proj.weight f32 [12, 8]");
    // The classes' own sizes, also of a bare section.
    expect(&qwen3_5_images, "{\"vision_config\": {\"depth\": 2}, \"text_config\": {%s}}", "",
           "model.layers.31.self_attn.q_proj.weight f32 [8192, 4096]");
    expect(&qwen3_5_images, "{\"text_config\": {\"num_hidden_layers\": 1%s}}", "",
           "model.layers.0.linear_attn.in_proj_qkv.weight f32 [8192, 4096]");
    expect(&mamba, "{\"state_size\": 16%s}", "",
           "backbone.layers.31.mixer.dt_proj.weight f32 [1536, 48]");
    expect(&rwkv5, "{\"head_size\": 64%s}", "", "rwkv.embeddings.weight f32 [65536, 768]");
    expect(&lfm2, "{\"full_attn_idxs\": [31]%s}", "",
           "model.layers.31.self_attn.k_proj.weight f32 [640, 2560]");
    expect(&mamba, mamba_config, "", "state layers.1/state f32 [16, 1, 3]");
    expect(&mamba, mamba_config, "", "mixer.dt_proj.weight f32 [16, 1]");
    expect(&mamba, mamba_config, "", "!lm_head");
    expect(&mamba, mamba_config, "", "!dt_norm");
    expect(&mamba, mamba_config, ", \"tie_word_embeddings\": false", "lm_head");
    expect(&mamba, mamba_config, ", \"expand\": 4, \"intermediate_size\": 24",
           "state layers.0/tail f32 [3, 24]");
    expect(&falcon_mamba, mamba_config, "", "layers.0/dt_norm");
    expect(&falcon_mamba, mamba_config, ", \"mixer_rms_eps\": 0.25", "eps=0.25");
    expect(&lfm2, lfm2_config, "", "layers.2/attn/attention");
    expect(&lfm2, lfm2_config, ", \"full_attn_idxs\": [1]", "state layers.2/tail f32 [2, 8]");
    expect(&lfm2, lfm2_config, ", \"full_attn_idxs\": [1]", "!layers.2/attn/attention");
    expect(&lfm2, lfm2_config, "", "feed_forward.w1.weight f32 [20, 8]");
    expect(&lfm2, lfm2_config, ", \"block_ffn_dim_multiplier\": 1.1",
           "feed_forward.w1.weight f32 [24, 8]");
    expect(&lfm2, lfm2_config, ", \"block_auto_adjust_ff_dim\": false",
           "feed_forward.w1.weight f32 [30, 8]");
    expect(&lfm2, lfm2_config, ", \"block_ff_dim\": 6", "feed_forward.w1.weight f32 [4, 8]");
    expect(&lfm2, lfm2_config, ", \"tie_embedding\": false", "lm_head");
}

Test(states, what_absent_keys_of_rwkv_mean)
{
    expect(&rwkv4, rwkv_config, "", "state layers.1/attn/state f32 [3, 64]");
    expect(&rwkv4, rwkv_config, "", "rwkv.blocks.0.feed_forward.key.weight f32 [256, 64]");
    expect(&rwkv4, rwkv_config, ", \"attention_hidden_size\": 12",
           "rwkv.blocks.1.attention.output.weight f32 [64, 12]");
    expect(&rwkv4, rwkv_config, ", \"layer_norm_epsilon\": 0.25", "eps=0.25");
    expect(&rwkv4, rwkv_config, ", \"layer_norm_epsilon\": 0.25", "eps=1.0000000000000001e-05");
    expect(&rwkv5, rwkv_config, "", "state layers.1/attn/state f32 [1, 64, 64]");
    expect(&rwkv5, rwkv_config, "", "rwkv.blocks.0.feed_forward.key.weight f32 [224, 64]");
    expect(&rwkv5, rwkv_config, ", \"num_attention_heads\": 16",
           "state layers.1/attn/state f32 [4, 16, 16]");
    expect(&rwkv5, rwkv_config, ", \"num_attention_heads\": 16, \"head_size\": 8",
           "state layers.1/attn/state f32 [8, 8, 8]");
    expect(&rwkv5, rwkv_config, "", "!eps=0.00064");
    expect(&rwkv5, rwkv_config, ", \"head_size_divisor\": 8", "eps=0.00064");
    expect(&rwkv6, rwkv_config, "", "eps=0.00064");
    expect(&rwkv6, rwkv_config, "", "attention.time_maa_w2 f32 [32, 64]");
    expect(&rwkv7, rwkv7_config, "", "model.layers.0.ffn.key.weight f32 [32, 8]");
    expect(&rwkv7, rwkv7_config, ", \"hidden_ratio\": 4.5",
           "model.layers.0.ffn.key.weight f32 [64, 8]");
    expect(&rwkv7, rwkv7_config, ", \"norm_first\": false", "!pre_norm");
    expect(&rwkv7, rwkv7_config, ", \"decay_low_rank_dim\": 5", "w_lora.lora.0.weight f32 [5, 8]");
    expect(&rwkv7, rwkv7_config, "", "!layers.0/attn/v_lora");
    expect(&rwkv7, rwkv7_config, "", "layers.1/attn/v_lora/up");
}

static void refused(const struct described *description,
                    const char *config,
                    const char *more,
                    const char *piece)
{
    char text[1024];

    snprintf(text, sizeof(text), config, more);

    struct architecture architecture = begin(description, model_fixture_open(NULL, text));
    const tapml_status status = architecture_build(&architecture);

    model_fixture_expect(
        status, status == TAPML_UNIMPLEMENTED ? TAPML_UNIMPLEMENTED : TAPML_INVALID, piece);
    architecture_close(&architecture);
}

Test(states, sizes_that_do_not_fit_are_refused_by_name)
{
    const struct described *next = &qwen3_next, *rwkv = &rwkv7;

    refused(&mamba2, mamba2_config, ", \"expand\": 3", "'expand' times 'hidden_size' is 24");
    refused(&mamba2, mamba2_config, ", \"expand\": -1", "'expand' is -1");
    refused(&mamba2, mamba2_config, ", \"expand\": 1e300", "'expand' is 1e+300");
    refused(&mamba2, mamba2_config, ", \"conv_kernel\": 1", "'conv_kernel' is 1");
    refused(&mamba2, mamba2_config, ", \"conv_kernel\": 1000000000", "'conv_kernel' is 1000000000");
    refused(&mamba2, mamba2_config, ", \"time_step_limit\": [2, 1]", "'time_step_limit' is 2 to 1");
    refused(&mamba2, mamba2_config, ", \"time_step_limit\": [NaN, 1]",
            "'time_step_limit/0' is nan");
    refused(&mamba2, mamba2_config, ", \"hidden_act\": \"relu\"",
            "'hidden_act' is 'relu', expected 'silu' or 'swish'");
    refused(&mamba2, mamba2_config, ", \"layer_norm_epsilon\": 7", "'layer_norm_epsilon' is 7");
    refused(rwkv, "{\"hidden_size\": 8, \"vocab_size\": 20%s}", "", "'num_hidden_layers'");
    refused(&mamba2,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, "
            "\"num_heads\": 4, \"head_dim\": 4, \"state_size\": 0%s}",
            ", \"n_groups\": 3", "'state_size' is 0");
    refused(&mamba2,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, "
            "\"num_heads\": 4, \"head_dim\": 4%s}",
            ", \"n_groups\": 3", "no multiple of 'n_groups', 3");
    refused(next, hybrid_config, ", \"num_key_value_heads\": 0", "'num_key_value_heads' is 0");
    refused(next, hybrid_config, ", \"num_key_value_heads\": 3",
            "do not share 3 key and value heads evenly");
    refused(next, hybrid_config, ", \"linear_conv_kernel_dim\": 1",
            "'linear_conv_kernel_dim' is 1");
    refused(next, hybrid_config, ", \"shared_expert_intermediate_size\": -4",
            "'shared_expert_intermediate_size' is -4");
    refused(next, hybrid_config, ", \"layer_types\": [\"linear_attention\"]",
            "the config has no 'layer_types/1'");
    refused(next, hybrid_config, ", \"hidden_act\": \"gelu\"", "'hidden_act' is 'gelu'");
    refused(next, hybrid_config, ", \"partial_rotary_factor\": 0", "partial_rotary_factor");
    refused(next,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 1, \"vocab_size\": 20, "
            "\"num_attention_heads\": 2, \"head_dim\": 8, \"num_experts\": 3%s}",
            "", "'num_experts_per_tok' is 10, there are 3");
    refused(next,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 1, \"vocab_size\": 20, "
            "\"num_attention_heads\": 2, \"head_dim\": 8, "
            "\"linear_num_key_heads\": 3%s}",
            "", "no multiple of 'linear_num_key_heads', 3");
    refused(&mamba, mamba_config, ", \"conv_kernel\": 1", "'conv_kernel' is 1");
    refused(&mamba, mamba_config, ", \"hidden_act\": \"none\"", "'hidden_act' is 'none'");
    refused(&falcon_mamba, mamba_config, ", \"mixer_rms_eps\": 3", "'mixer_rms_eps' is 3");
    refused(&lfm2, lfm2_config, ", \"layer_types\": [\"sliding_attention\"]",
            "expected 'full_attention' or 'conv'");
    refused(&lfm2, lfm2_config, ", \"full_attn_idxs\": [], \"conv_L_cache\": 1",
            "'conv_L_cache' is 1");
    refused(&lfm2, lfm2_config, ", \"block_ffn_dim_multiplier\": 1e30",
            "'block_ffn_dim_multiplier' is 1e+30");
    refused(&rwkv5, rwkv_config, ", \"head_size\": 24", "no multiple of 'head_size', 24");
    refused(&rwkv5, rwkv_config, ", \"attention_hidden_size\": 32",
            "'attention_hidden_size' is 32, not 'hidden_size', 64");
    refused(&rwkv6, rwkv_config, ", \"head_size_divisor\": 1000", "'head_size_divisor' is 1000");
    refused(rwkv, rwkv7_config, ", \"num_heads\": 3", "'num_heads' is not 2");
    refused(rwkv, rwkv7_config, ", \"hidden_ratio\": 0", "'hidden_ratio' is 0");
    refused(rwkv, rwkv7_config, ", \"hidden_ratio\": NaN", "'hidden_ratio' is");
    refused(rwkv, rwkv7_config, ", \"value_dim\": [8, 16]",
            "'value_dim/1' is not 'hidden_size', 8");
    refused(rwkv, rwkv7_config, ", \"norm_eps\": 0.5", "'norm_eps' times 'head_dim' is 2");
    refused(rwkv, rwkv7_config, ", \"hidden_act\": \"silu\"", "'hidden_act' is 'silu'");
    refused(rwkv, rwkv7_config, ", \"decay_low_rank_dim\": 0", "'decay_low_rank_dim' is 0");
    refused(rwkv,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, \"head_dim\": 3%s}",
            "", "no multiple of 'head_dim', 3");
}

// What would change the numbers and is not read here is the host's to refuse.
Test(states, hybrids_and_unknown_keys_are_refused)
{
    static const struct {
        const struct described *description;
        const char *config, *more, *piece;
    } all[] = {
        {&rwkv7, rwkv7_config, ", \"attn\": {\"layers\": [1]}", "'/attn': expected null"},
        {&rwkv5, rwkv_config, ", \"model_version\": \"5_1\"", "'/model_version'"},
        {&mamba, mamba_config, ", \"rms_norm\": false", "'/rms_norm': expected true"},
        {&mamba2, mamba2_config, ", \"rms_norm\": false", "'/rms_norm': expected true"},
        {&qwen3_next, hybrid_config, ", \"sliding_window\": 4", "'/sliding_window'"},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        char text[1024];

        snprintf(text, sizeof(text), all[i].config, all[i].more);

        struct architecture architecture =
            begin(all[i].description, model_fixture_open(NULL, text));

        model_fixture_ok(architecture_build(&architecture));
        model_fixture_expect(model_fixture_check_config(architecture.fixture), TAPML_INVALID,
                             all[i].piece);
        architecture_close(&architecture);
    }
}

Test(states, tables_of_qwen3_next)
{
    char text[1024];
    float table[3] = {0};

    snprintf(text, sizeof(text), hybrid_config, "");

    struct architecture next = begin(&qwen3_next, model_fixture_open(NULL, text));

    model_fixture_ok(next.table->fill(next.root, NULL, model_fixture_config(next.fixture),
                                      "rope.cos", 0, 3, 3, table, sizeof(table)));
    cr_assert_eq(table[0], 1);
    model_fixture_expect(next.table->fill(next.root, NULL, model_fixture_config(next.fixture),
                                          "rope.sin", 0, 2, 2, table, sizeof(table)),
                         TAPML_INVALID, "'rope.sin' of 2 tokens has not 12 bytes");
    architecture_close(&next);
    snprintf(text, sizeof(text), rwkv7_config, "");

    struct architecture rwkv = begin(&rwkv7, model_fixture_open(NULL, text));

    model_fixture_expect(rwkv.table->fill(rwkv.root, NULL, model_fixture_config(rwkv.fixture),
                                          "rope.cos", 0, 3, 3, table, sizeof(table)),
                         TAPML_NOT_FOUND, "no input 'rope.cos' is filled here");
    architecture_close(&rwkv);
}
