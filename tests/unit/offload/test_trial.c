// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "harness/offload_fixture.h"

#include <string.h>

static struct trial open_trial(struct offload_fixture *fixture)
{
    struct trial trial = {.graph = model_graph(fixture->tiny.model),
                          .session = fixture->session,
                          .judge = fixture->judge,
                          .goal = fixture->goal,
                          .target = "target",
                          .prompts = 1,
                          .arena = arena_create()};
    struct order_kind *kinds = NULL;

    MUST(trial_init(&trial));
    MUST(order_kinds(trial.graph, fixture->store, &kinds, &trial.kind_count));
    trial.kinds = kinds;
    return trial;
}

static void close_trial(struct trial *trial)
{
    alloc_free((void *)(uintptr_t)trial->kinds);
    trial_release(trial);
    arena_destroy(trial->arena);
}

Test(trial, the_plan_follows_the_marks)
{
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    struct trial trial = open_trial(&fixture);
    const uint32_t op = offload_fixture_op(&fixture, "layers.1/mlp/silu");

    MUST(trial_write_plan(&trial));
    cr_assert_not_null(strstr(trial.plan_text.data, "op=tapml.linear -> source\n"));
    trial.moved_kinds = trial.kind_count;
    trial.marks[op].is_held = 1;
    MUST(trial_write_plan(&trial));
    cr_assert_str_eq(trial.plan_text.data, "* -> target\ninstance=layers.1/mlp/silu -> source\n");
    trial.marks[op].is_held = 0;
    MUST(trial_write_plan(&trial));
    cr_assert_str_eq(trial.plan_text.data, "* -> target\n");
    close_trial(&trial);
    offload_fixture_close(&fixture);
}

Test(trial, better_evidence_takes_the_place_of_worse)
{
    struct verdict verdict = {.instance = "x",
                              .phase = "decode",
                              .shape_class = "x=[1]",
                              .output = "y",
                              .kind = VERDICT_FAIL,
                              .margin = 100,
                              .reason = "first"};
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    struct trial trial = open_trial(&fixture);
    const uint32_t op = offload_fixture_op(&fixture, "layers.1/mlp/silu");

    MUST(trial_blame(&trial, op, TRIAL_TOGETHER, &verdict, ""));
    verdict.margin = 2;
    verdict.reason = "second";
    MUST(trial_blame(&trial, op, TRIAL_CALL, &verdict, "then: "));
    cr_assert_str_eq(trial.marks[op].verdict.reason, "then: second");
    verdict.margin = 200;
    MUST(trial_blame(&trial, op, TRIAL_TOGETHER, &verdict, ""));
    cr_assert_eq(trial.marks[op].verdict.margin, 2.0);
    cr_assert_str_eq(trial.marks[op].verdict.instance, "layers.1/mlp/silu");
    cr_assert_eq(trial_count_blamed(&trial), 1u);
    close_trial(&trial);
    offload_fixture_close(&fixture);
}

Test(trial, a_prompt_is_judged_up_to_a_step)
{
    struct offload_fixture fixture;
    struct judge_result all, part;

    offload_fixture_open(
        &fixture,
        (struct corruptor_options){.instances = {"layers.1/mlp/down_proj"}, .factor = 1.1}, NULL);
    struct trial trial = open_trial(&fixture);

    trial.moved_kinds = trial.kind_count;
    MUST(trial_judge(&trial, &all));
    cr_assert_not(all.agrees);
    cr_assert_eq(all.prompt, 0u);
    cr_assert_eq(all.step, 0);
    MUST(trial_judge_prompt(&trial, 0, 1, &part));
    cr_assert_not(part.agrees);
    cr_assert_lt(part.executions, all.executions);
    cr_assert_eq(part.executions, trial.graph->op_count);
    trial.marks[offload_fixture_op(&fixture, "layers.1/mlp/down_proj")].is_held = 1;
    MUST(trial_judge(&trial, &all));
    cr_assert(all.agrees, "%s", all.sentence);
    close_trial(&trial);
    offload_fixture_close(&fixture);
}

Test(trial, a_goal_with_a_long_rule_is_followed)
{
    struct offload_fixture fixture;
    struct plan *plan = NULL;
    char rule[1024] = "instance=";

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    struct trial trial = open_trial(&fixture);
    const size_t length = strlen(rule);

    memset(rule + length, '*', 700);
    memcpy(rule + length + 700, " -> source", sizeof(" -> source"));
    MUST(plan_add(fixture.goal, rule, "here"));
    MUST(trial_plan(&trial, &plan));
    cr_assert_str_eq(plan_place(plan, "tapml.silu", "layers.1/mlp/silu", PLAN_DECODE), "source");
    plan_destroy(plan);
    close_trial(&trial);
    offload_fixture_close(&fixture);
}
