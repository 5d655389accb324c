// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "harness/offload_fixture.h"
#include "offload/localise.h"

#include <string.h>

struct finding {
    struct offload_fixture fixture;
    struct trial trial;
    struct localise localise;
    struct judge_result result;
};

// Moves all, and localises what departs after the op `moved` (NULL: all of them).
static void find(struct finding *finding,
                 const char *moved,
                 struct corruptor_options corruptor,
                 struct fault_rule *rule,
                 int watched)
{
    struct offload_fixture *fixture = &finding->fixture;
    struct order_kind *kinds = NULL;

    offload_fixture_open(fixture, corruptor, rule);
    finding->trial = (struct trial){.graph = model_graph(fixture->tiny.model),
                                    .session = fixture->session,
                                    .judge = fixture->judge,
                                    .goal = fixture->goal,
                                    .target = "target",
                                    .prompts = 1,
                                    .arena = arena_create()};
    MUST(trial_init(&finding->trial));
    MUST(order_kinds(finding->trial.graph, fixture->store, &kinds, &finding->trial.kind_count));
    finding->trial.kinds = kinds;
    finding->trial.moved_kinds = finding->trial.kind_count;
    finding->localise = (struct localise){.trial = &finding->trial,
                                          .watch = watched ? fixture->watch : NULL,
                                          .store = fixture->store};
    MUST(trial_judge(&finding->trial, &finding->result));
    const size_t kind = moved != NULL
                            ? trial_kind_of(&finding->trial, offload_fixture_op(fixture, moved))
                            : finding->trial.kind_count;

    MUST(localise_run(&finding->localise, "final", kind, &finding->result));
}

static void release(struct finding *finding)
{
    alloc_free((void *)(uintptr_t)finding->trial.kinds);
    trial_release(&finding->trial);
    arena_destroy(finding->trial.arena);
    offload_fixture_close(&finding->fixture);
}

static const struct trial_mark *mark(const struct finding *finding, const char *instance)
{
    return &finding->trial.marks[offload_fixture_op(&finding->fixture, instance)];
}

Test(localise, a_watched_run_and_a_proof_are_enough)
{
    struct finding finding;

    find(&finding, NULL,
         (struct corruptor_options){.instances = {"layers.1/attn/rope*", "layers.1/mlp/mul"},
                                    .factor = 1.1},
         NULL, 1);
    const uint64_t run = (uint64_t)finding.trial.graph->op_count * OFFLOAD_FIXTURE_DECODE;

    cr_assert(finding.result.agrees);
    cr_assert_eq(trial_count_blamed(&finding.trial), 1u);
    cr_assert_eq(mark(&finding, "layers.1/mlp/mul")->evidence, TRIAL_CALL);
    cr_assert_eq(finding.localise.cost.search, 0u);
    cr_assert_leq(finding.localise.cost.looks + finding.localise.cost.proof, 3 * run);
    release(&finding);
}

Test(localise, what_only_fails_together_is_searched_for_and_confirmed)
{
    struct finding finding;

    find(&finding, "layers.0/mlp/silu",
         (struct corruptor_options){.instances = {"layers.0/mlp/silu", "layers.2/mlp/silu"},
                                    .factor = 2,
                                    .only_together = 1},
         NULL, 0);
    const struct trial_mark *first = mark(&finding, "layers.0/mlp/silu");
    const struct trial_mark *second = mark(&finding, "layers.2/mlp/silu");

    cr_assert(finding.result.agrees);
    cr_assert_eq(trial_count_blamed(&finding.trial), 2u);
    cr_assert(first->is_blamed && first->evidence == TRIAL_TOGETHER && !first->is_alone);
    cr_assert(second->is_blamed && second->evidence == TRIAL_TOGETHER && !second->is_alone);
    cr_assert_gt(finding.localise.cost.search, 0u);
    release(&finding);
}

// Without anybody who watches, a rare fault leaves nothing to accuse anybody with.
Test(localise, a_divergence_that_does_not_come_again_blames_no_operator)
{
    struct fault_rule rule = {.name = "fault",
                              .op = "*",
                              .instance = "layers.1/mlp/down_proj",
                              .words = "zero-row",
                              .from_call = 1,
                              .probability = 0.15,
                              .seed = 1};
    struct finding finding;

    for (rule.seed = 1; rule.seed < 20; rule.seed++) {
        find(&finding, NULL, (struct corruptor_options){.factor = 1}, &rule, 0);
        const uint32_t culprit = offload_fixture_op(&finding.fixture, "layers.1/mlp/down_proj");

        for (uint32_t i = 0; i < finding.trial.graph->op_count; i++) {
            cr_assert(i == culprit || !finding.trial.marks[i].is_blamed, "seed %u: '%s'",
                      (unsigned)rule.seed, offload_fixture_instance(&finding.fixture, i));
        }
        release(&finding);
    }
}

Test(localise, a_plan_that_agrees_costs_nothing)
{
    struct finding finding;

    find(&finding, NULL, (struct corruptor_options){.factor = 1}, NULL, 1);
    cr_assert(finding.result.agrees);
    cr_assert_eq(trial_count_blamed(&finding.trial), 0u);
    cr_assert_eq(finding.localise.cost.looks + finding.localise.cost.proof, 0u);
    cr_assert_null(finding.localise.unexplained);
    release(&finding);
}
