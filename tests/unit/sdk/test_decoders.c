// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The descriptions of all families of plugins/models, which are linked into the test.
#include "architecture.h"
#include "base/text.h"
#include "graph/print.h"
#include "model_types.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_OF(type) &describe_##type,

static const struct model_decoder *const decoders[] = {MODEL_DECODERS(ADDRESS_OF)};

enum { DECODERS = sizeof(decoders) / sizeof(*decoders) };

// A description, and the types of models that its manifest names.
struct named {
    const char *type, *old_types, *listed;
};

#define NAMED(name, types) {describe_##name.model_type, describe_##name.old_types, types},

// The graph as text, with weights of any type as f32: no config tells.
static char *text_of(const struct graph *graph)
{
    struct text text;

    text_init(&text);
    print_graph(graph, &text);

    char *copy = strdup(text.data);

    text_release(&text);
    cr_assert_not_null(copy);
    for (char *at = strstr(copy, "bf16"); at != NULL; at = strstr(at, "bf16")) {
        memcpy(at, "f32", 3);
        memmove(at + 3, at + 4, strlen(at + 4) + 1);
    }
    return copy;
}

// Folders have an underscore where a type has a hyphen.
static int begins_with(const char *folder, const char *type)
{
    while (*type != '\0' && (*folder == *type || (*folder == '_' && *type == '-'))) {
        folder++;
        type++;
    }
    return *type == '\0';
}

static const char *const folders[] = {"arcee",
                                      "baichuan_13b",
                                      "baichuan_7b",
                                      "bloom",
                                      "chatglm3",
                                      "codegen",
                                      "cohere",
                                      "cohere2",
                                      "mixtral",
                                      "ernie4_5_moe",
                                      "phimoe",
                                      "llama4_text",
                                      "olmoe",
                                      "granitemoe",
                                      "deepseek",
                                      "deepseek_v2_lite",
                                      "deepseek_v2_yarn",
                                      "deepseek_v3",
                                      "deepseek_v3_yarn",
                                      "ernie4_5",
                                      "exaone",
                                      "exaone4",
                                      "falcon_11b",
                                      "falcon_7b",
                                      "gemma",
                                      "gemma2",
                                      "gemma3_text",
                                      "glm",
                                      "glm4",
                                      "glm4_moe",
                                      "gpt2",
                                      "gpt_bigcode",
                                      "gpt_neo",
                                      "gpt_neox",
                                      "gpt_neox_legacy",
                                      "gpt_oss",
                                      "gptj",
                                      "granite",
                                      "helium",
                                      "hunyuan_v1_dense",
                                      "internlm",
                                      "internlm2",
                                      "jais",
                                      "lfm2",
                                      "minicpm",
                                      "ministral3",
                                      "mistral_full",
                                      "mpt",
                                      "nemotron",
                                      "olmo",
                                      "olmo2",
                                      "olmo3",
                                      "opt",
                                      "orion",
                                      "phi",
                                      "phi3",
                                      "phi_msft",
                                      "qwen",
                                      "qwen2",
                                      "qwen2_moe",
                                      "qwen2_sliding",
                                      "qwen2_yarn_legacy",
                                      "qwen3",
                                      "qwen3_moe",
                                      "seed_oss",
                                      "smollm3",
                                      "stablelm",
                                      "stablelm_legacy",
                                      "starcoder2"};

// What a config leads one to expect is what the checkpoint of Hugging Face has.
Test(decoders, manifests_name_the_types_that_are_matched)
{
    const struct named all[] = {MODEL_TYPES(NAMED)};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        char expected[256];

        (void)snprintf(expected, sizeof(expected), "%s%s%s", all[i].type,
                       all[i].old_types != NULL ? " " : "",
                       all[i].old_types != NULL ? all[i].old_types : "");
        for (char *at = strchr(expected, '|'); at != NULL; at = strchr(at, '|')) {
            *at = ' ';
        }
        cr_expect_str_eq(all[i].listed, expected);
    }
}

Test(decoders, with_and_without_weights_the_graph_is_one)
{
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        const struct model_decoder *decoder = NULL;
        char path[64];
        char *text = architecture_config(folders[i]);

        for (size_t k = 0; k < DECODERS; k++) {
            const size_t length = strlen(decoders[k]->model_type);

            if (begins_with(folders[i], decoders[k]->model_type) &&
                (decoder == NULL || length > strlen(decoder->model_type))) {
                decoder = decoders[k];
            }
        }
        cr_assert_not_null(decoder, "%s", folders[i]);
        snprintf(path, sizeof(path), "models/%s", folders[i]);

        struct architecture with =
            architecture_begin_decoder(decoder, model_fixture_open(path, NULL));
        struct architecture without =
            architecture_begin_decoder(decoder, model_fixture_open(NULL, text));

        char *found = text_of(architecture_graph(&with)),
             *expected = text_of(architecture_graph(&without));

        cr_assert_str_eq(found, expected, "%s", folders[i]);
        free(found);
        free(expected);
        architecture_close(&with);
        architecture_close(&without);
        free(text);
    }
}

// A config of the least keys, with more after a comma; or all keys of one in braces.
static const char small[] = "{\"hidden_size\": 32, \"num_hidden_layers\": 4, "
                            "\"num_attention_heads\": 4, \"intermediate_size\": 48, "
                            "\"vocab_size\": 50%s}";

static struct architecture begin_small(const struct model_decoder *decoder, const char *more)
{
    char text[1024];

    snprintf(text, sizeof(text), more[0] == '{' ? "%s" : small, more);
    return architecture_begin_decoder(decoder, model_fixture_open(NULL, text));
}

static char *printed(const struct model_decoder *decoder, const char *more)
{
    struct architecture architecture = begin_small(decoder, more);
    char *text = text_of(architecture_graph(&architecture));

    architecture_close(&architecture);
    return text;
}

// The graph must say `piece` of the op, or not.
static void
expect(const struct model_decoder *decoder, const char *more, const char *op, const char *piece)
{
    char *text = printed(decoder, more);
    char start[128];

    snprintf(start, sizeof(start), "\n%s = ", op);

    const char *line = strstr(text, start);

    if (piece == NULL) {
        cr_assert_null(line, "%s: '%s' is there", decoder->model_type, op);
    } else {
        cr_assert_not_null(line, "%s: no '%s' in %s", decoder->model_type, op, text);
        line++;

        char whole[1024];

        snprintf(whole, sizeof(whole), "%.*s", (int)strcspn(line, "\n"), line);
        cr_assert_not_null(strstr(whole, piece), "%s%s: no '%s' in '%s'", decoder->model_type, more,
                           piece, whole);
    }
    free(text);
}

static void
refused(const struct model_decoder *decoder, const char *more, tapml_status code, const char *piece)
{
    struct architecture architecture = begin_small(decoder, more);
    tapml_status status = architecture_build(&architecture);

    model_fixture_expect(status != TAPML_OK ? status
                                            : model_fixture_check_config(architecture.fixture),
                         code, piece);
    architecture_close(&architecture);
}

Test(decoders, layers_that_slide)
{
    const struct model_decoder *qwen3 = &describe_qwen3, *gemma2 = &describe_gemma2;
    const struct model_decoder *gemma3 = &describe_gemma3_text, *cohere2 = &describe_cohere2;

    // The number alone means nothing in qwen3; layers slide from one on.
    expect(qwen3, ", \"sliding_window\": 5", "layers.3/attn/attention", "window=0");
    expect(qwen3, ", \"sliding_window\": 5, \"use_sliding_window\": true, \"max_window_layers\": 2",
           "layers.1/attn/attention", "window=0");
    expect(qwen3, ", \"sliding_window\": 5, \"use_sliding_window\": true, \"max_window_layers\": 2",
           "layers.2/attn/attention", "window=5");
    expect(qwen3,
           ", \"sliding_window\": 5, \"layer_types\": [\"sliding_attention\", \"full_attention\", "
           "\"full_attention\", \"full_attention\"]",
           "layers.0/attn/attention", "window=5");
    // The classes' own numbers, and what null makes of them.
    expect(gemma2, "", "layers.0/attn/attention", "window=4096, chunk=0, softcap=50");
    expect(gemma2, "", "layers.1/attn/attention", "window=0, chunk=0, softcap=50");
    expect(gemma2, ", \"attn_logit_softcapping\": null, \"sliding_window\": null",
           "layers.0/attn/attention", "window=0, chunk=0, softcap=0");
    expect(gemma2, "", "logit_softcap", "limit=30");
    expect(gemma2, ", \"final_logit_softcapping\": null", "logit_softcap", NULL);
    expect(gemma3, ", \"sliding_window_pattern\": 2", "layers.1/attn/q_rope", "cos=rope.cos");
    expect(gemma3, ", \"sliding_window_pattern\": 2", "layers.2/attn/q_rope", "cos=rope.local.cos");
    expect(cohere2, "", "layers.2/attn/q_rope", "interleaved=1");
    expect(cohere2, "", "layers.3/attn/q_rope", NULL);
    expect(cohere2, ", \"sliding_window\": null", "layers.0/attn/q_rope", NULL);
    expect(&describe_phi3, ", \"sliding_window\": 0", "layers.3/attn/attention", "window=0");
    expect(&describe_phi3, ", \"sliding_window\": 7", "layers.3/attn/attention", "window=7");
}

Test(decoders, options_of_single_families)
{
    struct architecture architecture = architecture_begin_decoder(
        &describe_gpt2,
        model_fixture_open(NULL, "{\"n_embd\": 32, \"n_layer\": 2, "
                                 "\"n_head\": 4, \"n_positions\": 16, \"vocab_size\": 50, "
                                 "\"scale_attn_by_inverse_layer_idx\": true}"));
    const struct graph *graph = architecture_graph(&architecture);
    const uint32_t op = graph_find_op(graph, "layers.1/attn/attention");
    int32_t positions[4] = {0};

    cr_assert_float_eq(graph->ops[op].arguments[7].d, 0.5 / sqrt(8), 1e-12);
    model_fixture_ok(architecture.table->fill(
        architecture.root, NULL, model_fixture_config(architecture.fixture), "positions", 12, 4, 16,
        positions, sizeof(positions)));
    cr_assert_eq(positions[3], 15);
    model_fixture_expect(architecture.table->fill(
                             architecture.root, NULL, model_fixture_config(architecture.fixture),
                             "positions", 13, 4, 17, positions, sizeof(positions)),
                         TAPML_INVALID, "position 16 is beyond the 16 that the model knows");
    cr_assert_eq(architecture.table->fill(architecture.root, NULL,
                                          model_fixture_config(architecture.fixture), "rope.cos", 0,
                                          4, 4, positions, sizeof(positions)),
                 TAPML_NOT_FOUND);
    architecture_close(&architecture);
    expect(&describe_gpt_neox, ", \"use_parallel_residual\": false", "layers.0/mlp/norm",
           "x=layers.0/attn/add");
    expect(&describe_gpt_neox, ", \"rotary_pct\": 1.0", "layers.0/attn/q_rope",
           "cos=rope.cos f32 [T, 4]");
    expect(&describe_cohere2, ", \"logit_scale\": 0.25", "logit_scale", "factor=0.25");
}

Test(decoders, options_of_the_shape_of_llama)
{
    const struct model_decoder *baichuan = &describe_baichuan, *exaone4 = &describe_exaone4;
    const struct model_decoder *smollm3 = &describe_smollm3, *granite = &describe_granite;
    const char sliding[] = ", \"use_sliding_window\": true, \"sliding_window\": 5";

    // The wider Baichuan knows no greatest position; the second version has a head of its own.
    expect(baichuan, "", "layers.0/attn/q_rope", NULL);
    expect(baichuan, "", "layers.0/attn/attention", "slopes=");
    expect(baichuan, ", \"max_position_embeddings\": 64", "layers.0/attn/q_rope", "rope(");
    expect(baichuan, "", "head_norm", NULL);
    expect(baichuan, ", \"z_loss_weight\": 0.0", "head_norm", "mul(");
    expect(exaone4, "", "layers.3/attn/q_rope", NULL);
    expect(exaone4, "", "layers.2/attn/attention", "window=4096");
    expect(exaone4, ", \"sliding_window\": null", "layers.3/attn/q_rope", "rope(");
    expect(smollm3, "", "layers.3/attn/q_rope", NULL);
    expect(smollm3, ", \"no_rope_layers\": [0, 1, 1, 1]", "layers.3/attn/q_rope", "rope(");
    expect(smollm3, sliding, "layers.3/attn/attention", "window=5");
    expect(smollm3, sliding, "layers.2/attn/attention", "window=0");
    expect(smollm3, ", \"sliding_window\": 5", "layers.3/attn/attention", "window=0");
    expect(granite, ", \"attention_multiplier\": 1.5", "layers.0/attn/attention", "scale=1.5");
    expect(granite, ", \"residual_multiplier\": 0.25", "layers.0/mlp/scale", "factor=0.25");
    expect(granite, ", \"logits_scaling\": 4", "logit_scale", "factor=0.25");
    expect(&describe_minicpm, ", \"scale_depth\": 3", "layers.0/mlp/scale", "factor=1.5");
    expect(&describe_qwen, ", \"kv_channels\": 8", "layers.0/mlp/gate_proj",
           "w2.weight f32 [24, 32]");
    expect(&describe_internlm2, ", \"num_key_value_heads\": 2", "layers.0/attn/qkv_proj",
           "wqkv.weight f32 [64, 32]");
    expect(&describe_gemma, ", \"hidden_act\": \"gelu\"", "layers.0/mlp/gelu_tanh", "gelu_tanh(");
    expect(&describe_seed_oss, "", "layers.0/attn/q_proj",
           "w=model.layers.0.self_attn.q_proj.weight f32 [512, 32]");
}

Test(decoders, layers_with_experts)
{
    const struct model_decoder *moe = &describe_qwen3_moe;
    const char few[] = ", \"num_experts\": 4, \"num_experts_per_tok\": 2, "
                       "\"moe_intermediate_size\": 8, \"decoder_sparse_step\": 2, "
                       "\"mlp_only_layers\": [3], \"norm_topk_prob\": true";

    expect(moe, few, "layers.0/mlp/route", NULL);
    expect(moe, few, "layers.0/mlp/up_proj", "linear(");
    expect(moe, few, "layers.1/mlp/route", "k=2, renormalise=1");
    expect(moe, few, "layers.1/mlp/down_proj",
           "w=4 x model.layers.1.mlp.experts.0.down_proj.weight f32 [32, 8]");
    expect(moe, few, "layers.3/mlp/route", NULL);
}

Test(decoders, experts_beside_shared_ones)
{
    const struct model_decoder *qwen2 = &describe_qwen2_moe, *glm4 = &describe_glm4_moe;
    const struct model_decoder *deepseek = &describe_deepseek;
    const char few[] = ", \"n_routed_experts\": 4, \"num_experts_per_tok\": 2, "
                       "\"moe_intermediate_size\": 8%s";
    char more[512];

    expect(qwen2, ", \"decoder_sparse_step\": 2", "layers.0/mlp/route", NULL);
    expect(qwen2, ", \"norm_topk_prob\": true", "layers.0/mlp/route", "k=4, renormalise=1");
    expect(qwen2, "", "layers.3/mlp/shared/up_proj", "shared_expert.up_proj.weight f32 [5632, 32]");
    expect(qwen2, "", "layers.3/mlp/shared/gate", "f32 [1, 32]");
    expect(qwen2, "", "layers.0/attn/q_proj", "q_proj.bias");
    expect(qwen2, "", "layers.0/attn/o_proj", "b=none");
    expect(qwen2, ", \"qkv_bias\": false", "layers.0/attn/q_proj", "b=none");
    expect(qwen2, ", \"use_sliding_window\": true, \"max_window_layers\": 2",
           "layers.2/attn/attention", "window=4096");

    snprintf(more, sizeof(more), few, ", \"moe_layer_freq\": 2, \"first_k_dense_replace\": 1");
    expect(deepseek, more, "layers.0/mlp/route", NULL);
    expect(deepseek, more, "layers.1/mlp/route", NULL);
    expect(deepseek, more, "layers.2/mlp/route", "k=2, renormalise=0");
    expect(deepseek, more, "layers.2/mlp/shared/up_proj", NULL);
    expect(deepseek, ", \"n_routed_experts\": null", "layers.2/mlp/route", NULL);
    refused(deepseek, ", \"n_routed_experts\": 4", TAPML_INVALID, "lacks 'num_experts_per_tok'");
    refused(deepseek, ", \"scoring_func\": \"sigmoid\"", TAPML_INVALID, "scoring_func");

    snprintf(more, sizeof(more), few, ", \"use_qk_norm\": true, \"attention_bias\": true");
    expect(glm4, more, "layers.0/mlp/route", NULL);
    expect(glm4, more, "layers.1/mlp/route", "kept=1, k=2, renormalise=1");
    expect(glm4, more, "layers.0/attn/q_norm", "q_norm.weight");
    expect(glm4, more, "layers.0/attn/o_proj", "b=none");
    expect(glm4, more, "layers.0/attn/q_rope", "cos=rope.cos f32 [T, 2], sin");
    expect(glm4, "", "layers.0/attn/q_norm", NULL);
    expect(glm4, ", \"n_shared_experts\": 0", "layers.1/mlp/shared/up_proj", NULL);
}

Test(decoders, routes_of_single_families)
{
    const struct model_decoder *ernie = &describe_ernie4_5_moe, *phimoe = &describe_phimoe;

    expect(ernie, "", "layers.0/mlp/route", NULL);
    expect(ernie, "", "layers.1/mlp/route", "k=6, least=9.99");
    expect(ernie, ", \"moe_norm_min\": 0.5", "layers.1/mlp/route",
           "bias=model.layers.1.mlp.moe_statics.e_score_correction_bias f32 [64]");
    expect(ernie, ", \"moe_layer_end_index\": 2, \"moe_layer_interval\": 2", "layers.3/mlp/route",
           NULL);
    expect(ernie, ", \"moe_layer_end_index\": -1", "layers.3/mlp/route", "route_biased(");
    expect(ernie, ", \"moe_num_shared_experts\": 0", "layers.3/mlp/shared/up_proj", NULL);
    expect(ernie, ", \"use_bias\": true", "layers.3/mlp/up_proj",
           "b=64 x model.layers.3.mlp.experts.0.up_proj.bias f32 [1536]");
    refused(ernie, ", \"moe_gate\": \"top2_fused\"", TAPML_INVALID, "moe_gate");
    refused(ernie, ", \"moe_norm_min\": -1", TAPML_INVALID, "'moe_norm_min' is -1");

    expect(phimoe, "", "layers.0/mlp/route", "route_sparsemixer(");
    expect(phimoe, ", \"router_jitter_noise\": 0", "layers.0/mlp/route", "k=2, jitter=0");
    expect(phimoe, ", \"lm_head_bias\": true, \"tie_word_embeddings\": true", "head",
           "b=lm_head.bias f32 [50]");
    refused(phimoe, ", \"router_jitter_noise\": 2", TAPML_INVALID,
            "'router_jitter_noise' is 2, expected a number from 0 to 1");
    refused(phimoe, ", \"num_experts_per_tok\": 4", TAPML_INVALID, "num_experts_per_tok");

    expect(&describe_granitemoe, "", "layers.0/mlp/gate_up_proj",
           "w=8 x model.layers.0.block_sparse_moe.input_linear.weight f32 [96, 32]");
    expect(&describe_granitemoe, "", "layers.0/mlp/route", "route_topk(");
    expect(&describe_granitemoe, ", \"attention_multiplier\": 2.5", "layers.0/attn/attention",
           "scale=2.5");
    expect(&describe_olmoe, ", \"clip_qkv\": 3", "layers.0/attn/q_rope", "x=layers.0/attn/q_clip");
    expect(&describe_olmoe, "", "layers.0/mlp/route", "k=8, renormalise=0");
    expect(&describe_mixtral, "", "layers.0/mlp/route", "k=2, renormalise=1");
    expect(&describe_mixtral, "", "layers.0/attn/attention", "window=0");
    expect(&describe_mixtral, ", \"sliding_window\": 5", "layers.0/attn/attention", "window=5");
}

Test(decoders, chunks_and_experts_of_llama4)
{
    const struct model_decoder *llama4 = &describe_llama4_text;

    // Every fourth layer has no rope and sees all.
    expect(llama4, "", "layers.0/attn/attention", "window=0, chunk=8192");
    expect(llama4, "", "layers.3/attn/attention", "chunk=0");
    expect(llama4, "", "layers.0/attn/q_rope", "interleaved=1");
    expect(llama4, "", "layers.0/attn/q_norm", "weight=none");
    expect(llama4, "", "layers.0/attn/q_factor", NULL);
    expect(llama4, "", "layers.3/attn/q_rope", NULL);
    expect(llama4, "", "layers.3/attn/q_norm", NULL);
    expect(llama4, "", "layers.3/attn/q_factor", "query_factors");
    expect(llama4, ", \"attn_temperature_tuning\": 0", "layers.3/attn/q_factor", NULL);
    expect(llama4, ", \"attn_temperature_tuning\": 4", "layers.3/attn/q_factor", "query_factors");
    expect(llama4, ", \"use_qk_norm\": false", "layers.0/attn/q_norm", NULL);
    expect(llama4, ", \"no_rope_layers\": []", "layers.3/attn/q_rope", NULL);
    expect(llama4, ", \"no_rope_layers\": [0, 1, 1, 1]", "layers.0/attn/q_rope", NULL);
    expect(llama4, ", \"no_rope_layers\": [0, 1, 1, 1]", "layers.3/attn/attention", "chunk=8192");
    expect(llama4, ", \"attention_chunk_size\": null", "layers.0/attn/attention", "chunk=0");
    refused(llama4, ", \"layer_types\": [\"sliding_attention\"]", TAPML_UNIMPLEMENTED,
            "'layer_types/0' is 'sliding_attention', expected 'chunked_attention' or "
            "'full_attention'");
    refused(llama4, ", \"no_rope_layers\": [1, 2, 1, 1]", TAPML_INVALID, "expected 0 or 1");
    refused(llama4, ", \"moe_layers\": [2], \"num_local_experts\": 4294967296", TAPML_INVALID,
            "'num_local_experts' is 4294967296, expected 1 to 1024");
    refused(llama4, ", \"moe_layers\": [2], \"num_experts_per_tok\": 4294967296", TAPML_INVALID,
            "'num_experts_per_tok' is 4294967296");
    // Experts in all layers, in every second one, in those of a list.
    expect(llama4, "", "layers.0/mlp/weighted", "mul(");
    expect(llama4, "", "layers.0/mlp/shared/up_proj", "f32 [48, 32]");
    expect(llama4, ", \"interleave_moe_layer_step\": 2", "layers.0/mlp/up_proj", "f32 [16384, 32]");
    expect(llama4, ", \"moe_layers\": [2]", "layers.3/mlp/route", NULL);
    expect(llama4, ", \"moe_layers\": [2], \"num_experts_per_tok\": 3", "layers.2/mlp/sum.2",
           "add(");
    expect(llama4, ", \"moe_layers\": []", "layers.2/mlp/route", NULL);
}

// The least keys of DeepSeek, with more after a comma.
#define DEEPSEEK                                                                                   \
    ", \"kv_lora_rank\": 8, \"q_lora_rank\": 12, \"qk_nope_head_dim\": 6, \"qk_rope_head_dim\": "  \
    "4, "                                                                                          \
    "\"v_head_dim\": 10, \"n_routed_experts\": 6, \"num_experts_per_tok\": 2, "                    \
    "\"moe_intermediate_size\": 8, \"first_k_dense_replace\": 1"

Test(decoders, latent_attention)
{
    const struct model_decoder *v2 = &describe_deepseek_v2, *v3 = &describe_deepseek_v3;
    const char groups[] = DEEPSEEK ", \"n_group\": 3, \"topk_group\": 2";
    const char limited[] =
        DEEPSEEK ", \"n_group\": 3, \"topk_group\": 2, \"topk_method\": \"group_limited_greedy\"";

    expect(v3, groups, "layers.0/attn/q_up", "self_attn.q_b_proj.weight f32 [40, 12]");
    expect(v3, groups, "layers.0/attn/kv_norm", "eps=9.99");
    expect(v3, groups, "layers.0/attn/q_rope", "interleaved=1");
    expect(v3, groups, "layers.0/attn/k_concat", "y f32 [T, 4, 10]");
    expect(v3, groups, "layers.0/mlp/route", NULL);
    expect(v3, groups, "layers.1/mlp/route", "kept=2, k=2, renormalise=1");
    expect(v3, groups, "layers.1/mlp/route_scale", "factor=2.5");
    expect(v3, groups, "layers.1/mlp/shared/down_proj", "shared_experts.down_proj.weight");
    expect(v3, DEEPSEEK ", \"n_group\": 1, \"topk_group\": 1, \"norm_topk_prob\": false",
           "layers.1/mlp/route", "renormalise=0");
    expect(v3, DEEPSEEK ", \"n_group\": 1, \"topk_group\": 1, \"rope_interleave\": false",
           "layers.0/attn/k_rope", "interleaved=0");
    // Hugging Face never renormalises in the second version, and needs no groups to be greedy.
    expect(v2, DEEPSEEK ", \"norm_topk_prob\": true", "layers.1/mlp/route",
           "route_softmax(scores=layers.1/mlp/router f32 [T, 6], k=2, renormalise=0)");
    expect(v2, DEEPSEEK, "layers.1/mlp/route_scale", NULL);
    expect(v2, DEEPSEEK, "layers.1/mlp/shared/up_proj",
           "shared_experts.up_proj.weight f32 [16, 32]");
    expect(v2, DEEPSEEK ", \"n_shared_experts\": null", "layers.1/mlp/shared/up_proj", NULL);
    expect(v2, limited, "layers.1/mlp/route", "route_groups(");
    refused(v2, DEEPSEEK ", \"topk_method\": \"noaux_tc\"", TAPML_UNIMPLEMENTED,
            "'topk_method' is 'noaux_tc', expected 'greedy' or 'group_limited_greedy'");
    refused(v2, DEEPSEEK ", \"scoring_func\": \"sigmoid\"", TAPML_INVALID, "scoring_func");
    refused(v3, DEEPSEEK, TAPML_INVALID, "'n_group' is 8, which does not divide 6 experts");
    refused(v3, DEEPSEEK ", \"n_group\": 3, \"topk_group\": 4", TAPML_INVALID,
            "'topk_group' is 4, there are 3 groups");
    refused(v3, DEEPSEEK ", \"n_group\": 6, \"topk_group\": 1", TAPML_INVALID,
            "'num_experts_per_tok' is 2, which 1 of 6 groups do not have");
    refused(v3, DEEPSEEK ", \"n_group\": 3, \"topk_group\": 2, \"num_key_value_heads\": 2",
            TAPML_UNIMPLEMENTED, "'num_key_value_heads' is 2, expected 4");
    refused(v3, DEEPSEEK ", \"n_group\": 3, \"topk_group\": 2, \"moe_layer_freq\": 2",
            TAPML_INVALID, "moe_layer_freq");
}

Test(decoders, heads_with_norms_of_their_own)
{
    const struct model_decoder *cohere = &describe_cohere, *stablelm = &describe_stablelm;
    const char qk_norm[] = ", \"qk_layernorm\": true, \"num_key_value_heads\": 2";

    expect(cohere, "", "layers.0/attn/q_norm/norm", NULL);
    expect(cohere, ", \"use_qk_norm\": true", "layers.1/attn/q_norm/mul",
           "b=model.layers.1.self_attn.q_norm.weight f32 [T, 32]");
    expect(cohere, ", \"use_qk_norm\": true", "layers.1/attn/k_rope", "x=layers.1/attn/k_norm/mul");
    expect(stablelm, qk_norm, "layers.0/attn/q_norm/weight.0.4", "-> y f32 [32]");
    expect(stablelm, qk_norm, "layers.0/attn/k_norm/mul", "a=layers.0/attn/k_norm/norm");
    refused(stablelm,
            "{\"hidden_size\": 4096, \"num_hidden_layers\": 1, \"num_attention_heads\": 512, "
            "\"vocab_size\": 50, \"qk_layernorm\": true, \"partial_rotary_factor\": 1.0}",
            TAPML_UNIMPLEMENTED, "'qk_layernorm' of 512 heads, expected at most 256");
    expect(stablelm, ", \"use_parallel_residual\": true", "layers.0/mlp/norm", NULL);
    expect(stablelm, "", "layers.0/mlp/norm", "post_attention_layernorm");
    expect(&describe_gemma, ", \"hidden_act\": \"gelu\"", "layers.0/mlp/gelu_tanh", "gate_proj");
    expect(&describe_gemma, "", "layers.0/attn/q_proj", "q_proj.weight f32 [1024, 32]");
    expect(&describe_olmo2, "", "layers.0/attn/q_norm", "q_norm.weight f32 [32]");
}

Test(decoders, layouts_by_keys)
{
#define LEAST                                                                                      \
    "{\"hidden_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "                 \
    "\"vocab_size\": 50"
    const struct model_decoder *falcon = &describe_falcon, *opt = &describe_opt;
    const char grouped[] = LEAST ", \"new_decoder_architecture\": true, \"num_kv_heads\": 2}";
    const char apart[] = LEAST ", \"alibi\": true, \"parallel_attn\": false, "
                               "\"multi_query\": false}";
    const char narrow[] = LEAST ", \"ffn_dim\": 48, \"max_position_embeddings\": 16, "
                                "\"word_embed_proj_dim\": 8, \"do_layer_norm_before\": false}";

    expect(falcon, LEAST "}", "layers.0/attn/qkv_proj", "query_key_value.weight f32 [48, 32]");
    expect(falcon, LEAST "}", "layers.0/mlp/norm", NULL);
    expect(falcon, grouped, "layers.0/attn/norm", "transformer.h.0.ln_attn.weight");
    expect(falcon, grouped, "layers.1/mlp/norm", "transformer.h.1.ln_mlp.weight");
    expect(falcon, grouped, "layers.0/attn/qkv_proj", "query_key_value.weight f32 [64, 32]");
    expect(falcon, LEAST ", \"n_head_kv\": 2}", "layers.0/attn/norm", "ln_attn.weight");
    expect(falcon, apart, "layers.0/mlp/norm", "post_attention_layernorm");
    expect(falcon, apart, "layers.0/attn/q_rope", NULL);
    expect(falcon, apart, "layers.0/attn/attention", "alibi_f32=1)"); // bf16, but for text_of.
    expect(opt, narrow, "project_in", "model.decoder.project_in.weight f32 [32, 8]");
    expect(opt, narrow, "layers.0/attn/norm", "x=layers.0/attn/add");
    expect(opt, narrow, "norm", NULL);
    expect(opt, narrow, "head", "model.decoder.embed_tokens.weight f32 [50, 8]");
    refused(falcon, LEAST ", \"new_decoder_architecture\": true, \"parallel_attn\": false}",
            TAPML_UNIMPLEMENTED, "'parallel_attn' is false");
    refused(&describe_chatglm, LEAST ", \"rmsnorm\": false, \"ffn_hidden_size\": 48}",
            TAPML_INVALID, "rmsnorm");
#undef LEAST
}

// Types whose keys for sizes are GPT-2's or their own.
Test(decoders, descendants_of_gpt2)
{
#define LEAST  "{\"n_embd\": 32, \"n_layer\": 4, \"n_head\": 4, \"vocab_size\": 50"
#define PLACES LEAST ", \"n_positions\": 16"
    const struct model_decoder *bigcode = &describe_gpt_bigcode, *neo = &describe_gpt_neo;
    const struct model_decoder *mpt = &describe_mpt, *mixformer = &describe_mixformer_sequential;
    const char types[] = "{\"hidden_size\": 32, \"num_layers\": 4, \"num_heads\": 4, "
                         "\"max_position_embeddings\": 16, \"attention_types\": "
                         "[[[\"global\"], 1], [[\"local\", \"global\"], 2]]}";
    const char own[] = "{\"d_model\": 48, \"n_layers\": 2, \"n_heads\": 6, "
                       "\"max_seq_len\": 16, \"attn_config\": {\"alibi\": false, "
                       "\"softmax_scale\": 0.5, \"clip_qkv\": 6}}";

    expect(bigcode, PLACES "}", "layers.0/attn/qkv_proj", "c_attn.weight f32 [48, 32]");
    expect(bigcode, PLACES ", \"multi_query\": false}", "layers.0/attn/qkv_proj",
           "c_attn.weight f32 [96, 32]");
    expect(bigcode, PLACES ", \"scale_attn_weights\": false}", "layers.0/attn/attention",
           "scale=1,");
    expect(neo, types, "layers.0/attn/attention", "window=0");
    expect(neo, types, "layers.1/attn/attention", "scale=1, causal=1, window=256");
    expect(neo, types, "layers.2/attn/attention", "window=0");
    expect(neo, types, "layers.3/attn/attention", "window=256");
    expect(mpt, own, "embed_positions", "transformer.wpe.weight f32 [16, 48]");
    expect(mpt, own, "layers.0/attn/attention", "scale=0.5");
    expect(mpt, own, "layers.1/attn/k_clip", "high=6");
    expect(&describe_gptj, LEAST ", \"rotary_dim\": 4}", "layers.0/attn/q_rope", "[T, 2]");
    expect(&describe_phi_msft, LEAST ", \"n_head_kv\": 2}", "layers.0/attn/qkv_proj",
           "Wqkv.weight f32 [64, 32]");
    expect(mixformer, LEAST "}", "layers.3/mlp/up_proj", "layers.4.mlp.fc1.weight");
    expect(mixformer, LEAST "}", "head", "layers.5.linear.weight");
    refused(neo, "{\"attention_types\": [[[], 9]]}", TAPML_INVALID, "'attention_types' is for");
    refused(&describe_codegen, "{\"n_embd\": 32, \"n_layer\": 4, \"n_head\": 2, \"vocab_size\": 9}",
            TAPML_INVALID, "'n_head' is 2");
    refused(mpt, "{\"norm_type\": \"rmsnorm\", \"max_seq_len\": 4}", TAPML_UNIMPLEMENTED,
            "'norm_type' is 'rmsnorm'");
#undef PLACES
#undef LEAST
}

Test(decoders, ropes_with_keys_of_their_own)
{
    const char nested[] = ", \"rope_parameters\": {\"full_attention\": {\"rope_theta\": 5e5}, "
                          "\"sliding_attention\": {\"rope_theta\": 5e4}}";
    const char yarn[] = ", \"rope_theta\": 5e5, \"rope_scaling\": {\"rope_type\": \"yarn\", "
                        "\"factor\": 4, \"original_max_position_embeddings\": 16}";

    expect(&describe_olmo3, nested, "layers.3/attn/q_rope", "cos=rope.cos");
    expect(&describe_olmo3, yarn, "layers.2/attn/q_rope", "cos=rope.local.cos");
    expect(&describe_stablelm, ", \"rope_pct\": 0.5", "layers.0/attn/q_rope",
           "cos=rope.cos f32 [T, 2]");
}

Test(decoders, what_is_refused)
{
    refused(&describe_qwen3_moe, ", \"num_experts\": 2, \"num_experts_per_tok\": 3", TAPML_INVALID,
            "3 experts for a token, there are 2");
    refused(&describe_qwen3_moe, ", \"num_experts\": 5000", TAPML_INVALID,
            "'num_experts' is 5000, expected 1 to 1024");
    refused(&describe_phi3, ", \"sliding_window\": -3", TAPML_INVALID, "'sliding_window' is -3");
    refused(&describe_phi3, ", \"sliding_window\": 1e15", TAPML_INVALID,
            "'sliding_window' is 1000");
    refused(&describe_gpt_oss, ", \"swiglu_limit\": 9.0", TAPML_INVALID, "swiglu_limit");
    refused(
        &describe_qwen3, ", \"sliding_window\": 5, \"layer_types\": [\"chunked_attention\"]",
        TAPML_UNIMPLEMENTED,
        "'layer_types/0' is 'chunked_attention', expected 'sliding_attention' or 'full_attention'");
    refused(&describe_qwen3, ", \"sliding_window\": 5, \"layer_types\": [\"full_attention\"]",
            TAPML_UNIMPLEMENTED, "the config has no 'layer_types/1'");
    refused(&describe_gemma2, ", \"use_bidirectional_attention\": true", TAPML_INVALID,
            "use_bidirectional_attention");
    refused(&describe_gemma2, ", \"attn_logit_softcapping\": -1", TAPML_INVALID,
            "'attn_logit_softcapping' is -1");
    refused(&describe_cohere2, ", \"use_qk_norm\": true", TAPML_INVALID, "use_qk_norm");
    refused(&describe_phi3, ", \"partial_rotary_factor\": 2.0", TAPML_INVALID,
            "expected a number above 0 and at most 1");
    refused(&describe_smollm3, ", \"no_rope_layers\": [1, 2]", TAPML_INVALID,
            "'no_rope_layers/1' is 2, expected 0 or 1");
    refused(&describe_qwen, ", \"no_bias\": false", TAPML_INVALID, "no_bias");
    refused(&describe_apertus, ", \"hidden_act\": \"silu\"", TAPML_INVALID, "hidden_act");
    refused(&describe_granite, ", \"logits_scaling\": -2", TAPML_INVALID,
            "'logits_scaling' is -2, expected a number above 0");
    refused(&describe_hunyuan_v1_dense, ", \"use_qk_norm\": false", TAPML_INVALID, "use_qk_norm");
}
