// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/offload_fixture.h"

#include "exec/run.h"
#include "store/store.h"
#include "store/store_open.h"

#include <string.h>

static const int32_t prompt_ids[5] = {0, 352, 528, 13, 419};

static void open_target(struct offload_fixture *fixture,
                        struct corruptor_options corruptor,
                        struct fault_rule *rule)
{
    fixture->target_backend = tiny_backend(&fixture->tiny, "reference:f32");
    corruptor.inner = fixture->target_backend;
    fixture->corrupted = corruptor_create(&corruptor);
    fixture->target = fixture->corrupted;
    fixture->fault = NULL;
    if (rule != NULL) {
        MUST(fault_rule_parse(rule));
        MUST(fault_create(fixture->corrupted, rule, 1, &fixture->fault));
        fixture->target = fault_backend(fixture->fault);
    }
}

static void open_judges(struct offload_fixture *fixture)
{
    static const char *const names[] = {"source", "target"};
    struct backend *const backends[] = {fixture->source_backend, fixture->target};

    (void)places_over(&fixture->places, backends, names, 2);
    MUST(judge_create(&(struct judge_options){.source = fixture->source,
                                              .graph = model_graph(fixture->tiny.model),
                                              .prompts = &fixture->prompt,
                                              .prompt_count = 1,
                                              .kept_count = 1},
                      &fixture->judge));
    MUST(watch_create(&(struct watch_options){.registry = fixture->tiny.registry,
                                              .store = fixture->store,
                                              .model = fixture->tiny.model,
                                              .capacity = 64,
                                              .chunk = 32,
                                              .source = fixture->places.list[0],
                                              .target = fixture->places.list[1],
                                              .running = fixture->places.list[1],
                                              .prompts = &fixture->prompt},
                      &fixture->watch));
}

void offload_fixture_open(struct offload_fixture *fixture,
                          struct corruptor_options corruptor,
                          struct fault_rule *rule)
{
    tiny_open(&fixture->tiny);
    scratch_make(&fixture->scratch);
    MUST(store_open(scratch_path(&fixture->scratch, "run.tapmlrun"), 1, &fixture->store));
    fixture->source_backend = tiny_backend(&fixture->tiny, "reference:f32");
    open_target(fixture, corruptor, rule);
    fixture->source = tiny_session(&fixture->tiny, fixture->source_backend, NULL, "* -> source");
    fixture->session =
        tiny_session(&fixture->tiny, fixture->source_backend, fixture->target, "* -> source");
    fixture->prompt =
        (struct judge_prompt){.ids = prompt_ids, .count = 5, .greedy = fixture->greedy, .text = ""};
    MUST(run_greedy(
        fixture->source,
        &(struct run_options){.ids = prompt_ids, .count = 5, .decode = OFFLOAD_FIXTURE_DECODE},
        fixture->greedy, &fixture->prompt.greedy_count));
    open_judges(fixture);
    MUST(plan_create(&fixture->goal));
    MUST(plan_add(fixture->goal, "* -> target", "test"));
}

void offload_fixture_close(struct offload_fixture *fixture)
{
    plan_destroy(fixture->goal);
    watch_destroy(fixture->watch);
    judge_destroy(fixture->judge);
    session_destroy(fixture->session);
    session_destroy(fixture->source);
    fault_destroy(fixture->fault);
    corruptor_destroy(fixture->corrupted);
    backend_release(fixture->target_backend);
    backend_release(fixture->source_backend);
    store_close(fixture->store);
    scratch_remove(&fixture->scratch);
    tiny_close(&fixture->tiny);
}

const char *offload_fixture_instance(const struct offload_fixture *fixture, uint32_t op)
{
    return model_graph(fixture->tiny.model)->ops[op].instance;
}

uint32_t offload_fixture_op(const struct offload_fixture *fixture, const char *instance)
{
    const struct graph *graph = model_graph(fixture->tiny.model);
    uint32_t op = 0;

    while (op < graph->op_count && strcmp(graph->ops[op].instance, instance) != 0) {
        op++;
    }
    cr_assert_lt(op, graph->op_count, "no '%s'", instance);
    return op;
}
