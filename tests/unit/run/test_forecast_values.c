// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/forecast_values.h"

// The prompts of a short run of the embedded model, judged.
struct judged {
    struct short_setup run;
    struct plan *plan;
    struct forecast_values values;
};

static void judge(struct judged *judged)
{
    short_setup_open(&judged->run);
    SHORT_MUST(plan_create(&judged->plan));
    const struct session_options session = {.model = judged->run.setup.model,
                                            .places = judged->run.setup.places,
                                            .place_count = 1,
                                            .plan = judged->plan,
                                            .capacity = 16,
                                            .chunk = 8};

    SHORT_MUST(forecast_values_find(
        &(struct forecast_run){.session = &session, .prompts = &judged->run.prompts, .decode = 2},
        &judged->values));
}

static const struct forecast_op *op_of(const struct judged *judged, const char *instance)
{
    return &judged->values.ops[graph_find_op(judged->values.graph, instance)];
}

Test(forecast_values, every_op_that_computes_is_judged_in_each_call)
{
    struct judged judged;

    judge(&judged);
    const uint64_t tokens = judged.values.tokens;
    const struct forecast_op *silu = op_of(&judged, "layers.2/mlp/silu");

    cr_assert_eq(tokens, judged.run.prompts.items[0].count + judged.run.prompts.items[1].count + 2);
    cr_assert_eq(silu->calls, 4u); // Two prompts, and a token after each.
    cr_assert_eq(silu->types[FORECAST_F16].sum.count, tokens * 352);
    cr_assert_eq(silu->types[FORECAST_BF16].sum.count, tokens * 352);
    cr_assert_gt(silu->types[FORECAST_F16].worst, 0);
    // A table is a weight that is read, rows that are appended were computed by another op.
    cr_assert_eq(op_of(&judged, "embed")->types[FORECAST_F16].sum.count, tokens * 128);
    cr_assert_eq(op_of(&judged, "layers.0/attn/k_append")->calls, 0u);
    for (uint32_t i = 0; i < judged.values.graph->op_count; i++) {
        for (int type = 0; type < FORECAST_TYPES; type++) {
            const struct forecast_loss *loss = &judged.values.ops[i].types[type];

            cr_assert_not(forecast_values_leaves(loss), "%s", judged.values.graph->ops[i].instance);
            cr_assert_not(forecast_values_loses(loss, (enum forecast_type)type), "%s",
                          judged.values.graph->ops[i].instance);
        }
    }
    forecast_values_release(&judged.values);
    plan_destroy(judged.plan);
    short_setup_close(&judged.run);
}

Test(forecast_values, a_loss_is_more_than_rounding)
{
    struct forecast_loss loss = {.worst = 0x1p-11};

    cr_assert_not(forecast_values_loses(&loss, FORECAST_F16));
    loss.worst = 0x1.01p-11;
    cr_assert(forecast_values_loses(&loss, FORECAST_F16));
    cr_assert_not(forecast_values_loses(&loss, FORECAST_BF16));
    cr_assert_not(forecast_values_leaves(&loss));
    loss.sum.beyond = 1;
    cr_assert(forecast_values_leaves(&loss));
}
