// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/memory.h"
#include "harness/scratch.h"
#include "harness/sketch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

static const struct affine_point largest = {
    .value =
        {[AFFINE_TOKENS] = 8, [AFFINE_POSITION] = 31, [AFFINE_ROWS] = 8, [AFFINE_CAPACITY] = 32},
};

// x -> a -> b -> c -> d: a chain, whose values are read once, by the next op.
static void make_chain(struct sketch *sketch)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    sketch_init(sketch);
    uint32_t last = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 4);
    for (size_t i = 0; i < 4; i++) {
        const uint32_t next = sketch_value(sketch, GRAPH_COMPUTED, names[i], sketch_sum(0, 1), 4);
        sketch_op(sketch, &tapml_silu, names[i], (const uint32_t[]){last, next});
        last = next;
    }
    sketch_output(sketch, "y", last);
}

Test(memory, gives_a_chain_two_slots)
{
    struct sketch sketch;
    struct memory_plan plan;
    make_chain(&sketch);
    cr_assert_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_OK);
    cr_expect_eq(plan.slot_count, 2);
    for (uint32_t v = 1; v < 5; v++) {
        cr_expect_neq(plan.slot_of[v], plan.slot_of[v - 1], "op %u writes what it reads", v - 1);
    }
    cr_expect_eq(plan.slot_bytes[0].at[ACTIVATION_F32], 8 * 4 * 4);
    memory_plan_release(&plan);
    memory_plan_release(&plan);
    memory_plan_release(NULL);
}

Test(memory, keeps_outputs_and_what_views_read)
{
    struct sketch sketch;
    make_chain(&sketch);
    // The last op also reads half of "a".
    const uint32_t half = sketch_columns(&sketch, 1, 0, 2);
    const uint32_t e = sketch_value(&sketch, GRAPH_COMPUTED, "e", sketch_sum(0, 1), 2);
    sketch_op(&sketch, &tapml_silu, "e", (const uint32_t[]){half, e});
    sketch_output(&sketch, "b", 2);
    struct memory_plan plan;
    cr_assert_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_OK);
    for (uint32_t v = 2; v <= 4; v++) {
        cr_expect_neq(plan.slot_of[v], plan.slot_of[1], "'a' is overwritten by %u", v);
    }
    cr_expect_neq(plan.slot_of[3], plan.slot_of[2], "the output 'b' is overwritten");
    cr_expect_neq(plan.slot_of[4], plan.slot_of[2], "the output 'b' is overwritten");
    cr_expect_neq(plan.slot_of[e], plan.slot_of[4], "the output 'd' is overwritten");
    cr_expect_eq(plan.slot_of[half], GRAPH_NONE);
    memory_plan_release(&plan);
}

Test(memory, keeps_inputs_apart_also_where_nobody_reads_them)
{
    struct sketch sketch;
    sketch_init(&sketch);
    const uint32_t a = sketch_value(&sketch, GRAPH_INPUT, "a", sketch_sum(1, 0), 4);
    const uint32_t b = sketch_value(&sketch, GRAPH_INPUT, "b", sketch_sum(1, 0), 4);
    const uint32_t y = sketch_value(&sketch, GRAPH_COMPUTED, "y", sketch_sum(1, 0), 4);
    sketch_op(&sketch, &tapml_silu, "y", (const uint32_t[]){b, y});
    struct memory_plan plan;
    cr_assert_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_OK);
    cr_expect_neq(plan.slot_of[a], plan.slot_of[b]);
    cr_expect_eq(plan.slot_of[y], plan.slot_of[a], "'a' is read by nobody");
    memory_plan_release(&plan);
}

Test(memory, needs_no_slots_for_what_lives_elsewhere)
{
    struct sketch sketch;
    sketch_init(&sketch);
    const uint32_t w = sketch_value(&sketch, GRAPH_WEIGHT, "w", sketch_sum(4, 0), 4);
    const uint32_t s = sketch_value(&sketch, GRAPH_STATE, "s", sketch_sum(4, 0), 4);
    const uint32_t c = sketch_value(&sketch, GRAPH_CONSTANT, "c", sketch_sum(4, 0), 4);
    struct memory_plan plan;
    cr_assert_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_OK);
    cr_expect_eq(plan.slot_count, 0);
    cr_expect_eq(plan.slot_of[w], GRAPH_NONE);
    cr_expect_eq(plan.slot_of[s], GRAPH_NONE);
    cr_expect_eq(plan.slot_of[c], GRAPH_NONE);
    memory_plan_release(&plan);
}

Test(memory, sizes_slots_for_the_largest_call)
{
    struct sketch sketch;
    sketch_init(&sketch);
    struct affine rows = {.constant = 3, .factor = {[AFFINE_TOKENS] = -1, [AFFINE_POSITION] = 1}};
    sketch_value(&sketch, GRAPH_INPUT, "falling", rows, 1);
    rows = (struct affine){.factor = {[AFFINE_CAPACITY] = 1, [AFFINE_POSITION] = -1}};
    sketch_value(&sketch, GRAPH_INPUT, "left", rows, 3);
    sketch_value(&sketch, GRAPH_INPUT, "empty", sketch_sum(0, 0), 3);
    sketch_value(&sketch, GRAPH_INPUT, "odd", sketch_sum(1, 0), 17);
    struct memory_plan plan;
    cr_assert_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_OK);
    cr_expect_eq(plan.slot_bytes[plan.slot_of[0]].at[ACTIVATION_F32], 192, "34 rows of 4 bytes");
    cr_expect_eq(plan.slot_bytes[plan.slot_of[1]].at[ACTIVATION_F32], 384, "32 rows of 12 bytes");
    cr_expect_eq(plan.slot_bytes[plan.slot_of[2]].at[ACTIVATION_F32], 64);
    cr_expect_eq(plan.slot_bytes[plan.slot_of[3]].at[ACTIVATION_F32], 128);
    memory_plan_release(&plan);
}

// A slot grows where a later value needs more than any free one has.
Test(memory, enlarges_a_free_slot)
{
    struct sketch sketch;
    sketch_init(&sketch);
    const uint32_t x = sketch_value(&sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), 4);
    const uint32_t a = sketch_value(&sketch, GRAPH_COMPUTED, "a", sketch_sum(0, 1), 4);
    const uint32_t b = sketch_value(&sketch, GRAPH_COMPUTED, "b", sketch_sum(0, 1), 64);
    sketch_op(&sketch, &tapml_silu, "a", (const uint32_t[]){x, a});
    sketch_op(&sketch, &tapml_silu, "b", (const uint32_t[]){a, b});
    struct memory_plan plan;
    cr_assert_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_OK);
    cr_expect_eq(plan.slot_count, 2);
    cr_expect_eq(plan.slot_of[b], plan.slot_of[x]);
    cr_expect_eq(plan.slot_bytes[plan.slot_of[b]].at[ACTIVATION_F32], 8 * 64 * 4);
    memory_plan_release(&plan);
}

Test(memory, refuses_what_is_too_large)
{
    struct sketch sketch;
    struct memory_plan plan = {0};
    sketch_init(&sketch);
    sketch_value(&sketch, GRAPH_INPUT, "huge", sketch_sum(0, INT64_C(1) << 40), INT64_C(1) << 40);
    cr_expect_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_INVALID);
    cr_expect(strstr(status_message(), "'huge'"), "%s", status_message());

    sketch_init(&sketch);
    sketch_value(&sketch, GRAPH_INPUT, "negative", sketch_sum(-1, 0), 2);
    cr_expect_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_INVALID);
    cr_expect(strstr(status_message(), "'negative'"), "%s", status_message());

    sketch_init(&sketch);
    sketch_value(&sketch, GRAPH_INPUT, "bytes", sketch_sum(INT64_C(1) << 40, 0), INT64_C(1) << 22);
    cr_expect_eq(memory_plan_create(&sketch.graph, &largest, NULL, 0, &plan), TAPML_INVALID);
    cr_expect(strstr(status_message(), "'bytes'"), "%s", status_message());
    cr_expect_null(plan.slot_of);
}

static tapml_status make_plan(const struct graph *graph)
{
    struct memory_plan plan;
    TAPML_TRY(memory_plan_create(graph, &largest, NULL, 0, &plan));
    memory_plan_release(&plan);
    return TAPML_OK;
}

Test(memory, survives_a_lack_of_memory)
{
    struct sketch sketch;
    make_chain(&sketch);
    SCRATCH_SWEEP(make_plan(&sketch.graph));
}

Test(memory, sizes_slots_of_reduced_places_by_what_is_marked)
{
    struct sketch sketch;
    activation_set marks[SKETCH_VALUES_MAX] = {0};
    sketch_init(&sketch);
    const uint32_t x = sketch_value(&sketch, GRAPH_INPUT, "x", sketch_sum(16, 0), 16);
    const uint32_t table = sketch_value(&sketch, GRAPH_INPUT, "table", sketch_sum(16, 0), 16);
    struct memory_plan plan;
    marks[x] = activation_bit(ACTIVATION_F16);
    cr_assert_eq(memory_plan_create(&sketch.graph, &largest, marks, 0, &plan), TAPML_OK);
    cr_expect_eq(plan.slot_bytes[plan.slot_of[x]].at[ACTIVATION_F32], 1024);
    cr_expect_eq(plan.slot_bytes[plan.slot_of[x]].at[ACTIVATION_F16], 512);
    cr_expect_eq(plan.slot_bytes[plan.slot_of[table]].at[ACTIVATION_F16], 1024);
    memory_plan_release(&plan);
}
