// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "harness/offload_fixture.h"
#include "offload/kindred.h"

#include <string.h>

static struct offload_fixture fixture;
static const struct graph *graph;

static void begin(void)
{
    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    graph = model_graph(fixture.tiny.model);
}

static void end(void)
{
    offload_fixture_close(&fixture);
}

TestSuite(kindred, .init = begin, .fini = end, .timeout = 60);

static uint32_t op_of(const char *instance)
{
    return offload_fixture_op(&fixture, instance);
}

static struct derive_recipe shape(const char *symbol, int64_t value)
{
    struct derive_recipe recipe = {.source = DERIVE_SHAPE, .value = value};

    (void)snprintf(recipe.symbol, sizeof(recipe.symbol), "%s", symbol);
    return recipe;
}

Test(kindred, a_kernel_is_that_of_an_op_and_its_types)
{
    cr_expect(kindred_shares(graph, op_of("layers.0/mlp/silu"), op_of("layers.1/mlp/silu")));
    cr_expect(kindred_shares(graph, op_of("layers.0/attn/q_proj"), op_of("layers.1/attn/k_proj")));
    cr_expect_not(kindred_shares(graph, op_of("layers.0/mlp/silu"), op_of("layers.0/mlp/mul")));
}

Test(kindred, tokens_and_positions_reach_any_extent_and_widths_do_not)
{
    const uint32_t silu = op_of("layers.1/mlp/silu"), append = op_of("layers.1/attn/k_append");
    const struct derive_recipe values = {.source = DERIVE_BOUNDARY};
    struct derive_recipe recipe = shape("rows", 257);

    cr_expect(kindred_reaches(graph, silu, &values));
    cr_expect(kindred_reaches(graph, silu, NULL));
    cr_expect(kindred_reaches(graph, silu, &recipe), "a longer prompt");
    recipe = shape("width", 33);
    cr_expect_not(kindred_reaches(graph, silu, &recipe));
    recipe = shape("T", 257);
    cr_expect(kindred_reaches(graph, append, &recipe));
    recipe = shape("position", 64);
    cr_expect(kindred_reaches(graph, append, &recipe));
    (void)snprintf(recipe.other, sizeof(recipe.other), "width");
    recipe.other_value = 1;
    cr_expect_not(kindred_reaches(graph, append, &recipe), "not both of them");
}

// A failure around one instance: with values or longer prompts it is one of all of its kernel.
static size_t count_blamed(const struct derive_recipe *recipe, enum trial_evidence evidence)
{
    struct verdict failed = {.case_id = 7,
                             .source = derive_source_name(recipe->source),
                             .label = "spread",
                             .recipe = recipe,
                             .instance = "layers.0/mlp/silu",
                             .phase = "prefill",
                             .shape_class = "spread",
                             .output = "y",
                             .kind = VERDICT_FAIL,
                             .margin = 9,
                             .reason = "y[0] is 1, expected 2"};
    struct verdict_list list = {.derived = &failed, .derived_count = 1};
    struct trial trial = {.graph = graph,
                          .session = fixture.session,
                          .judge = fixture.judge,
                          .goal = fixture.goal,
                          .target = "target",
                          .arena = arena_create()};

    MUST(trial_init(&trial));
    MUST(trial_blame(&trial, op_of("layers.0/mlp/silu"), evidence, &failed, ""));
    MUST(kindred_blame(&trial, &list));
    const size_t count = trial_count_blamed(&trial);
    const struct trial_mark *kin = &trial.marks[op_of("layers.1/mlp/silu")];

    if (count > 1) {
        cr_expect_eq(kin->evidence, TRIAL_DERIVED);
        cr_expect_eq(kin->verdict.case_id, 7);
        cr_expect_str_eq(kin->verdict.reason,
                         recipe->source == DERIVE_SHAPE
                             ? "its kernel fails in a derived shape case of layers.0/mlp/silu, "
                               "spread: y[0] is 1, expected 2"
                             : "its kernel fails in a derived boundary case of layers.0/mlp/silu, "
                               "spread: y[0] is 1, expected 2");
    }
    trial_release(&trial);
    arena_destroy(trial.arena);
    return count;
}

Test(kindred, share_the_blame_of_a_derived_case)
{
    const struct derive_recipe values = {.source = DERIVE_BOUNDARY};
    const struct derive_recipe width = shape("width", 33), rows = shape("rows", 257);
    size_t silus = 0;

    for (uint32_t i = 0; i < graph->op_count; i++) {
        silus += strcmp(graph->ops[i].op->name, "tapml.silu") == 0;
    }
    cr_assert_gt(silus, 1);
    cr_expect_eq(count_blamed(&values, TRIAL_DERIVED), silus);
    cr_expect_eq(count_blamed(&rows, TRIAL_DERIVED), silus);
    cr_expect_eq(count_blamed(&width, TRIAL_DERIVED), 1, "no prompt changes a width");
    cr_expect_eq(count_blamed(&values, TRIAL_CASE), 1, "what a kept case shows is of its instance");
}
