// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/bench.h"
#include "offload/loop.h"

#include <string.h>

static struct loop_result
run_mode(struct bench *bench, const struct verdict_list *verdicts, enum loop_mode mode, int watched)
{
    const struct verdict_list none = {.count = 0};
    struct loop_result result;

    MUST(loop_run(&(struct loop_options){.graph = model_graph(bench->tiny.model),
                                         .store = bench->store,
                                         .session = bench->session,
                                         .judge = bench->judge,
                                         .target = "target",
                                         .goal = bench->goal,
                                         .verdicts = verdicts != NULL ? verdicts : &none,
                                         .watch = watched ? bench->watch : NULL,
                                         .mode = mode,
                                         .move_prompts = 1,
                                         .all_prompts = 1},
                  &result));
    return result;
}

// By plans alone.
static struct loop_result run_loop(struct bench *bench, const struct verdict_list *verdicts)
{
    return run_mode(bench, verdicts, LOOP_MIXED, 0);
}

static const char *
accused(const struct bench *bench, const struct loop_result *result, size_t index)
{
    cr_assert_lt(index, result->accused_count);
    return bench_instance(bench, result->accused[index].op);
}

Test(loop, a_right_target_gets_everything)
{
    struct bench bench;

    bench_open(&bench, (struct spoil_options){.factor = 1}, NULL);
    struct loop_result result = run_loop(&bench, NULL);
    const uint32_t op_count = model_graph(bench.tiny.model)->op_count;
    struct text text;

    cr_assert(result.judged.agrees, "%s", result.judged.sentence);
    cr_assert_eq(result.wanted_count, op_count);
    cr_assert_eq(result.moved_count, op_count);
    cr_assert_eq(result.accused_count, 0u);
    text_init(&text);
    plan_print(result.plan, &text);
    cr_assert_str_eq(text.data, "* -> target\n");
    text_release(&text);
    loop_result_release(&result);
    bench_close(&bench);
}

Test(loop, what_shows_only_end_to_end_is_found_by_search)
{
    struct bench bench;

    bench_open(&bench,
               (struct spoil_options){.instances = {"layers.1/mlp/down_proj"}, .factor = 1.1},
               NULL);
    struct loop_result result = run_loop(&bench, NULL);

    cr_assert(result.judged.agrees, "with the accused on the source the model agrees");
    cr_assert_eq(result.accused_count, 1u);
    cr_assert_str_eq(accused(&bench, &result, 0), "layers.1/mlp/down_proj");
    cr_assert_not(result.accused[0].is_alone);
    cr_assert_eq(result.moved_count, result.wanted_count - 1);
    loop_result_release(&result);
    bench_close(&bench);
}

Test(loop, what_fails_sometimes_is_found_by_repeating)
{
    struct fault_rule rule = {.name = "fault",
                              .op = "*",
                              .instance = "layers.1/mlp/down_proj",
                              .words = "zero-row",
                              .from_call = 1,
                              .probability = 0.1,
                              .seed = 5};
    struct bench bench;

    bench_open(&bench, (struct spoil_options){.factor = 1}, &rule);
    struct loop_result result = run_mode(&bench, NULL, LOOP_MIXED, 1);

    cr_assert_gt(fault_struck(bench.fault, 0), 0u);
    cr_assert_eq(result.accused_count, 1u);
    cr_assert_str_eq(accused(&bench, &result, 0), "layers.1/mlp/down_proj");
    cr_assert(result.accused[0].is_alone);
    cr_assert_lt(result.accused[0].failed, result.accused[0].tried);
    cr_assert_null(result.unexplained);
    cr_assert(result.judged.agrees);
    cr_assert(result.proof_miss <= 0.05 || result.proof_runs == 10, "%u runs, chance %g",
              result.proof_runs, result.proof_miss);
    loop_result_release(&result);
    bench_close(&bench);
}

Test(loop, what_fails_late_is_found_by_watching)
{
    struct fault_rule rule = {.name = "fault",
                              .op = "*",
                              .instance = "layers.2/attn/v_append",
                              .words = "shift-rows",
                              .from_call = 8,
                              .probability = 1,
                              .seed = 1};
    struct bench bench;

    bench_open(&bench, (struct spoil_options){.factor = 1}, &rule);
    struct loop_result result = run_mode(&bench, NULL, LOOP_MIXED, 1);

    cr_assert_eq(result.accused_count, 1u);
    cr_assert_str_eq(accused(&bench, &result, 0), "layers.2/attn/v_append");
    cr_assert_eq(result.accused[0].evidence, TRIAL_CALL);
    cr_assert_gt(result.accused[0].verdict->case_id, 0);
    cr_assert_gt(result.cost.search.looks, 0u);
    cr_assert_eq(result.cost.search.search, 0u, "no plan had to be searched");
    cr_assert(result.judged.agrees);
    loop_result_release(&result);
    bench_close(&bench);
}

static void expect_one(enum loop_mode mode)
{
    struct bench bench;

    bench_open(&bench, (struct spoil_options){.instances = {"layers.3/mlp/mul"}, .factor = 1.00001},
               NULL);
    struct loop_result result = run_mode(&bench, NULL, mode, 1);

    cr_assert_eq(result.accused_count, 1u);
    cr_assert_str_eq(accused(&bench, &result, 0), "layers.3/mlp/mul");
    cr_assert(result.accused[0].is_alone);
    cr_assert_gt(result.cost.watched, 0u);
    cr_assert(result.judged.agrees);
    loop_result_release(&result);
    bench_close(&bench);
}

Test(loop, the_shadow_sees_what_the_end_does_not)
{
    expect_one(LOOP_SHADOW);
}

Test(loop, a_cumulative_run_sees_it_too)
{
    expect_one(LOOP_CUMULATIVE);
}

Test(loop, what_fails_together_only_is_broken_up)
{
    struct bench bench;

    bench_open(&bench,
               (struct spoil_options){.instances = {"layers.0/mlp/silu", "layers.2/mlp/silu"},
                                      .factor = 2,
                                      .only_together = 1},
               NULL);
    struct loop_result result = run_loop(&bench, NULL);

    cr_assert(result.judged.agrees, "%s", result.judged.sentence);
    cr_assert_geq(result.accused_count, 1u);
    for (size_t i = 0; i < result.accused_count; i++) {
        cr_assert(strcmp(accused(&bench, &result, i), "layers.0/mlp/silu") == 0 ||
                  strcmp(accused(&bench, &result, i), "layers.2/mlp/silu") == 0);
    }
    loop_result_release(&result);
    bench_close(&bench);
}

Test(loop, what_fails_alone_never_moves)
{
    struct verdict failed = {.instance = "layers.3/attn/q_proj",
                             .op_name = "tapml.linear",
                             .phase = "decode",
                             .shape_class = "x=[1,128]",
                             .output = "y",
                             .kind = VERDICT_FAIL,
                             .margin = 30,
                             .reason = "y[0, 0] is 1, expected 2"};
    struct bench bench;

    bench_open(&bench, (struct spoil_options){.factor = 1}, NULL);
    struct loop_result result =
        run_loop(&bench, &(struct verdict_list){.items = &failed, .count = 1});

    cr_assert(result.judged.agrees);
    cr_assert_eq(result.accused_count, 1u);
    cr_assert_str_eq(accused(&bench, &result, 0), "layers.3/attn/q_proj");
    cr_assert(result.accused[0].is_alone);
    cr_assert_str_eq(result.accused[0].reason, failed.reason);
    cr_assert_eq(result.accused[0].margin, 30.0);
    loop_result_release(&result);
    bench_close(&bench);
}

Test(loop, a_second_start_takes_over_what_was_found)
{
    struct bench bench;

    bench_open(&bench,
               (struct spoil_options){.instances = {"layers.1/mlp/down_proj"}, .factor = 1.1},
               NULL);
    struct loop_result first = run_loop(&bench, NULL);
    struct loop_result second = run_loop(&bench, NULL);

    cr_assert_eq(second.accused_count, 1u);
    cr_assert_str_eq(accused(&bench, &second, 0), "layers.1/mlp/down_proj");
    cr_assert(second.judged.agrees);
    cr_assert_lt(second.time_ns, first.time_ns, "nothing was judged again");
    loop_result_release(&first);
    loop_result_release(&second);
    bench_close(&bench);
}
