// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/offload_fixture.h"
#include "offload/loop.h"
#include "store/blame.h"
#include "store/offloaded.h"

#include <string.h>

// What the store has of the offload when it has ended.
struct ended {
    struct arena *arena;
    struct loop_counts counts;
    struct offloaded_row row;
    struct blame_row *blames;
    size_t blame_count;
};

// The steps that a loop has told of.
struct steps {
    char names[24][32];
    struct loop_progress items[24];
    size_t count;
};

static tapml_status note_step(void *user, const struct loop_progress *progress)
{
    struct steps *steps = user;

    cr_assert_lt(steps->count, 24u);
    (void)snprintf(steps->names[steps->count], 32, "%s", progress->step);
    steps->items[steps->count++] = *progress;
    return TAPML_OK;
}

static struct ended judge_moves(struct offload_fixture *fixture,
                                const struct verdict_list *verdicts,
                                size_t move_prompts,
                                struct steps *steps)
{
    struct ended ended = {.arena = arena_create()};

    MUST(loop_run(&(struct loop_options){.graph = model_graph(fixture->tiny.model),
                                         .store = fixture->store,
                                         .session = fixture->session,
                                         .judge = fixture->judge,
                                         .target = "target",
                                         .goal = fixture->goal,
                                         .verdicts = verdicts,
                                         .watch = fixture->watch,
                                         .move_prompts = move_prompts,
                                         .all_prompts = 1,
                                         .progress = note_step,
                                         .user = steps},
                  &ended.counts));
    MUST(offloaded_find(fixture->store, "target", ended.arena, &ended.row));
    MUST(blame_list(fixture->store, "target", ended.arena, &ended.blames, &ended.blame_count));
    return ended;
}

static struct ended
run_steps(struct offload_fixture *fixture, const struct verdict_list *verdicts, struct steps *steps)
{
    return judge_moves(fixture, verdicts, 1, steps);
}

static struct ended run_mode(struct offload_fixture *fixture,
                             const struct verdict_list *verdicts,
                             enum loop_mode mode,
                             int watched)
{
    const struct verdict_list none = {.count = 0};
    struct ended ended = {.arena = arena_create()};

    MUST(loop_run(&(struct loop_options){.graph = model_graph(fixture->tiny.model),
                                         .store = fixture->store,
                                         .session = fixture->session,
                                         .judge = fixture->judge,
                                         .target = "target",
                                         .goal = fixture->goal,
                                         .verdicts = verdicts != NULL ? verdicts : &none,
                                         .watch = watched ? fixture->watch : NULL,
                                         .mode = mode,
                                         .move_prompts = 1,
                                         .all_prompts = 1},
                  &ended.counts));
    MUST(offloaded_find(fixture->store, "target", ended.arena, &ended.row));
    MUST(blame_list(fixture->store, "target", ended.arena, &ended.blames, &ended.blame_count));
    return ended;
}

// By plans alone.
static struct ended run_loop(struct offload_fixture *fixture, const struct verdict_list *verdicts)
{
    return run_mode(fixture, verdicts, LOOP_MIXED, 0);
}

static const char *blamed(const struct ended *ended, size_t index)
{
    cr_assert_lt(index, ended->blame_count);
    return ended->blames[index].instance;
}

static int is_alone(const struct ended *ended)
{
    return strcmp(ended->blames[0].kind, BLAME_ALONE) == 0;
}

Test(loop, a_right_target_gets_everything)
{
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    struct ended result = run_loop(&fixture, NULL);
    const uint32_t op_count = model_graph(fixture.tiny.model)->op_count;

    cr_assert(result.row.agrees, "%s", result.row.sentence);
    cr_assert_eq(result.counts.wanted, op_count);
    cr_assert_eq(result.counts.moved, op_count);
    cr_assert_eq(result.blame_count, 0u);
    cr_assert_str_eq(result.row.plan, "* -> target\n");
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
}

Test(loop, steps_count_prompts_up_to_the_last)
{
    const struct verdict_list none = {.count = 0};
    struct steps steps = {.count = 0}, again = {.count = 0};
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    struct ended result = run_steps(&fixture, &none, &steps);
    const size_t all = steps.items[0].all;

    for (size_t i = 1; i < steps.count; i++) {
        cr_assert_geq(steps.items[i].done, steps.items[i - 1].done, "%s", steps.names[i]);
        cr_assert_eq(steps.items[i].all, all);
        cr_assert_eq(steps.items[i].skipped, 0u);
    }
    // The kinds, one prompt in the shadow, and the last prompt.
    cr_assert_str_eq(steps.names[steps.count - 2], "shadow");
    cr_assert_eq(steps.items[steps.count - 2].done, all - 2);
    cr_assert_str_eq(steps.names[steps.count - 1], "final");
    cr_assert_eq(steps.items[steps.count - 1].done, all - 1);
    arena_destroy(result.arena);

    // A second start reports what an earlier one did.
    result = run_steps(&fixture, &none, &again);
    cr_assert_eq(again.items[again.count - 1].skipped, again.items[again.count - 1].done);
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
}

// Op executions of the moves where every kind moves, and how many kinds there are.
static uint64_t count_moves(size_t *out_kinds)
{
    const struct verdict_list none = {.count = 0};
    struct steps steps = {.count = 0};
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    const struct ended result = run_steps(&fixture, &none, &steps);
    const uint64_t moves = result.row.cost.moves;

    *out_kinds = steps.items[0].all - 2; // Less the shadow and the last prompt.
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
    return moves;
}

Test(loop, what_is_refused_is_not_judged)
{
    struct verdict items[512] = {{.case_id = 0}};
    struct verdict_list verdicts = {.items = items};
    struct steps steps = {.count = 0};
    struct offload_fixture fixture;
    size_t kinds = 0;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    const struct graph *graph = model_graph(fixture.tiny.model);

    for (uint32_t i = 0; i < graph->op_count; i++) {
        cr_assert_lt(verdicts.count, 512u);
        items[verdicts.count++] = (struct verdict){
            .instance = graph->ops[i].instance, .kind = VERDICT_UNSUPPORTED, .reason = "no"};
    }
    struct ended result = run_steps(&fixture, &verdicts, &steps);

    cr_assert_eq(steps.items[0].all, 1u, "the last prompt alone");
    // A judged run, and the first time one of the source: twice as much as one of the other moves.
    const uint64_t moves = count_moves(&kinds);

    cr_assert_eq(moves, result.row.cost.moves / 2 * (kinds + 2), "no move was judged");
    cr_assert_eq(result.row.cost.watched, 0u);
    cr_assert(result.row.agrees);
    cr_assert_eq(result.blame_count, 0u);
    arena_destroy(result.arena);

    // One case that runs is enough.
    items[3].kind = VERDICT_PASS;
    steps.count = 0;
    result = run_steps(&fixture, &verdicts, &steps);
    cr_assert_eq(steps.items[0].all, 3u, "its kind, the shadow, the last prompt");
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
}

// The fixture has one prompt: more cannot be judged.
Test(loop, what_cases_have_proved_is_judged_by_one_prompt)
{
    enum { MOVE_PROMPTS = 4 };
    struct verdict items[512] = {{.case_id = 0}};
    struct verdict_list verdicts = {.items = items};
    struct steps steps = {.count = 0};
    struct offload_fixture fixture;
    size_t kinds = 0;

    (void)count_moves(&kinds);
    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    const struct graph *graph = model_graph(fixture.tiny.model);

    for (uint32_t i = 0; i < graph->op_count; i++) {
        cr_assert_lt(verdicts.count, 512u);
        items[verdicts.count++] =
            (struct verdict){.instance = graph->ops[i].instance, .kind = VERDICT_PASS};
    }
    struct ended result = judge_moves(&fixture, &verdicts, MOVE_PROMPTS, &steps);

    cr_assert_eq(steps.items[0].all, kinds + 2);
    cr_assert_eq(result.counts.moved, graph->op_count);
    cr_assert(result.row.agrees);
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
}

Test(loop, what_shows_only_end_to_end_is_found_by_search)
{
    struct offload_fixture fixture;

    offload_fixture_open(
        &fixture,
        (struct corruptor_options){.instances = {"layers.1/mlp/down_proj"}, .factor = 1.1}, NULL);
    struct ended result = run_loop(&fixture, NULL);

    cr_assert(result.row.agrees, "with the blamed on the source the model agrees");
    cr_assert_eq(result.blame_count, 1u);
    cr_assert_str_eq(blamed(&result, 0), "layers.1/mlp/down_proj");
    cr_assert_not(is_alone(&result));
    cr_assert_eq(result.counts.moved, result.counts.wanted - 1);
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
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
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, &rule);
    struct ended result = run_mode(&fixture, NULL, LOOP_MIXED, 1);

    cr_assert_gt(fault_triggered(fixture.fault, 0), 0u);
    cr_assert_eq(result.blame_count, 1u);
    cr_assert_str_eq(blamed(&result, 0), "layers.1/mlp/down_proj");
    cr_assert(is_alone(&result));
    cr_assert_lt(result.blames[0].failed, result.blames[0].tried);
    cr_assert_str_eq(result.row.unexplained, "");
    cr_assert(result.row.agrees);
    cr_assert(result.row.proof_miss <= 0.05 || result.row.proof_runs == 10, "%llu runs, chance %g",
              (unsigned long long)result.row.proof_runs, result.row.proof_miss);
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
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
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, &rule);
    struct ended result = run_mode(&fixture, NULL, LOOP_MIXED, 1);

    cr_assert_eq(result.blame_count, 1u);
    cr_assert_str_eq(blamed(&result, 0), "layers.2/attn/v_append");
    cr_assert_str_eq(result.blames[0].evidence, BLAME_CALL);
    cr_assert_gt(result.blames[0].case_id, 0);
    cr_assert_gt(result.row.cost.looks, 0u);
    cr_assert_eq(result.row.cost.search, 0u, "no plan had to be searched");
    cr_assert(result.row.agrees);
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
}

static void expect_one(enum loop_mode mode)
{
    struct offload_fixture fixture;

    offload_fixture_open(
        &fixture, (struct corruptor_options){.instances = {"layers.3/mlp/mul"}, .factor = 1.00001},
        NULL);
    struct ended result = run_mode(&fixture, NULL, mode, 1);

    cr_assert_eq(result.blame_count, 1u);
    cr_assert_str_eq(blamed(&result, 0), "layers.3/mlp/mul");
    cr_assert(is_alone(&result));
    cr_assert_gt(result.row.cost.watched, 0u);
    cr_assert(result.row.agrees);
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
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
    struct offload_fixture fixture;

    offload_fixture_open(
        &fixture,
        (struct corruptor_options){.instances = {"layers.0/mlp/silu", "layers.2/mlp/silu"},
                                   .factor = 2,
                                   .only_together = 1},
        NULL);
    struct ended result = run_loop(&fixture, NULL);

    cr_assert(result.row.agrees, "%s", result.row.sentence);
    cr_assert_geq(result.blame_count, 1u);
    for (size_t i = 0; i < result.blame_count; i++) {
        cr_assert(strcmp(blamed(&result, i), "layers.0/mlp/silu") == 0 ||
                  strcmp(blamed(&result, i), "layers.2/mlp/silu") == 0);
    }
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
}

Test(loop, what_fails_alone_never_moves)
{
    struct verdict failed = {.source = "carved",
                             .label = "",
                             .instance = "layers.3/attn/q_proj",
                             .op_name = "tapml.linear",
                             .phase = "decode",
                             .shape_class = "x=[1,128]",
                             .output = "y",
                             .kind = VERDICT_FAIL,
                             .margin = 30,
                             .reason = "y[0, 0] is 1, expected 2"};
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    struct ended result = run_loop(&fixture, &(struct verdict_list){.items = &failed, .count = 1});

    cr_assert(result.row.agrees);
    cr_assert_eq(result.blame_count, 1u);
    cr_assert_str_eq(blamed(&result, 0), "layers.3/attn/q_proj");
    cr_assert(is_alone(&result));
    cr_assert_str_eq(result.blames[0].reason, failed.reason);
    cr_assert_eq(result.blames[0].margin, 30.0);
    arena_destroy(result.arena);
    offload_fixture_close(&fixture);
}

Test(loop, a_second_start_takes_over_what_was_found)
{
    struct offload_fixture fixture;

    offload_fixture_open(
        &fixture,
        (struct corruptor_options){.instances = {"layers.1/mlp/down_proj"}, .factor = 1.1}, NULL);
    struct ended first = run_loop(&fixture, NULL);
    struct ended second = run_loop(&fixture, NULL);

    cr_assert_eq(second.blame_count, 1u);
    cr_assert_str_eq(blamed(&second, 0), "layers.1/mlp/down_proj");
    cr_assert(second.row.agrees);
    cr_assert_eq(second.row.cost.moves, 0u, "a finished step was judged again");
    arena_destroy(first.arena);
    arena_destroy(second.arena);
    offload_fixture_close(&fixture);
}
