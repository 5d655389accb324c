// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The architectures of plugins/models/recurrent, which are linked into the test.
#include "architecture.h"
#include "base/text.h"
#include "graph/print.h"
#include "model_types.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct architecture begin(const struct model_architecture *description,
                                 struct model_fixture *fixture)
{
    tapml_object *root = NULL;

    model_fixture_ok(model_root_create(description, model_fixture_host(fixture), NULL, &root));
    return architecture_open(fixture, root);
}

// The graph of a model folder, or of a config, as text.
static char *
printed(const struct model_architecture *description, const char *folder, const char *config)
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

static char *read_config(const char *folder)
{
    char path[1024];
    char *text = calloc(1, 1 << 16);

    snprintf(path, sizeof(path), "%s/models/%s/config.json", getenv("TAPML_TEST_DATA"), folder);

    FILE *file = fopen(path, "rb");

    cr_assert(text != NULL && file != NULL, "%s", path);
    cr_assert_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

// What a config leads one to expect is what the checkpoint has.
Test(recurrent, with_and_without_weights_the_graph_is_one)
{
    static const struct {
        const char *folder;
        const struct model_architecture *description;
    } all[] = {{"mamba2", &describe_mamba2}, {"rwkv7", &describe_rwkv7}};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        char path[64];
        char *config = read_config(all[i].folder);

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
static const char mamba2[] = "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, "
                             "\"num_heads\": 4, \"head_dim\": 4, \"n_groups\": 2, "
                             "\"state_size\": 3%s}";
static const char qwen3_next[] =
    "{\"hidden_size\": 8, \"num_hidden_layers\": 4, \"vocab_size\": 20, "
    "\"num_attention_heads\": 2, \"head_dim\": 8, \"linear_num_key_heads\": 2, "
    "\"linear_num_value_heads\": 4, \"linear_key_head_dim\": 3, \"linear_value_head_dim\": 5, "
    "\"num_experts\": 3, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 6%s}";
static const char rwkv7[] = "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, "
                            "\"head_dim\": 4%s}";

// The graph must say `piece`, or not where that begins with "!".
static void expect(const struct model_architecture *description,
                   const char *config,
                   const char *more,
                   const char *piece)
{
    char text[1024];

    snprintf(text, sizeof(text), config, more);

    char *graph = printed(description, NULL, text);
    const int is_absent = *piece == '!';

    cr_assert_eq(strstr(graph, piece + is_absent) == NULL, is_absent, "%s%s: '%s' in %s",
                 description->model_type, more, piece, graph);
    free(graph);
}

Test(recurrent, what_absent_keys_mean)
{
    expect(&describe_mamba2, mamba2, "", "state layers.0/tail f32 [3, 28]");
    expect(&describe_mamba2, mamba2, "", "state layers.1/state f32 [4, 4, 3]");
    expect(&describe_mamba2, mamba2, "", "!layers.0/dt_clip");
    expect(&describe_mamba2, mamba2, "", "backbone.layers.0.mixer.conv1d.bias");
    expect(&describe_mamba2, mamba2, ", \"use_conv_bias\": false",
           "!backbone.layers.0.mixer.conv1d.bias");
    expect(&describe_mamba2, mamba2, ", \"use_bias\": true",
           "b=backbone.layers.0.mixer.in_proj.bias");
    expect(&describe_mamba2, mamba2, ", \"time_step_limit\": [0.5, Infinity]", "low=0.5");
    expect(&describe_mamba2, mamba2, ", \"tie_word_embeddings\": true", "!lm_head");
    expect(&describe_qwen3_next, qwen3_next, "", "state layers.2/attn/tail.v f32 [3, 20]");
    expect(&describe_qwen3_next, qwen3_next, "", "state layers.3/attn/k f32 [C, 2, 8]");
    expect(&describe_qwen3_next, qwen3_next, "", "cos=rope.cos f32 [T, 1]");
    expect(&describe_qwen3_next, qwen3_next, "", "renormalise=1");
    expect(&describe_qwen3_next, qwen3_next, "", "shared_expert.up_proj.weight f32 [512, 8]");
    expect(&describe_qwen3_next, qwen3_next, ", \"shared_expert_intermediate_size\": 0",
           "!shared_expert");
    expect(&describe_qwen3_next, qwen3_next, ", \"full_attention_interval\": 5", "!rope.cos");
    expect(&describe_qwen3_next, qwen3_next, ", \"full_attention_interval\": 2",
           "layers.1/attn/attention");
    expect(&describe_qwen3_next, qwen3_next, ", \"mlp_only_layers\": [2]",
           "model.layers.2.mlp.up_proj.weight f32 [5632, 8]");
    expect(&describe_qwen3_next, qwen3_next, ", \"decoder_sparse_step\": 2", "!layers.2/mlp/route");
    expect(&describe_rwkv7, rwkv7, "", "model.layers.0.ffn.key.weight f32 [32, 8]");
    expect(&describe_rwkv7, rwkv7, ", \"hidden_ratio\": 4.5",
           "model.layers.0.ffn.key.weight f32 [64, 8]");
    expect(&describe_rwkv7, rwkv7, ", \"norm_first\": false", "!pre_norm");
    expect(&describe_rwkv7, rwkv7, ", \"decay_low_rank_dim\": 5",
           "w_lora.lora.0.weight f32 [5, 8]");
    expect(&describe_rwkv7, rwkv7, "", "!layers.0/attn/v_lora");
    expect(&describe_rwkv7, rwkv7, "", "layers.1/attn/v_lora/up");
}

static void refused(const struct model_architecture *description,
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

Test(recurrent, sizes_that_do_not_fit_are_refused_by_name)
{
    const struct model_architecture *mamba = &describe_mamba2, *next = &describe_qwen3_next;
    const struct model_architecture *rwkv = &describe_rwkv7;

    refused(mamba, mamba2, ", \"expand\": 3", "'expand' times 'hidden_size' is 24");
    refused(mamba, mamba2, ", \"expand\": -1", "'expand' is -1");
    refused(mamba, mamba2, ", \"expand\": 1e300", "'expand' is 1e+300");
    refused(mamba, mamba2, ", \"conv_kernel\": 1", "'conv_kernel' is 1");
    refused(mamba, mamba2, ", \"conv_kernel\": 1000000000", "'conv_kernel' is 1000000000");
    refused(mamba, mamba2, ", \"time_step_limit\": [2, 1]", "'time_step_limit' is 2 to 1");
    refused(mamba, mamba2, ", \"time_step_limit\": [NaN, 1]", "'time_step_limit'");
    refused(mamba, mamba2, ", \"hidden_act\": \"relu\"",
            "'hidden_act' is 'relu', expected 'silu' or 'swish'");
    refused(mamba, mamba2, ", \"layer_norm_epsilon\": 7", "'layer_norm_epsilon' is 7");
    refused(mamba, "{\"hidden_size\": 8, \"vocab_size\": 20%s}", "", "'num_hidden_layers'");
    refused(mamba,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, "
            "\"num_heads\": 4, \"head_dim\": 4, \"state_size\": 0%s}",
            ", \"n_groups\": 3", "'state_size' is 0");
    refused(mamba,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, "
            "\"num_heads\": 4, \"head_dim\": 4%s}",
            ", \"n_groups\": 3", "no multiple of 'n_groups', 3");
    refused(next, qwen3_next, ", \"num_key_value_heads\": 0", "'num_key_value_heads' is 0");
    refused(next, qwen3_next, ", \"num_key_value_heads\": 3",
            "no multiple of 'num_key_value_heads', 3");
    refused(next, qwen3_next, ", \"linear_conv_kernel_dim\": 1", "'linear_conv_kernel_dim' is 1");
    refused(next, qwen3_next, ", \"shared_expert_intermediate_size\": -4",
            "'shared_expert_intermediate_size' is -4");
    refused(next, qwen3_next, ", \"layer_types\": [\"linear_attention\"]", "'layer_types/1' is ''");
    refused(next, qwen3_next, ", \"hidden_act\": \"gelu\"", "'hidden_act' is 'gelu'");
    refused(next, qwen3_next, ", \"partial_rotary_factor\": 0", "partial_rotary_factor");
    refused(next,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 1, \"vocab_size\": 20, "
            "\"num_attention_heads\": 2, \"num_experts\": 3%s}",
            "", "'num_experts_per_tok' is 10, there are 3");
    refused(next,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 1, \"vocab_size\": 20, "
            "\"num_attention_heads\": 2, \"linear_num_key_heads\": 3%s}",
            "", "no multiple of 'linear_num_key_heads', 3");
    refused(rwkv, rwkv7, ", \"num_heads\": 3", "'num_heads' is not 2");
    refused(rwkv, rwkv7, ", \"hidden_ratio\": 0", "'hidden_ratio' is 0");
    refused(rwkv, rwkv7, ", \"hidden_ratio\": NaN", "'hidden_ratio' is");
    refused(rwkv, rwkv7, ", \"value_dim\": [8, 16]", "'value_dim/1' is not 'hidden_size', 8");
    refused(rwkv, rwkv7, ", \"norm_eps\": 0.5", "'norm_eps' times 'head_dim' is 2");
    refused(rwkv, rwkv7, ", \"hidden_act\": \"silu\"", "'hidden_act' is 'silu'");
    refused(rwkv, rwkv7, ", \"decay_low_rank_dim\": 0", "'decay_low_rank_dim' is 0");
    refused(rwkv,
            "{\"hidden_size\": 8, \"num_hidden_layers\": 2, \"vocab_size\": 20, \"head_dim\": 3%s}",
            "", "no multiple of 'head_dim', 3");
}

// What would change the numbers and is not read here is the host's to refuse.
Test(recurrent, hybrids_and_unknown_keys_are_refused)
{
    static const struct {
        const struct model_architecture *description;
        const char *config, *more, *piece;
    } all[] = {
        {&describe_rwkv7, rwkv7, ", \"attn\": {\"layers\": [1]}", "'/attn': expected null"},
        {&describe_mamba2, mamba2, ", \"rms_norm\": false", "'/rms_norm': expected true"},
        {&describe_qwen3_next, qwen3_next, ", \"sliding_window\": 4", "'/sliding_window'"},
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

Test(recurrent, tables_of_qwen3_next)
{
    char text[1024];
    float table[3] = {0};

    snprintf(text, sizeof(text), qwen3_next, "");

    struct architecture next = begin(&describe_qwen3_next, model_fixture_open(NULL, text));

    model_fixture_ok(next.table->fill(next.root, NULL, model_fixture_config(next.fixture),
                                      "rope.cos", 0, 3, 3, table, sizeof(table)));
    cr_assert_eq(table[0], 1);
    model_fixture_expect(next.table->fill(next.root, NULL, model_fixture_config(next.fixture),
                                          "rope.sin", 0, 2, 2, table, sizeof(table)),
                         TAPML_INVALID, "'rope.sin' of 2 tokens has not 12 bytes");
    architecture_close(&next);
    snprintf(text, sizeof(text), rwkv7, "");

    struct architecture rwkv = begin(&describe_rwkv7, model_fixture_open(NULL, text));

    model_fixture_expect(rwkv.table->fill(rwkv.root, NULL, model_fixture_config(rwkv.fixture),
                                          "rope.cos", 0, 3, 3, table, sizeof(table)),
                         TAPML_NOT_FOUND, "no input 'rope.cos' is filled here");
    architecture_close(&rwkv);
}
