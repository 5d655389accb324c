// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The image part of plugins/models/llava, which is linked into the test, and how the text asks for
// it.
#include "architecture.h"
#include "base/text.h"
#include "graph/print.h"
#include "model_types.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// A tower with these sizes and other keys of its section, and with more keys of the config.
#define SIZES(side, patch, layers, heads)                                                          \
    "\"image_size\": " #side ", \"patch_size\": " #patch ", \"num_hidden_layers\": " #layers       \
    ", \"num_attention_heads\": " #heads
#define SECTION(section, more)                                                                     \
    "{\"model_type\": \"llava\", \"text_config\": {\"hidden_size\": 48, \"vocab_size\": 9}, "      \
    "\"vision_config\": {\"hidden_size\": 24, \"intermediate_size\": 40, " section "}" more "}"
#define TOWER(section, more) SECTION(SIZES(12, 4, 2, 3) section, more)

static void expect(const char *folder, const char *config, const char *piece, int is_there)
{
    struct architecture architecture =
        architecture_begin(&describe_llava_vision, model_fixture_open(folder, config));
    struct text text;

    text_init(&text);
    print_graph(architecture_graph(&architecture), &text);
    cr_assert_eq(strstr(text.data, piece) != NULL, is_there, "'%s' in:\n%s", piece, text.data);
    text_release(&text);
    architecture_close(&architecture);
}

static void refused(const char *config, tapml_status code, const char *piece)
{
    struct architecture architecture =
        architecture_begin(&describe_llava_vision, model_fixture_open(NULL, config));
    const tapml_status status = architecture_build(&architecture);

    model_fixture_expect(status != TAPML_OK ? status
                                            : model_fixture_check_config(architecture.fixture),
                         code, piece);
    architecture_close(&architecture);
}

Test(llava, patches_class_and_positions)
{
    expect("models/llava", NULL, "input pixel_values f32 [3, 16, 16] from user", 1);
    expect("models/llava", NULL,
           "vision/patches = copy(x=pixel_values f32 [2, 2, 3, 8, 8] strides [128, 8, 256, 16, 1]",
           1);
    expect("models/llava", NULL,
           "vision/add_positions = add(a=vision/add_class f32 [5, 32] strides [1, 5] at 0", 1);
    expect("models/llava", NULL, "position=0, scale=0.25, causal=0", 1);
    expect("models/llava", NULL, "output image_features = projector/linear_2 f32 [4, 64]", 1);
}

Test(llava, the_features_are_those_of_the_layers_that_are_chosen)
{
    static const char rows[] = "linear_1 = linear(x=vision/layers.0/mlp/add f32 [9, 24]";

    expect(NULL, TOWER("", ""), rows, 1);
    expect(NULL, TOWER("", ""), "vision/layers.1", 0); // Nothing reads it.
    expect(NULL, TOWER("", ", \"vision_feature_layer\": 1"), rows, 1);
    expect(NULL, TOWER("", ", \"vision_feature_layer\": -3"),
           "linear_1 = linear(x=vision/embed_norm f32 [9, 24]", 1);
    expect(NULL, TOWER("", ", \"vision_feature_select_strategy\": \"full\""),
           "output image_features = projector/linear_2 f32 [10, 48]", 1);
    expect(NULL, TOWER("", ", \"vision_feature_layer\": [0, -1]"),
           "vision/features.1 = concat(a=vision/embed_norm f32 [9, 24]", 1);
    expect(NULL, TOWER("", ", \"vision_feature_layer\": [0, -1]"),
           "w=multi_modal_projector.linear_1.weight f32 [48, 48]", 1);
    expect(NULL, TOWER("", ", \"multimodal_projector_bias\": false"), "linear_1.bias", 0);
}

Test(llava, absent_keys_have_the_defaults_of_their_class)
{
    static const char bare[] = "{\"model_type\": \"llava\"}";
    static const char clip[] = "{\"model_type\": \"llava\", \"vision_config\": {}}";

    expect(NULL, bare, "vision_tower.embeddings.position_embedding.weight f32 [577, 1024]", 1);
    expect(NULL, bare, "output image_features = projector/linear_2 f32 [576, 4096]", 1);
    expect(NULL, bare, "vision/layers.22/", 1);
    expect(NULL, bare, "vision/layers.23/", 0);
    expect(NULL, clip, "vision_tower.embeddings.position_embedding.weight f32 [50, 768]", 1);
}

Test(llava, what_cannot_be_is_refused)
{
    refused(TOWER(", \"model_type\": \"siglip_vision_model\"", ""), TAPML_UNIMPLEMENTED,
            "expected 'clip_vision_model'");
    refused(SECTION(SIZES(12, 5, 2, 3), ""), TAPML_INVALID,
            "images of 12 times 12 do not divide into patches of 5 times 5");
    refused(SECTION(SIZES(12, 4, 2, 5), ""), TAPML_INVALID,
            "24 hidden values do not divide among 5 heads");
    refused(SECTION(SIZES(0, 4, 2, 3), ""), TAPML_INVALID, "'vision_config/image_size' is 0");
    refused(SECTION(SIZES(12, 4, 1000000, 3), ""), TAPML_INVALID, "num_hidden_layers");
    refused(TOWER(", \"layer_norm_eps\": 7", ""), TAPML_INVALID, "layer_norm_eps");
    refused(TOWER(", \"hidden_act\": \"xyz\"", ""), TAPML_UNIMPLEMENTED, "hidden_act");
    refused(TOWER(", \"attention_scale\": 3", ""), TAPML_INVALID, "attention_scale");
    refused(TOWER("", ", \"vision_feature_layer\": 3"), TAPML_INVALID,
            "'vision_feature_layer' is 3, expected -3 to 2");
    refused(TOWER("", ", \"vision_feature_layer\": [1, -4]"), TAPML_INVALID,
            "'vision_feature_layer/1' is -4");
    refused(TOWER("", ", \"vision_feature_layer\": []"), TAPML_INVALID, "vision_feature_layer");
    refused(TOWER("", ", \"vision_feature_layer\": \"x\""), TAPML_INVALID, "vision_feature_layer");
    refused(TOWER("", ", \"vision_feature_layer\": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"),
            TAPML_INVALID, "has 17 layers, expected 1 to 16");
    refused(TOWER("", ", \"vision_feature_select_strategy\": \"half\""), TAPML_UNIMPLEMENTED,
            "'half'");
    refused(TOWER("", ", \"projector_hidden_act\": \"xyz\""), TAPML_UNIMPLEMENTED,
            "projector_hidden_act");
}
