// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "exec/run.h"
#include "harness/scratch.h"
#include "harness/spoil.h"
#include "harness/tiny.h"
#include "offload/loop.h"

enum { DECODE = 3 };

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static const int32_t prompt_ids[5] = {0, 352, 528, 13, 419};

struct bench {
    struct tiny tiny;
    struct scratch scratch;
    struct backend *source_backend, *target_backend, *spoilt;
    struct session *source, *session;
    struct store *store;
    struct judge *judge;
    struct plan *goal;
    int32_t greedy[DECODE];
    struct judge_prompt prompt;
};

static void bench_open(struct bench *bench, struct spoil_options spoil)
{
    tiny_open(&bench->tiny);
    scratch_make(&bench->scratch);
    MUST(store_open(scratch_path(&bench->scratch, "run.tapmlrun"), 1, &bench->store));
    bench->source_backend = tiny_backend(&bench->tiny, "reference:f32");
    bench->target_backend = tiny_backend(&bench->tiny, "reference:f32");
    spoil.inner = bench->target_backend;
    bench->spoilt = spoil_create(&spoil);
    bench->source = tiny_session(&bench->tiny, bench->source_backend, NULL, "* -> source");
    bench->session =
        tiny_session(&bench->tiny, bench->source_backend, bench->spoilt, "* -> source");
    bench->prompt =
        (struct judge_prompt){.ids = prompt_ids, .count = 5, .greedy = bench->greedy, .text = ""};
    MUST(run_greedy(bench->source,
                    &(struct run_options){.ids = prompt_ids, .count = 5, .decode = DECODE},
                    bench->greedy, &bench->prompt.greedy_count));
    MUST(judge_create(&(struct judge_options){.source = bench->source,
                                              .graph = model_graph(bench->tiny.model),
                                              .prompts = &bench->prompt,
                                              .prompt_count = 1,
                                              .kept_count = 1},
                      &bench->judge));
    MUST(plan_create(&bench->goal));
    MUST(plan_add(bench->goal, "* -> target", "test"));
}

static void bench_close(struct bench *bench)
{
    plan_destroy(bench->goal);
    judge_destroy(bench->judge);
    session_destroy(bench->session);
    session_destroy(bench->source);
    spoil_destroy(bench->spoilt);
    backend_release(bench->target_backend);
    backend_release(bench->source_backend);
    store_close(bench->store);
    scratch_remove(&bench->scratch);
    tiny_close(&bench->tiny);
}

// Replays that find nothing until the third, which finds the culprit.
struct repeats {
    unsigned count;
};

static tapml_status replay_sometimes(void *user, struct verdict_list *out_list)
{
    struct repeats *repeats = user;
    struct arena *arena = arena_create();
    struct verdict *item = arena_new(arena, sizeof(*item));

    *item = (struct verdict){.instance = "layers.1/mlp/down_proj",
                             .op_name = "tapml.linear",
                             .kind = ++repeats->count == 3 ? VERDICT_FAIL : VERDICT_PASS,
                             .margin = 12,
                             .reason = "y[0, 0] is 1, expected 2"};
    *out_list = (struct verdict_list){.arena = arena, .items = item, .count = 1};
    return TAPML_OK;
}

static struct loop_result run_loop(struct bench *bench, const struct verdict_list *verdicts)
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
                                         .move_prompts = 1,
                                         .all_prompts = 1},
                  &result));
    return result;
}

static const char *
accused(const struct bench *bench, const struct loop_result *result, size_t index)
{
    cr_assert_lt(index, result->accused_count);
    return model_graph(bench->tiny.model)->ops[result->accused[index].op].instance;
}

Test(loop, a_right_target_gets_everything)
{
    struct bench bench;

    bench_open(&bench, (struct spoil_options){.factor = 1});
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
               (struct spoil_options){.instances = {"layers.1/mlp/down_proj"}, .factor = 1.1});
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
    const struct verdict_list none = {.count = 0};
    struct repeats repeats = {.count = 0};
    struct loop_result result;
    struct bench bench;

    bench_open(&bench,
               (struct spoil_options){.instances = {"layers.1/mlp/down_proj"}, .factor = 1.1});
    MUST(loop_run(&(struct loop_options){.graph = model_graph(bench.tiny.model),
                                         .store = bench.store,
                                         .session = bench.session,
                                         .judge = bench.judge,
                                         .target = "target",
                                         .goal = bench.goal,
                                         .verdicts = &none,
                                         .move_prompts = 1,
                                         .all_prompts = 1,
                                         .replay = replay_sometimes,
                                         .repeats = 5,
                                         .user = &repeats},
                  &result));
    cr_assert_eq(repeats.count, 5u, "once, however often the model departs");
    cr_assert_eq(result.repeats, 5u);
    cr_assert_eq(result.accused_count, 1u);
    cr_assert(result.accused[0].is_alone);
    cr_assert_eq(strncmp(result.accused[0].reason, "in repeat 3 of 5: y[0, 0]", 25), 0);
    cr_assert(result.judged.agrees);
    loop_result_release(&result);
    bench_close(&bench);
}

Test(loop, what_fails_together_only_is_broken_up)
{
    struct bench bench;

    bench_open(&bench,
               (struct spoil_options){.instances = {"layers.0/mlp/silu", "layers.2/mlp/silu"},
                                      .factor = 2,
                                      .only_together = 1});
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
                             .kind = VERDICT_FAIL,
                             .margin = 30,
                             .reason = "y[0, 0] is 1, expected 2"};
    struct bench bench;

    bench_open(&bench, (struct spoil_options){.factor = 1});
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
               (struct spoil_options){.instances = {"layers.1/mlp/down_proj"}, .factor = 1.1});
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
