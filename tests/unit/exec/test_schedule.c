// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "exec/residency.h"
#include "exec/schedule.h"
#include "exec/session.h"
#include "exec/value.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/sketch.h"
#include "harness/stage.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE, GPU, PLACES, WIDTH = 8, OPS = 3, CAPACITY = 64 };

// 1024 bytes in 32 rows. Slots have 512.
static const float weight[4 * WIDTH * WIDTH];

// norm -> product -> act
struct fixture {
    struct stage stage;
    struct backend *inner;
    struct backend *backends[PLACES];
    struct space_set spaces;
    struct sketch sketch;
    struct arena *arena;
    struct binding bindings[OPS];
    struct residency *weights[PLACES];
    struct value_set *values;
    struct schedule *schedule;
    struct schedule_answer answer;
};

static void make_graph(struct sketch *sketch, int is_view)
{
    const struct affine rows = sketch_sum(0, 1);
    sketch_init(sketch);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", rows, WIDTH);
    const uint32_t a = sketch_value(sketch, GRAPH_COMPUTED, "norm", rows, WIDTH);
    const uint32_t b = sketch_value(sketch, GRAPH_COMPUTED, "product", rows, 4 * WIDTH);
    const uint32_t c = sketch_value(sketch, GRAPH_COMPUTED, "act", rows, 4 * WIDTH);
    uint32_t w = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(4 * WIDTH, 0), WIDTH);
    sketch->values[w].data = weight;
    w = is_view ? sketch_columns(sketch, w, 0, WIDTH) : w;
    sketch_op(sketch, &tapml_rms_norm, "norm", (const uint32_t[]){x, GRAPH_NONE, a});
    sketch_op(sketch, &tapml_linear, "product", (const uint32_t[]){a, w, GRAPH_NONE, b});
    sketch_op(sketch, &tapml_silu, "act", (const uint32_t[]){b, c});
}

static void open_fixture(struct fixture *fixture, const struct late_options *late, int is_view)
{
    static const char *const names[] = {"source", "gpu"};
    struct late_options options = *late;
    stage_open(&fixture->stage);
    make_graph(&fixture->sketch, is_view);
    fixture->backends[SOURCE] = stage_backend(&fixture->stage, "reference:f32");
    fixture->inner = stage_backend(&fixture->stage, "reference:f32");
    options.inner = fixture->inner;
    fixture->backends[GPU] = late_create(&options);
    struct places places;
    space_set_init(&fixture->spaces, places_over(&places, fixture->backends, names, PLACES),
                   PLACES);
    fixture->arena = arena_create();
    for (uint32_t i = 0; i < OPS; i++) {
        cr_assert_eq(binding_init(&fixture->bindings[i], &fixture->sketch.graph, i, fixture->arena),
                     TAPML_OK);
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        cr_assert_eq(residency_create(fixture->backends[i], &fixture->weights[i]), TAPML_OK);
        fixture->spaces.places[i].weights = fixture->weights[i];
    }
    const struct affine_point largest = {.value = {4, CAPACITY - 1, 4, CAPACITY}};
    cr_assert_eq(
        value_set_create(&fixture->sketch.graph, &fixture->spaces, &largest, &fixture->values),
        TAPML_OK);
    const struct schedule_options given = {
        .graph = &fixture->sketch.graph,
        .spaces = &fixture->spaces,
        .values = fixture->values,
        .bindings = fixture->bindings,
    };
    cr_assert_eq(schedule_create(&given, &fixture->schedule), TAPML_OK);
}

static void close_fixture(struct fixture *fixture)
{
    schedule_destroy(fixture->schedule);
    value_set_destroy(fixture->values);
    for (uint32_t i = 0; i < PLACES; i++) {
        residency_destroy(fixture->weights[i]);
        backend_release(fixture->backends[i]);
    }
    arena_destroy(fixture->arena);
    backend_release(fixture->inner);
    stage_close(&fixture->stage);
}

static void set_plan(struct fixture *fixture, const char *rule)
{
    struct plan *plan = NULL;
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    cr_assert_eq(plan_add(plan, rule, "here"), TAPML_OK, "%s", status_message());
    cr_assert_eq(schedule_set_plan(fixture->schedule, plan), TAPML_OK, "%s", status_message());
    plan_destroy(plan);
}

static tapml_status ask(struct fixture *fixture, int64_t tokens, int64_t position)
{
    const struct affine_point point = {.value = {tokens, position, 1, CAPACITY}};
    return schedule_ask(fixture->schedule, &point, &fixture->answer);
}

static void expect_places(struct fixture *fixture, int64_t tokens, uint8_t a, uint8_t b, uint8_t c)
{
    const uint8_t expected[OPS] = {a, b, c};
    cr_assert_eq(ask(fixture, tokens, 0), TAPML_OK, "%s", status_message());
    cr_expect_arr_eq(fixture->answer.places, expected, OPS);
}

Test(schedule, follows_the_plan_and_the_phase)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){0}, 0);
    expect_places(&fixture, 3, SOURCE, SOURCE, SOURCE);
    set_plan(&fixture, "op=linear -> gpu");
    expect_places(&fixture, 3, SOURCE, GPU, SOURCE);
    set_plan(&fixture, "phase=decode -> gpu");
    expect_places(&fixture, 3, SOURCE, SOURCE, SOURCE);
    expect_places(&fixture, 1, GPU, GPU, GPU);
    cr_expect_eq(schedule_refusal_count(fixture.schedule), 0);
    close_fixture(&fixture);
}

Test(schedule, sends_what_is_refused_to_the_source)
{
    struct fixture fixture;
    open_fixture(&fixture,
                 &(struct late_options){.refuses = "tapml.linear", .lacks = "tapml.rms_norm"}, 0);
    set_plan(&fixture, "* -> gpu");
    for (int i = 0; i < 3; i++) {
        expect_places(&fixture, i + 1, SOURCE, SOURCE, GPU);
    }
    cr_assert_eq(schedule_refusal_count(fixture.schedule), 2);
    const struct schedule_refusal *first = schedule_refusal_at(fixture.schedule, 0);
    const struct schedule_refusal *second = schedule_refusal_at(fixture.schedule, 1);
    cr_expect_eq(first->op, 0);
    cr_expect_eq(first->place, GPU);
    cr_expect_str_eq(first->reason, "has no op 'tapml.rms_norm'");
    cr_expect_eq(second->op, 1);
    cr_expect_str_eq(second->reason, "too late for that");
    // They are those of the present plan.
    set_plan(&fixture, "op=linear -> gpu");
    cr_expect_eq(schedule_refusal_count(fixture.schedule), 0);
    expect_places(&fixture, 1, SOURCE, SOURCE, SOURCE);
    cr_assert_eq(schedule_refusal_count(fixture.schedule), 1);
    cr_expect_str_eq(schedule_refusal_at(fixture.schedule, 0)->reason, "too late for that");
    close_fixture(&fixture);
}

Test(schedule, fails_where_the_source_refuses)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){0}, 0);
    // The source is the late device here, which lacks an op.
    struct late_options options = {.inner = fixture.inner, .lacks = "tapml.silu"};
    struct backend *late = late_create(&options);
    fixture.spaces.places[SOURCE].backend = late;
    cr_expect_eq(ask(&fixture, 2, 0), TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(status_message(),
                     "act (tapml.silu) cannot run on source: has no op 'tapml.silu'");
    set_plan(&fixture, "* -> gpu");
    cr_expect_eq(ask(&fixture, 2, 0), TAPML_OK, "%s", status_message());
    backend_release(late);
    close_fixture(&fixture);
}

Test(schedule, binds_what_fits_into_buffers)
{
    struct fixture fixture;
    // Half of the weight: `linear` loops over panels.
    open_fixture(&fixture, &(struct late_options){.buffer_bytes_max = 512}, 0);
    set_plan(&fixture, "* -> gpu");
    expect_places(&fixture, 1, GPU, GPU, GPU);
    close_fixture(&fixture);

    open_fixture(&fixture, &(struct late_options){.buffer_bytes_max = 512}, 1);
    set_plan(&fixture, "* -> gpu");
    expect_places(&fixture, 1, GPU, SOURCE, GPU);
    cr_expect_str_eq(schedule_refusal_at(fixture.schedule, 0)->reason,
                     "'w' comes in panels, and a view is needed");
    close_fixture(&fixture);

    open_fixture(&fixture, &(struct late_options){.buffer_bytes_max = 256}, 0);
    set_plan(&fixture, "op=silu -> gpu");
    expect_places(&fixture, 1, SOURCE, SOURCE, SOURCE);
    cr_expect_str_eq(schedule_refusal_at(fixture.schedule, 0)->reason,
                     "'product' is larger than a buffer");
    close_fixture(&fixture);
}

Test(schedule, asks_once_for_each_shape_class)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){0}, 0);
    set_plan(&fixture, "* -> gpu");
    cr_assert_eq(ask(&fixture, 1, 4), TAPML_OK); // A length of 5: the class of 8.
    const uint8_t *places = fixture.answer.places;
    cr_assert_eq(ask(&fixture, 1, 7), TAPML_OK);
    cr_expect_eq(fixture.answer.places, places, "the same class");
    cr_assert_eq(ask(&fixture, 1, 8), TAPML_OK);
    cr_expect_neq(fixture.answer.places, places, "a length of 9 is the class of 16");
    cr_assert_eq(ask(&fixture, 1, 63), TAPML_OK, "the last class ends with the capacity");
    const struct affine_point more = {.value = {1, 4, 2, CAPACITY}};
    cr_assert_eq(schedule_ask(fixture.schedule, &more, &fixture.answer), TAPML_OK);
    cr_expect_neq(fixture.answer.places, places, "another number of rows is another class");
    close_fixture(&fixture);
}

// Who takes the longest call of a class takes all of them: a length of 9 is asked about as 16.
Test(schedule, asks_at_the_upper_end_of_a_class)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){.rows_max = 12}, 0);
    for (uint32_t v = 0; v < 4; v++) {
        fixture.sketch.values[v].shape[0].factor[AFFINE_POSITION] = 1;
    }
    set_plan(&fixture, "op=silu -> gpu");
    cr_assert_eq(ask(&fixture, 1, 7), TAPML_OK, "%s", status_message());
    cr_expect_eq(fixture.answer.places[2], GPU);
    cr_assert_eq(ask(&fixture, 1, 8), TAPML_OK, "%s", status_message());
    cr_expect_eq(fixture.answer.places[2], SOURCE);
    close_fixture(&fixture);
}

Test(schedule, keeps_its_plan_where_a_new_one_is_wrong)
{
    struct fixture fixture;
    struct plan *plan = NULL;
    open_fixture(&fixture, &(struct late_options){0}, 0);
    set_plan(&fixture, "op=silu -> gpu");
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    cr_assert_eq(plan_add(plan, "* -> nowhere", "here"), TAPML_OK);
    cr_expect_eq(schedule_set_plan(fixture.schedule, plan), TAPML_NOT_FOUND);
    expect_places(&fixture, 2, SOURCE, SOURCE, GPU);
    plan_destroy(plan);
    close_fixture(&fixture);
    schedule_destroy(NULL);
}
