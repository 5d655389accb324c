// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The decoder by the one description of the tree: it is linked into the test.
#include "architecture.h"
#include "base/alloc.h"
#include "model_types.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char small[] = "{\"model_type\": \"llama\", \"hidden_size\": 32, "
                            "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
                            "\"intermediate_size\": 48, \"vocab_size\": 50%s}";

static struct architecture begin(struct model_fixture *fixture)
{
    tapml_object *root = NULL;

    model_fixture_ok(
        model_decoder_create(&describe_llama, model_fixture_host(fixture), NULL, &root));
    cr_assert_null(root->vt->interface_of(root, TAPML_KIND_MODEL "0"));
    return architecture_open(fixture, root);
}

// The small config with more keys, each after a comma; or the same without a '}'.
static struct architecture begin_small(const char *more)
{
    char text[1024];

    snprintf(text, sizeof(text), small, more);
    return begin(model_fixture_open(NULL, text));
}

static uint32_t score(const char *config)
{
    struct architecture architecture = begin(model_fixture_open(NULL, config));
    uint32_t found = 1000;

    model_fixture_ok(architecture.table->match(architecture.root, NULL,
                                               model_fixture_config(architecture.fixture), &found));
    architecture_close(&architecture);
    return found;
}

Test(model_decoder, match)
{
    cr_assert_eq(score("{\"model_type\": \"llama\"}"), 100);
    cr_assert_eq(score("{\"model_type\": \"llama\", \"architectures\": [\"Other\"]}"), 100);
    cr_assert_eq(score("{\"architectures\": [\"LlamaForCausalLM\"]}"), 90);
    cr_assert_eq(score("{\"model_type\": \"qwen2\", \"architectures\": [\"LlamaForCausalLM\"]}"),
                 0);
    cr_assert_eq(score("{\"model_type\": \"llama4\"}"), 0);
    cr_assert_eq(score("{}"), 0);
    cr_assert_eq(score("{\"model_type\": 7}"), 0);
}

// The value that an op takes for a parameter.
static const struct graph_value *
argument(const struct graph *graph, const char *instance, unsigned param)
{
    const uint32_t op = graph_find_op(graph, instance);

    cr_assert_neq(op, GRAPH_NONE, "no instance '%s'", instance);
    return graph->ops[op].arguments[param].kind == TAPML_V_NONE
               ? NULL
               : &graph->values[graph->ops[op].arguments[param].value];
}

static void expect_shape(const struct graph_value *value, const char *expected)
{
    char text[512] = "";
    size_t length = 0;

    for (uint32_t i = 0; i < value->rank; i++) {
        char number[64];

        affine_text(&value->shape[i], number, sizeof(number));
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", i > 0 ? ", " : "",
                                   number);
    }
    cr_assert_str_eq(text, expected, "'%s' is [%s], not [%s]", value->name, text, expected);
}

Test(model_decoder, every_fixture_builds)
{
    static const char *const folders[] = {
        "models/llama",         "models/llama_bf16",    "models/llama_bias_llama3",
        "models/llama_dynamic", "models/llama_f16",     "models/llama_legacy",
        "models/llama_linear",  "models/llama_sharded", "models/llama_yarn",
        "../../models/tiny"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        struct architecture architecture = begin(model_fixture_open(folders[i], NULL));
        const struct graph *graph = architecture_graph(&architecture);
        const int is_biased = strstr(folders[i], "bias") != NULL;

        for (uint32_t v = 0; v < graph->value_count; v++) {
            const struct graph_value *value = &graph->values[v];

            cr_assert(value->kind != GRAPH_WEIGHT || value->data != NULL, "%s", value->name);
        }
        cr_assert_eq(argument(graph, "layers.1/attn/o_proj", 2) != NULL, is_biased, "%s",
                     folders[i]);
        cr_assert_eq(argument(graph, "layers.1/mlp/up_proj", 2) != NULL, is_biased, "%s",
                     folders[i]);
        cr_assert_neq(graph_find_output(graph, "logits"), GRAPH_NONE);
        architecture_close(&architecture);
    }
}

Test(model_decoder, the_graph_of_a_fixture)
{
    struct architecture architecture = begin(model_fixture_open("models/llama", NULL));
    const struct graph *graph = architecture_graph(&architecture);

    // embed; two layers of 11 + 7 ops; norm, rows, head.
    cr_assert_eq(graph->op_count, 1 + 2 * 18 + 3);
    cr_assert_str_eq(graph->ops[1].instance, "layers.0/attn/norm");
    cr_assert_str_eq(graph->ops[graph->op_count - 1].instance, "head");
    expect_shape(argument(graph, "layers.1/attn/attention", 0), "T, 4, 16");
    expect_shape(argument(graph, "layers.1/attn/attention", 1), "C, 2, 16");
    cr_assert_str_eq(argument(graph, "layers.1/attn/attention", 1)->name, "layers.1/attn/k");
    cr_assert_str_eq(argument(graph, "layers.1/attn/attention", 2)->name, "layers.1/attn/v");
    cr_assert_str_eq(argument(graph, "layers.1/attn/k_append", 1)->name, "layers.1/attn/k_rope");
    cr_assert_str_eq(argument(graph, "layers.1/attn/v_append", 1)->name, "layers.1/attn/v_proj");
    cr_assert_str_eq(argument(graph, "layers.1/mlp/mul", 0)->name, "layers.1/mlp/silu");
    cr_assert_str_eq(argument(graph, "layers.1/mlp/norm", 1)->name,
                     "model.layers.1.post_attention_layernorm.weight");
    cr_assert_str_eq(argument(graph, "head", 1)->name, "lm_head.weight");
    expect_shape(&graph->values[graph_find_output(graph, "logits")], "R, 96");
    for (int i = 0; i <= 2; i++) {
        char name[16];

        snprintf(name, sizeof(name), "hidden.%d", i);
        expect_shape(&graph->values[graph_find_output(graph, name)], "T, 64");
    }
    cr_assert_str_eq(graph->values[graph_find_output(graph, "hidden.0")].name, "embed");
    cr_assert_str_eq(graph->values[graph_find_output(graph, "hidden.1")].name, "layers.0/mlp/add");
    cr_assert_str_eq(graph->values[graph_find_output(graph, "hidden.2")].name, "norm");

    const uint32_t op = graph_find_op(graph, "layers.0/attn/attention");
    cr_assert_float_eq(graph->ops[op].arguments[7].d, 0.25, 1e-12);
    cr_assert_eq(graph->ops[op].arguments[8].i.constant, 1);
    cr_assert_float_eq(graph->ops[1].arguments[2].d, 1e-5, 1e-12, "eps comes from the config");
    architecture_close(&architecture);
}

Test(model_decoder, with_and_without_weights_the_graph_is_one)
{
    struct architecture with = begin(model_fixture_open("models/llama", NULL));
    const struct graph *graph = architecture_graph(&with);
    struct architecture without = begin(model_fixture_open(
        NULL, "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
              "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"intermediate_size\": 80, "
              "\"vocab_size\": 96, \"rms_norm_eps\": 1e-5}"));

    cr_assert(hash_equal(graph_hash(graph), graph_hash(architecture_graph(&without))));
    architecture_close(&with);
    architecture_close(&without);
}

Test(model_decoder, heads_and_defaults)
{
    struct architecture architecture = begin_small("");
    const struct graph *graph = architecture_graph(&architecture);

    // As many key heads as query heads, of 32 / 4 values; the class's eps; a head of its own.
    expect_shape(argument(graph, "layers.0/attn/attention", 1), "C, 4, 8");
    cr_assert_float_eq(graph->ops[1].arguments[2].d, 1e-6, 1e-15);
    cr_assert_str_eq(argument(graph, "head", 1)->name, "lm_head.weight");
    cr_assert_null(argument(graph, "layers.0/attn/q_proj", 2));
    cr_assert_null(argument(graph, "layers.0/mlp/down_proj", 2));
    architecture_close(&architecture);

    // Heads wider than hidden / heads, one for keys, biases, a tied head.
    architecture =
        begin_small(", \"head_dim\": 24, \"num_key_value_heads\": 1, \"attention_bias\": true, "
                    "\"mlp_bias\": true, \"tie_word_embeddings\": true");
    graph = architecture_graph(&architecture);
    expect_shape(argument(graph, "layers.0/attn/attention", 0), "T, 4, 24");
    expect_shape(argument(graph, "layers.0/attn/attention", 1), "C, 1, 24");
    expect_shape(argument(graph, "layers.0/attn/o_proj", 1), "32, 96");
    expect_shape(argument(graph, "layers.0/attn/q_proj", 2), "96");
    expect_shape(argument(graph, "layers.0/attn/k_proj", 2), "24");
    expect_shape(argument(graph, "layers.0/attn/o_proj", 2), "32");
    expect_shape(argument(graph, "layers.0/mlp/gate_proj", 2), "48");
    expect_shape(argument(graph, "layers.0/mlp/down_proj", 2), "32");
    expect_shape(argument(graph, "layers.0/attn/q_rope", 1), "T, 12");
    cr_assert_str_eq(argument(graph, "head", 1)->name, "model.embed_tokens.weight");
    architecture_close(&architecture);
}

static void refused(const char *more, tapml_status code, const char *piece)
{
    struct architecture architecture = begin_small(more);

    model_fixture_expect(architecture_build(&architecture), code, piece);
    architecture_close(&architecture);
}

Test(model_decoder, what_is_refused)
{
    struct architecture architecture =
        begin(model_fixture_open(NULL, "{\"model_type\": \"llama\"}"));

    model_fixture_expect(architecture_build(&architecture), TAPML_INVALID,
                         "the config lacks 'hidden_size'");
    architecture_close(&architecture);
    architecture =
        begin(model_fixture_open(NULL, "{\"hidden_size\": 32, \"num_hidden_layers\": 99999}"));
    model_fixture_expect(architecture_build(&architecture), TAPML_INVALID,
                         "'num_hidden_layers' is 99999, expected 1 to 4096");
    architecture_close(&architecture);
    architecture = begin(model_fixture_open(NULL, "{\"hidden_size\": 32, \"num_hidden_layers\": 2, "
                                                  "\"num_attention_heads\": 5}"));
    model_fixture_expect(architecture_build(&architecture), TAPML_INVALID,
                         "32 hidden values do not divide among 5 heads");
    architecture_close(&architecture);
    refused(", \"hidden_act\": \"mish\"", TAPML_UNIMPLEMENTED,
            "'hidden_act' is 'mish', expected 'silu', 'swish', 'gelu', 'gelu_new', "
            "'gelu_pytorch_tanh', 'gelu_fast', 'relu', 'sigmoid', 'tanh', 'quick_gelu' or 'relu2'");
    refused(", \"num_key_value_heads\": 3", TAPML_INVALID, "4 heads do not share 3 key and value");
    refused(", \"num_key_value_heads\": 0", TAPML_INVALID, "'num_key_value_heads' is 0");
    refused(", \"head_dim\": 7", TAPML_INVALID, "heads of 7 values");
    refused(", \"rope_scaling\": {\"type\": \"spiral\"}", TAPML_UNIMPLEMENTED, "'spiral'");
}

// Keys that nobody reads are the host's to refuse.
static void left_unread(const char *more, const char *key)
{
    struct architecture architecture = begin_small(more);

    model_fixture_ok(architecture_build(&architecture));
    model_fixture_expect(model_fixture_check_config(architecture.fixture), TAPML_INVALID, key);
    architecture_close(&architecture);
}

Test(model_decoder, options_that_it_lacks_are_left_to_the_host)
{
    left_unread(", \"sliding_window\": 8", "sliding_window");
    left_unread(", \"quantization_config\": {\"bits\": 4}", "quantization_config");
    left_unread(", \"partial_rotary_factor\": 0.5", "partial_rotary_factor");
    left_unread(", \"attention_bias\": 0.5", "attention_bias");
    left_unread(", \"residual_multiplier\": 0.5", "residual_multiplier");
}

Test(model_decoder, fill)
{
    struct architecture architecture =
        begin_small(", \"max_position_embeddings\": 4, \"rope_scaling\": "
                    "{\"type\": \"dynamic\", \"factor\": 2.0}");
    tapml_object *config = model_fixture_config(architecture.fixture);
    const tapml_model *table = architecture.table;
    float whole[6][4];
    float chunk[3][4];
    float shorter[3][4];

    model_fixture_ok(architecture_build(&architecture));
    model_fixture_ok(model_fixture_check_config(architecture.fixture));

    const size_t made = alloc_made();
    model_fixture_ok(
        table->fill(architecture.root, NULL, config, "rope.sin", 0, 6, 6, whole, sizeof(whole)));
    cr_assert_eq(alloc_made(), made, "filled in every step: it must not allocate");
    model_fixture_ok(
        table->fill(architecture.root, NULL, config, "rope.sin", 3, 3, 6, chunk, sizeof(chunk)));
    cr_assert_eq(memcmp(chunk, whole[3], sizeof(chunk)), 0, "a chunk equals the whole");
    model_fixture_ok(table->fill(architecture.root, NULL, config, "rope.sin", 0, 3, 3, shorter,
                                 sizeof(shorter)));
    cr_assert_neq(memcmp(shorter, whole[0], sizeof(shorter)), 0, "a shorter text is turned less");
    model_fixture_ok(
        table->fill(architecture.root, NULL, config, "rope.cos", 0, 3, 6, chunk, sizeof(chunk)));
    cr_assert_float_eq(chunk[0][3], 1, 0);

    cr_assert_eq(
        table->fill(architecture.root, NULL, config, "mask", 0, 3, 6, chunk, sizeof(chunk)),
        TAPML_NOT_FOUND);
    cr_assert_eq(
        table->fill(architecture.root, NULL, config, "rope.cos", 0, 2, 6, chunk, sizeof(chunk)),
        TAPML_INVALID);
    cr_assert_eq(
        table->fill(architecture.root, NULL, config, "rope.cos", 0, -1, 6, chunk, sizeof(chunk)),
        TAPML_INVALID);
    architecture_close(&architecture);
}

Test(model_decoder, wrong_checkpoints_are_named)
{
    struct architecture architecture = begin(model_fixture_open("models/llama", NULL));
    struct architecture other = begin_small("");

    // The small config over the fixture's tensors.
    model_fixture_expect(
        architecture.table->build(architecture.root, NULL, model_fixture_config(other.fixture),
                                  model_fixture_weights(architecture.fixture),
                                  model_fixture_graph(architecture.fixture)),
        TAPML_INVALID,
        "tensor 'model.embed_tokens.weight': its shape is [96,64], expected [50,32]");
    architecture_close(&architecture);
    architecture_close(&other);
}
