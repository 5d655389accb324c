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

static struct architecture begin(const struct model_decoder *decoder, struct model_fixture *fixture)
{
    tapml_object *root = NULL;

    model_fixture_ok(model_decoder_create(decoder, model_fixture_host(fixture), NULL, &root));
    return architecture_open(fixture, root);
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

// What a config leads one to expect is what the checkpoint of Hugging Face has.
Test(decoders, with_and_without_weights_the_graph_is_one)
{
    static const char *const folders[] = {"bloom",
                                          "cohere2",
                                          "deepseek_v2_lite",
                                          "deepseek_v2_yarn",
                                          "deepseek_v3",
                                          "deepseek_v3_yarn",
                                          "gemma2",
                                          "gemma3_text",
                                          "gpt2",
                                          "gpt_neox",
                                          "gpt_neox_legacy",
                                          "gpt_oss",
                                          "qwen3_moe",
                                          "phi3",
                                          "qwen3"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        const struct model_decoder *decoder = NULL;
        char path[64];
        char *text = read_config(folders[i]);

        for (size_t k = 0; k < DECODERS; k++) {
            const size_t length = strlen(decoders[k]->model_type);

            if (strncmp(folders[i], decoders[k]->model_type, length) == 0 &&
                (decoder == NULL || length > strlen(decoder->model_type))) {
                decoder = decoders[k];
            }
        }
        cr_assert_not_null(decoder, "%s", folders[i]);
        snprintf(path, sizeof(path), "models/%s", folders[i]);

        struct architecture with = begin(decoder, model_fixture_open(path, NULL));
        struct architecture without = begin(decoder, model_fixture_open(NULL, text));

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

// A config of the least keys, with more after a comma.
static const char small[] = "{\"hidden_size\": 32, \"num_hidden_layers\": 4, "
                            "\"num_attention_heads\": 4, \"intermediate_size\": 48, "
                            "\"vocab_size\": 50%s}";

static struct architecture begin_small(const struct model_decoder *decoder, const char *more)
{
    char text[1024];

    snprintf(text, sizeof(text), small, more);
    return begin(decoder, model_fixture_open(NULL, text));
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
    struct architecture architecture =
        begin(&describe_gpt2,
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
            TAPML_UNIMPLEMENTED, "'layer_types/1' is ''");
    refused(&describe_gemma2, ", \"use_bidirectional_attention\": true", TAPML_INVALID,
            "use_bidirectional_attention");
    refused(&describe_gemma2, ", \"attn_logit_softcapping\": -1", TAPML_INVALID,
            "'attn_logit_softcapping' is -1");
    refused(&describe_cohere2, ", \"use_qk_norm\": true", TAPML_INVALID, "use_qk_norm");
    refused(&describe_phi3, ", \"partial_rotary_factor\": 2.0", TAPML_INVALID,
            "expected a number above 0 and at most 1");
    refused(&describe_gpt_neox, ", \"is_decoder\": true", TAPML_INVALID, "is_decoder");
}
