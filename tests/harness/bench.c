// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/bench.h"

#include "exec/run.h"
#include "store/store.h"
#include "store/store_open.h"

#include <string.h>

static const int32_t prompt_ids[5] = {0, 352, 528, 13, 419};

static void open_target(struct bench *bench, struct spoil_options spoil, struct fault_rule *rule)
{
    bench->target_backend = tiny_backend(&bench->tiny, "reference:f32");
    spoil.inner = bench->target_backend;
    bench->spoilt = spoil_create(&spoil);
    bench->target = bench->spoilt;
    bench->fault = NULL;
    if (rule != NULL) {
        MUST(fault_rule_parse(rule));
        MUST(fault_create(bench->spoilt, rule, 1, &bench->fault));
        bench->target = fault_backend(bench->fault);
    }
}

static void open_judges(struct bench *bench)
{
    MUST(judge_create(&(struct judge_options){.source = bench->source,
                                              .graph = model_graph(bench->tiny.model),
                                              .prompts = &bench->prompt,
                                              .prompt_count = 1,
                                              .kept_count = 1},
                      &bench->judge));
    MUST(watch_create(&(struct watch_options){.registry = bench->tiny.registry,
                                              .store = bench->store,
                                              .model = bench->tiny.model,
                                              .capacity = 64,
                                              .chunk = 32,
                                              .source = bench->source_backend,
                                              .target = bench->target,
                                              .running = bench->target,
                                              .target_name = "target",
                                              .prompts = &bench->prompt},
                      &bench->watch));
}

void bench_open(struct bench *bench, struct spoil_options spoil, struct fault_rule *rule)
{
    tiny_open(&bench->tiny);
    scratch_make(&bench->scratch);
    MUST(store_open(scratch_path(&bench->scratch, "run.tapmlrun"), 1, &bench->store));
    bench->source_backend = tiny_backend(&bench->tiny, "reference:f32");
    open_target(bench, spoil, rule);
    bench->source = tiny_session(&bench->tiny, bench->source_backend, NULL, "* -> source");
    bench->session =
        tiny_session(&bench->tiny, bench->source_backend, bench->target, "* -> source");
    bench->prompt =
        (struct judge_prompt){.ids = prompt_ids, .count = 5, .greedy = bench->greedy, .text = ""};
    MUST(run_greedy(bench->source,
                    &(struct run_options){.ids = prompt_ids, .count = 5, .decode = BENCH_DECODE},
                    bench->greedy, &bench->prompt.greedy_count));
    open_judges(bench);
    MUST(plan_create(&bench->goal));
    MUST(plan_add(bench->goal, "* -> target", "test"));
}

void bench_close(struct bench *bench)
{
    plan_destroy(bench->goal);
    watch_destroy(bench->watch);
    judge_destroy(bench->judge);
    session_destroy(bench->session);
    session_destroy(bench->source);
    fault_destroy(bench->fault);
    spoil_destroy(bench->spoilt);
    backend_release(bench->target_backend);
    backend_release(bench->source_backend);
    store_close(bench->store);
    scratch_remove(&bench->scratch);
    tiny_close(&bench->tiny);
}

const char *bench_instance(const struct bench *bench, uint32_t op)
{
    return model_graph(bench->tiny.model)->ops[op].instance;
}

uint32_t bench_op(const struct bench *bench, const char *instance)
{
    const struct graph *graph = model_graph(bench->tiny.model);
    uint32_t op = 0;

    while (op < graph->op_count && strcmp(graph->ops[op].instance, instance) != 0) {
        op++;
    }
    cr_assert_lt(op, graph->op_count, "no '%s'", instance);
    return op;
}
