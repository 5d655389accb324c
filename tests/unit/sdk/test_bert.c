// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The architecture of plugins/models/bert, which is linked into the test.
#include "architecture.h"
#include "base/text.h"
#include "graph/print.h"
#include "model_types.h"

#include <tapml/model.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// The least keys, with more after a comma.
static const char small[] = "{\"hidden_size\": 32, \"num_hidden_layers\": 2, "
                            "\"num_attention_heads\": 4, \"intermediate_size\": 48, "
                            "\"max_position_embeddings\": 16, \"vocab_size\": 50%s}";

static struct architecture begin(struct model_fixture *fixture)
{
    return architecture_begin(&describe_bert, fixture);
}

static struct architecture begin_small(const char *more)
{
    char text[1024];

    snprintf(text, sizeof(text), small, more);
    return begin(model_fixture_open(NULL, text));
}

static void expect(struct architecture *architecture, const char *const *pieces, size_t count)
{
    struct text text;

    text_init(&text);
    print_graph(architecture_graph(architecture), &text);
    for (size_t i = 0; i < count; i++) {
        cr_assert_not_null(strstr(text.data, pieces[i]), "no '%s' in %s", pieces[i], text.data);
    }
    text_release(&text);
    architecture_close(architecture);
}

Test(bert, the_graph_with_and_without_weights)
{
    static const char *const pieces[] = {
        "input token_type_ids i32 [T] from user or 0",
        "input attention_mask i32 [T] from user or 1",
        "weight=embeddings.LayerNorm.weight f32 [64], bias=embeddings.LayerNorm.bias f32 [64]",
        "key_mask=attention_mask i32 [T], position=0, scale=0.25, causal=0",
        "output pooler_output = pooler/tanh f32 [64]",
        "output mean_normalized = mean/scale f32 [64]",
    };
    static const char *const expected[] = {
        "w=encoder.layer.1.attention.self.key.weight f32 [32, 32]", "eps=9.9999999999999998e-13",
        "table=embeddings.token_type_embeddings.weight f32 [2, 32]", "output last_hidden_state = "};
    struct architecture with = begin(model_fixture_open("models/bert", NULL)),
                        without = begin_small("");

    expect(&with, pieces, sizeof(pieces) / sizeof(*pieces));
    expect(&without, expected, sizeof(expected) / sizeof(*expected));
}

Test(bert, what_is_refused)
{
    static const struct {
        const char *more, *piece;
    } cases[] = {
        {", \"is_decoder\": true", "is_decoder"},
        {", \"add_cross_attention\": true", "add_cross_attention"},
        {", \"position_embedding_type\": \"relative_key\"", "position_embedding_type"},
        {", \"hidden_act\": \"mish\"",
         "'hidden_act' is 'mish', expected 'silu', 'swish', 'gelu', "},
        {", \"layer_norm_eps\": -1", "'layer_norm_eps' is -1"},
        {", \"type_vocab_size\": 0", "'type_vocab_size' is 0"},
        {", \"use_bidirectional_attention\": true", "use_bidirectional_attention"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct architecture architecture = begin_small(cases[i].more);
        tapml_status status = architecture_build(&architecture);

        status = status != TAPML_OK ? status : model_fixture_check_config(architecture.fixture);
        cr_assert_neq(status, TAPML_OK, "%s", cases[i].more);
        model_fixture_expect(status, status, cases[i].piece);
        architecture_close(&architecture);
    }
}

Test(bert, a_text_is_one_call)
{
    struct architecture architecture = begin_small("");
    int32_t positions[17] = {0};
    const struct {
        const char *name;
        int64_t first, count, length;
        const char *piece;
    } wrong[] = {
        {"positions", 0, 3, 4, "of 4 tokens this one has 3, from number 0 on"},
        {"positions", 3, 1, 4, "of 4 tokens this one has 1, from number 3 on"},
        {"positions", 0, 17, 17, "position 16 is beyond the 16 that the model knows"},
        {"rope.cos", 0, 4, 4, "no input 'rope.cos' is filled here"},
    };

    model_fixture_ok(architecture_build(&architecture));
    model_fixture_ok(architecture.table->fill(
        architecture.root, NULL, model_fixture_config(architecture.fixture), "positions", 0, 4, 4,
        positions, 4 * sizeof(*positions)));
    cr_assert_eq(positions[3], 3);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const tapml_status status = architecture.table->fill(
            architecture.root, NULL, model_fixture_config(architecture.fixture), wrong[i].name,
            wrong[i].first, wrong[i].count, wrong[i].length, positions,
            (uint64_t)wrong[i].count * sizeof(*positions));

        cr_assert_neq(status, TAPML_OK, "%s", wrong[i].piece);
        model_fixture_expect(status, status, wrong[i].piece);
    }
    architecture_close(&architecture);
}
