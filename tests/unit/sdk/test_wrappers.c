// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Wrappers of all families: the graph is that of the section, with the defaults of its class where
// it says nothing.
#include "architecture.h"
#include "base/text.h"
#include "graph/print.h"
#include "model_types.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// The graph of a folder, or without weights of a config, has the piece.
static void expect(const struct model_architecture *wrapper,
                   const char *folder,
                   const char *config,
                   const char *piece)
{
    struct architecture architecture =
        architecture_begin(wrapper, model_fixture_open(folder, config));
    struct text text;

    text_init(&text);
    print_graph(architecture_graph(&architecture), &text);
    cr_assert_not_null(strstr(text.data, piece), "'%s' is not in:\n%s", piece, text.data);
    text_release(&text);
    architecture_close(&architecture);
}

static void refused(const struct model_architecture *wrapper,
                    const char *config,
                    tapml_status code,
                    const char *piece)
{
    struct architecture architecture =
        architecture_begin(wrapper, model_fixture_open(NULL, config));
    const tapml_status status = architecture_build(&architecture);

    model_fixture_expect(status != TAPML_OK ? status
                                            : model_fixture_check_config(architecture.fixture),
                         code, piece);
    architecture_close(&architecture);
}

#define MISTRAL(type, more)                                                                        \
    "{\"model_type\": \"mistral3\", \"vision_config\": {\"x\": 1}, \"tie_word_embeddings\": "      \
    "true, "                                                                                       \
    "\"text_config\": {\"model_type\": \"" type "\", \"num_hidden_layers\": 1}" more "}"

Test(wrappers, sections_of_several_types)
{
    const struct model_architecture *mistral3 = &describe_mistral3;

    expect(mistral3, NULL, MISTRAL("mistral", ""), "w=model.embed_tokens.weight");
    expect(mistral3, NULL, MISTRAL("mistral", ""), "window=4096");
    expect(mistral3, NULL, MISTRAL("ministral3", ""), "w=model.embed_tokens.weight");
    expect(mistral3, NULL, MISTRAL("ministral3", ""), "window=0");
    expect(mistral3, NULL, MISTRAL("qwen3", ""), "q_proj.weight f32 [4096, 4096]");
    refused(mistral3, MISTRAL("qwen9", ""), TAPML_UNIMPLEMENTED,
            "expected 'mistral', 'ministral3' or 'qwen3'");
    refused(mistral3, MISTRAL("mistral", ", \"text_scale\": 2"), TAPML_INVALID, "'/text_scale'");
    refused(mistral3, "{\"model_type\": \"mistral3\", \"text_config\": []}", TAPML_INVALID,
            "'/text_config': expected an object, found '[]'");
}

#define LLAVA(section, more) "{\"model_type\": \"llava\", \"text_config\": {" section "}" more "}"

// What published configs say of the text part is little: the rest is Llama's class.
Test(wrappers, llava_without_sizes)
{
    const struct model_architecture *llava = &describe_llava;
    static const char published[] =
        LLAVA("\"model_type\": \"llama\", \"rms_norm_eps\": 1e-05, \"vocab_size\": 32064",
              ", \"ignore_index\": -100, \"image_token_index\": 32000, \"vocab_size\": 32064, "
              "\"image_seq_length\": 576, \"projector_hidden_act\": \"gelu\", "
              "\"multimodal_projector_bias\": true, \"vision_config\": {\"hidden_size\": 1024}, "
              "\"vision_feature_layer\": -2, \"vision_feature_select_strategy\": \"default\"");

    expect(llava, NULL, published, "lm_head.weight f32 [32064, 4096]");
    expect(llava, NULL, published, "layers.31.mlp.gate_proj.weight f32 [11008, 4096]");
    expect(llava, NULL, published, "layers.31.self_attn.k_proj.weight f32 [4096, 4096]");
    expect(llava, NULL, published, "eps=1.0000000000000001e-05");
    expect(llava, NULL, "{\"model_type\": \"llava\"}", "lm_head.weight f32 [32000, 4096]");
    expect(
        llava, NULL,
        LLAVA("\"hidden_size\": 5120, \"num_attention_heads\": 40, \"num_hidden_layers\": 1", ""),
        "k_proj.weight f32 [5120, 5120]");
}

Test(wrappers, llava_of_a_folder)
{
    expect(&describe_llava, "models/llava_text", NULL,
           "language_model.model.embed_tokens.weight f32 [96, 64]");
    expect(&describe_llava, "models/llava_text", NULL,
           "language_model.lm_head.weight f32 [96, 64]");
}

Test(wrappers, llava_has_rows_of_images_at_their_tokens)
{
    const struct model_architecture *llava = &describe_llava;

    expect(llava, "models/llava", NULL,
           "input image_features f32 [T, 64] from part llava_vision at tokens 95");
    expect(llava, "models/llava", NULL,
           "llava_vision/others = mul(a=embed f32 [T, 64], b=image_features.others f32 [T, 64] "
           "strides [1, 0] at 0)");
    expect(llava, "models/llava", NULL,
           "llava_vision/add = add(a=llava_vision/others f32 [T, 64], b=image_features f32");
    expect(llava, NULL, LLAVA("", ""), "at tokens 32000");
    expect(llava, NULL, LLAVA("", ", \"image_token_id\": 7"), "at tokens 7");
    refused(llava, LLAVA("", ", \"image_token_index\": -1"), TAPML_INVALID,
            "'image_token_index' is -1, expected the id of a token");
}

Test(wrappers, llava_with_other_text_parts)
{
    const struct model_architecture *llava = &describe_llava;

    expect(llava, NULL, LLAVA("\"model_type\": \"mistral\"", ""), "window=4096");
    expect(llava, NULL, LLAVA("\"model_type\": \"qwen2\"", ""), "q_proj.bias f32 [4096]");
    refused(llava, LLAVA("\"model_type\": \"gemma\"", ""), TAPML_UNIMPLEMENTED,
            "'gemma', expected 'llama', 'mistral' or 'qwen2'");
    refused(llava, LLAVA("\"sliding_window\": 4096", ""), TAPML_INVALID, "sliding_window");
    refused(llava, LLAVA("\"rope_interleaved\": true", ""), TAPML_INVALID, "rope_interleaved");
    refused(llava, LLAVA("", ", \"text_scale\": 2"), TAPML_INVALID, "'/text_scale'");
    refused(llava, LLAVA("", ", \"hidden_size\": 4096"), TAPML_INVALID, "'/hidden_size'");
}

// The keys of the Llama stand outside.
Test(wrappers, llava_of_its_own_code)
{
    const struct model_architecture *llava = &describe_llava;
    static const char published[] =
        "{\"model_type\": \"llava\", \"hidden_size\": 4096, \"num_hidden_layers\": 3, "
        "\"num_attention_heads\": 32, \"intermediate_size\": 11008, \"vocab_size\": 32000, "
        "\"mm_vision_tower\": \"openai/clip-vit-large-patch14-336\", "
        "\"mm_vision_select_layer\": -2, \"image_aspect_ratio\": \"pad\"}";

    expect(llava, NULL, published, "w=model.layers.2.mlp.down_proj.weight");
    refused(llava, "{\"model_type\": \"llava\", \"mm_scale\": 2}", TAPML_INVALID, "'/mm_scale'");
}
