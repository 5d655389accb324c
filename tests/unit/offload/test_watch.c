// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/memory_corruptor.h"
#include "harness/offload_fixture.h"
#include "store/stored_case.h"
#include "verify/guard.h"

#include <string.h>

static struct watch_result
look(struct offload_fixture *fixture, enum watch_mode mode, unsigned repeats)
{
    struct watch_result result;

    MUST(watch_run(fixture->watch,
                   &(struct watch_look){.mode = mode, .plan = fixture->goal, .repeats = repeats},
                   &result));
    return result;
}

static void expect_none(enum watch_mode mode)
{
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    const uint64_t calls =
        (uint64_t)model_graph(fixture.tiny.model)->op_count * OFFLOAD_FIXTURE_DECODE;
    struct watch_result result = look(&fixture, mode, 1);

    cr_assert_eq(result.count, 0u, "%s", result.items[0].verdict.reason);
    cr_assert_eq(result.executions, 2 * calls, "each call once on either side");
    cr_assert_eq(result.tried_least, (uint64_t)OFFLOAD_FIXTURE_DECODE);
    watch_result_release(&result);
    offload_fixture_close(&fixture);
}

Test(watch, a_right_target_has_no_findings_in_the_shadow)
{
    expect_none(WATCH_SHADOW);
}

Test(watch, nor_cumulatively)
{
    expect_none(WATCH_CUMULATIVE);
}

static void expect_both(enum watch_mode mode)
{
    struct offload_fixture fixture;

    offload_fixture_open(
        &fixture,
        (struct corruptor_options){.instances = {"layers.0/mlp/silu", "layers.2/attn/o_proj"},
                                   .factor = 1.0001},
        NULL);
    struct watch_result result = look(&fixture, mode, 1);

    cr_assert_eq(result.count, 2u);
    cr_assert_str_eq(offload_fixture_instance(&fixture, result.items[0].op), "layers.0/mlp/silu");
    cr_assert_str_eq(offload_fixture_instance(&fixture, result.items[1].op),
                     "layers.2/attn/o_proj");
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(result.items[i].failed, (uint64_t)OFFLOAD_FIXTURE_DECODE);
        cr_assert_eq(result.items[i].tried, (uint64_t)OFFLOAD_FIXTURE_DECODE);
        cr_assert(result.items[i].fails_alone);
        cr_assert_gt(result.items[i].verdict.case_id, 0);
        cr_assert_gt(result.items[i].verdict.margin, 1.0);
    }
    watch_result_release(&result);
    offload_fixture_close(&fixture);
}

Test(watch, two_at_once_are_found_in_the_shadow)
{
    expect_both(WATCH_SHADOW);
}

Test(watch, and_nobody_else_cumulatively)
{
    expect_both(WATCH_CUMULATIVE);
}

Test(watch, what_fails_is_kept_and_can_be_tried_again)
{
    struct fault_rule rule = {.name = "fault",
                              .op = "*",
                              .instance = "layers.1/mlp/mul",
                              .words = "scale 2",
                              .from_call = 1,
                              .probability = 0.3,
                              .seed = 2};
    struct offload_fixture fixture;
    uint64_t tried = 0, failed = 0;
    int64_t *ids = NULL;
    size_t count = 0;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, &rule);
    struct watch_result result = look(&fixture, WATCH_SHADOW, 20);

    cr_assert_eq(result.count, 1u);
    cr_assert_eq(result.items[0].tried, 20u * OFFLOAD_FIXTURE_DECODE);
    cr_assert_lt(result.items[0].failed, result.items[0].tried);
    MUST(stored_case_ids(fixture.store, &ids, &count));
    cr_assert_eq(count, 1u);
    cr_assert_eq(ids[0], result.items[0].verdict.case_id);
    MUST(watch_repeat(fixture.watch, ids[0], &tried, &failed));
    cr_assert_eq(tried, 30u);
    cr_assert(failed > 0 && failed < 30, "%u of 30", (unsigned)failed);
    cr_assert_eq(watch_repeat_executions(fixture.watch), 30u);
    alloc_free(ids);
    watch_result_release(&result);
    offload_fixture_close(&fixture);
}

Test(watch, ops_on_the_source_are_nobodys_business)
{
    struct offload_fixture fixture;
    struct watch_result result;

    offload_fixture_open(&fixture, (struct corruptor_options){.instances = {"*"}, .factor = 2},
                         NULL);
    MUST(plan_add(fixture.goal, "* -> source", "test"));
    MUST(plan_add(fixture.goal, "instance=layers.1/mlp/mul -> target", "test"));
    MUST(watch_run(
        fixture.watch,
        &(struct watch_look){.mode = WATCH_SHADOW, .plan = fixture.goal, .steps = 1, .repeats = 1},
        &result));
    cr_assert_eq(result.count, 1u);
    cr_assert_eq(result.items[0].tried, 1u);
    watch_result_release(&result);
    offload_fixture_close(&fixture);
}

// -- Runs under a guard ------------------------------------------------------------------------

// A target that is right in calls by themselves, and damages memory in runs alone.
static void
expect_guarded(const char *instance, struct memory_corruptor_options options, const char *sentence)
{
    static const char *const names[] = {"source", "target", "target"};
    struct guard *guard = NULL;
    struct watch *watch = NULL;
    struct watch_result result;
    struct places places;
    struct offload_fixture fixture;

    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    struct backend *corruptor = memory_corruptor_create(fixture.target_backend);

    options.instance = instance;
    memory_corruptor_set(corruptor, &options);
    MUST(guard_create(corruptor, &guard));
    struct backend *const backends[] = {fixture.source_backend, fixture.target_backend,
                                        guard_backend(guard)};

    (void)places_over(&places, backends, names, 3);
    MUST(watch_create(&(struct watch_options){.registry = fixture.tiny.registry,
                                              .store = fixture.store,
                                              .model = fixture.tiny.model,
                                              .capacity = 64,
                                              .chunk = 32,
                                              .source = places.list[0],
                                              .target = places.list[1],
                                              .running = places.list[2],
                                              .prompts = &fixture.prompt},
                      &watch));
    MUST(watch_run(watch,
                   &(struct watch_look){
                       .mode = WATCH_CUMULATIVE, .plan = fixture.goal, .steps = 1, .repeats = 1},
                   &result));
    cr_assert_eq(result.count, 1u);
    cr_assert_str_eq(offload_fixture_instance(&fixture, result.items[0].op), instance);
    cr_assert_eq(result.items[0].verdict.kind, VERDICT_ERROR);
    cr_assert_not(result.items[0].fails_alone);
    cr_assert_not_null(strstr(result.items[0].verdict.reason, sentence), "%s",
                       result.items[0].verdict.reason);
    watch_result_release(&result);
    watch_destroy(watch);
    guard_destroy(guard);
    backend_release(corruptor);
    offload_fixture_close(&fixture);
}

enum { TOKENS = 5, MLP_BYTES = TOKENS * 352 * 4, STATE_ROW_BYTES = 2 * 32 * 4 };

Test(watch, a_guarded_run_catches_four_bytes_behind_an_output)
{
    expect_guarded(
        "layers.1/mlp/silu",
        (struct memory_corruptor_options){MEMORY_CORRUPTOR_WRITES, 1, MLP_BYTES, 4, NULL, NULL},
        "byte 7040 of the buffer of 'y' was written, outside of its view");
}

Test(watch, a_guarded_run_catches_an_unwritten_tail)
{
    expect_guarded("layers.1/mlp/silu",
                   (struct memory_corruptor_options){MEMORY_CORRUPTOR_LEAVES, 1, MLP_BYTES - 16, 16,
                                                     NULL, NULL},
                   "'y' was not written from element");
}

Test(watch, a_guarded_run_catches_a_changed_input)
{
    expect_guarded("layers.1/mlp/silu",
                   (struct memory_corruptor_options){MEMORY_CORRUPTOR_WRITES, 0, 0, 4, NULL, NULL},
                   "input 'x' changed at element 0");
}

Test(watch, a_guarded_run_catches_a_row_outside_the_region)
{
    expect_guarded("layers.2/attn/k_append",
                   (struct memory_corruptor_options){MEMORY_CORRUPTOR_WRITES, 0,
                                                     20 * STATE_ROW_BYTES, 4, NULL, NULL},
                   "row 20 of state 'state' was written");
}
