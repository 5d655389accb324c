// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Options of configs that any family of plugins/models may have.
#include "architecture.h"
#include "base/text.h"
#include "graph/print.h"
#include "model_types.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ADDRESS_OF(type) &describe_##type,

static const struct model_decoder *const decoders[] = {MODEL_DECODERS(ADDRESS_OF)};

enum { DECODERS = sizeof(decoders) / sizeof(*decoders) };

static struct architecture begin(const struct model_decoder *decoder, const char *config)
{
    return architecture_begin_decoder(decoder, model_fixture_open(NULL, config));
}

// Of a small config in the words of several families, with more keys behind a comma.
static int builds(const struct model_decoder *decoder, const char *more)
{
    static const char small[] = "{\"hidden_size\": 32, \"num_hidden_layers\": 2, \"n_layer\": 2, "
                                "\"num_attention_heads\": 4, \"n_head\": 4, \"n_embd\": 32, "
                                "\"intermediate_size\": 48, \"num_experts_per_tok\": 2, "
                                "\"vocab_size\": 50%s}";
    char text[1024];

    snprintf(text, sizeof(text), small, more);

    struct architecture architecture = begin(decoder, text);
    const tapml_status status = architecture_build(&architecture);

    architecture_close(&architecture);
    return status == TAPML_OK;
}

// The ops that an activation becomes have names of which no other op of the layer has one.
Test(options, every_activation_fits_into_every_family)
{
    static const char *const kinds[] = {"relu2", "quick_gelu", "sigmoid"};
    size_t count = 0;

    for (size_t i = 0; i < DECODERS; i++) {
        const char *key = decoders[i]->keys.activation;

        if (key == NULL || decoders[i]->mixer != NULL) {
            continue; // The gated delta rule is built with silu only.
        }
        cr_assert(builds(decoders[i], ""), "%s", decoders[i]->model_type);
        for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
            char more[128];

            snprintf(more, sizeof(more), ", \"%.*s\": \"%s\"", (int)strcspn(key + 1, "|"), key + 1,
                     kinds[k]);
            cr_assert(builds(decoders[i], more), "%s%s", decoders[i]->model_type, more);
        }
        count++;
    }
    cr_assert_gt(count, 40);
}

// The graph of a whole config, of which every key was read, has the piece.
static void
expect(const struct model_decoder *decoder, const char *config, const char *more, const char *piece)
{
    char whole[1024];

    snprintf(whole, sizeof(whole), "{%s%s}", config, more);

    struct architecture architecture = begin(decoder, whole);
    struct text text;

    text_init(&text);
    print_graph(architecture_graph(&architecture), &text);
    cr_assert_not_null(strstr(text.data, piece), "%s: '%s' is not in:\n%s", decoder->model_type,
                       piece, text.data);
    text_release(&text);
    architecture_close(&architecture);
}

static const char llama[] = "\"hidden_size\": 64, \"num_hidden_layers\": 2, "
                            "\"num_attention_heads\": 4, \"intermediate_size\": 48, "
                            "\"vocab_size\": 50";

// Keys of what no layer has count as read all the same.
Test(options, keys_that_no_layer_uses)
{
    expect(&describe_lfm2, llama,
           ", \"conv_bias\": true, \"conv_L_cache\": 3, "
           "\"layer_types\": [\"full_attention\", \"full_attention\"]",
           "layers.1/attn/attention");
    expect(&describe_qwen3_moe, llama, ", \"decoder_sparse_step\": 3, \"mlp_only_layers\": [1]",
           "layers.1/mlp/gate_proj = linear(");
}

// Classes take the number of experts under another name too.
Test(options, other_names_of_keys)
{
    expect(&describe_mixtral, llama, ", \"num_experts\": 3", "gate.weight f32 [3, 64]");
    expect(&describe_gpt_oss, llama, ", \"num_experts\": 5", "router.weight f32 [5, 64]");
    expect(&describe_ernie4_5_moe, llama, ", \"num_experts\": 3, \"num_experts_per_tok\": 2",
           "layers.1.mlp.gate.weight f32 [3, 64]");
    expect(&describe_deepseek, llama, ", \"num_local_experts\": 3, \"num_experts_per_tok\": 2",
           "layers.0.mlp.gate.weight f32 [3, 64]");
}

// The class's own width of a head, and that of a config whose class has none.
Test(options, widths_of_heads)
{
    expect(&describe_qwen3, llama, "", "q_proj.weight f32 [512, 64]");
    expect(&describe_qwen3, llama, ", \"head_dim\": null", "q_proj.weight f32 [64, 64]");
    expect(&describe_gpt_oss, llama, "", "q_proj.weight f32 [256, 64]");
    expect(&describe_qwen2, llama, ", \"head_dim\": 24", "q_proj.weight f32 [96, 64]");
    expect(&describe_olmo2, llama, ", \"head_dim\": 24", "q_norm.weight f32 [96]");
    expect(&describe_internlm2, llama, ", \"head_dim\": 24", "wqkv.weight f32 [288, 64]");
}

// Null is as absent where it switches nothing off.
Test(options, nulls_in_place_of_numbers)
{
    expect(&describe_gemma2, llama, ", \"query_pre_attn_scalar\": null", "scale=0.0625");
    expect(&describe_cohere, llama, ", \"logit_scale\": null", "factor=0.0625");
    expect(&describe_ernie4_5_moe, llama, ", \"moe_layer_end_index\": null",
           "layers.1/mlp/router = linear(");
}

// What the query at a position is multiplied by.
static float factor_at(const struct model_decoder *decoder, const char *more, int64_t position)
{
    char whole[1024];
    float factor = 0;

    snprintf(whole, sizeof(whole), "{%s%s}", llama, more);

    struct architecture architecture = begin(decoder, whole);

    (void)architecture_graph(&architecture);
    model_fixture_ok(architecture.table->fill(
        architecture.root, NULL, model_fixture_config(architecture.fixture), "query_factors",
        position, 1, position + 1, &factor, sizeof(factor)));
    architecture_close(&architecture);
    return factor;
}

// Ministral 3 has the numbers of its queries in the rope's section, in both dialects.
Test(options, queries_that_grow)
{
    const char newer[] = ", \"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 4, "
                         "\"original_max_position_embeddings\": 4, \"llama_4_scaling_beta\": 0.5}";
    const char older[] = ", \"rope_theta\": 10000, \"rope_scaling\": {\"type\": \"yarn\", "
                         "\"factor\": 4, \"original_max_position_embeddings\": 4, "
                         "\"llama_4_scaling_beta\": 0.5}";
    const double grown = 1 + 0.5 * log1p(2);

    cr_assert_float_eq(factor_at(&describe_ministral3, newer, 8), grown, 1e-6);
    cr_assert_float_eq(factor_at(&describe_ministral3, older, 8), grown, 1e-6);
    cr_assert_float_eq(factor_at(&describe_ministral3, "", 32768), 1 + 0.1 * log1p(2), 1e-6);
}
