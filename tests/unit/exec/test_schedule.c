// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "compiled.h"
#include "exec/schedule.h"

struct asked {
    struct fixture fixture;
    struct schedule *schedule;
    struct schedule_answer answer;
};

static void open_asked(struct asked *asked, const struct late_options *late, int is_view)
{
    struct fixture *fixture = &asked->fixture;
    open_fixture_with(fixture, late, is_view);
    const struct schedule_options given = {
        .graph = &fixture->sketch.graph,
        .spaces = &fixture->spaces,
        .values = fixture->values,
        .bindings = fixture->bindings,
    };
    cr_assert_eq(schedule_create(&given, &asked->schedule), TAPML_OK);
}

static void close_asked(struct asked *asked)
{
    schedule_destroy(asked->schedule);
    close_fixture(&asked->fixture);
}

static void set_plan(struct asked *asked, const char *rule)
{
    struct plan *plan = NULL;
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    cr_assert_eq(plan_add(plan, rule, "here"), TAPML_OK, "%s", status_message());
    cr_assert_eq(schedule_set_plan(asked->schedule, plan), TAPML_OK, "%s", status_message());
    plan_destroy(plan);
}

static tapml_status ask(struct asked *asked, int64_t tokens, int64_t position)
{
    const struct affine_point point = {.value = {tokens, position, 1, CAPACITY}};
    return schedule_ask(asked->schedule, &point, &asked->answer);
}

// `expected` has the place of each op: norm, product, act, sum.
static void expect_places(struct asked *asked, int64_t tokens, const uint8_t *expected)
{
    cr_assert_eq(ask(asked, tokens, 0), TAPML_OK, "%s", status_message());
    cr_expect_arr_eq(asked->answer.places, expected, OPS);
}

Test(schedule, follows_the_plan_and_the_phase)
{
    struct asked asked;
    open_asked(&asked, &(struct late_options){0}, 0);
    expect_places(&asked, 3, (const uint8_t[]){SOURCE, SOURCE, SOURCE, SOURCE});
    set_plan(&asked, "op=linear -> gpu");
    expect_places(&asked, 3, (const uint8_t[]){SOURCE, GPU, SOURCE, SOURCE});
    set_plan(&asked, "phase=decode -> gpu");
    expect_places(&asked, 3, (const uint8_t[]){SOURCE, SOURCE, SOURCE, SOURCE});
    expect_places(&asked, 1, (const uint8_t[]){GPU, GPU, GPU, GPU});
    cr_expect_eq(schedule_refusal_count(asked.schedule), 0);
    close_asked(&asked);
}

Test(schedule, sends_what_is_refused_to_the_source)
{
    struct asked asked;
    open_asked(&asked, &(struct late_options){.refuses = "tapml.linear", .lacks = "tapml.rms_norm"},
               0);
    set_plan(&asked, "* -> gpu");
    for (int i = 0; i < 3; i++) {
        expect_places(&asked, i + 1, (const uint8_t[]){SOURCE, SOURCE, GPU, GPU});
    }
    cr_assert_eq(schedule_refusal_count(asked.schedule), 2);
    const struct schedule_refusal *first = schedule_refusal_at(asked.schedule, 0);
    const struct schedule_refusal *second = schedule_refusal_at(asked.schedule, 1);
    cr_expect_eq(first->op, 0);
    cr_expect_eq(first->place, GPU);
    cr_expect_str_eq(first->reason, "has no op 'tapml.rms_norm'");
    cr_expect_eq(second->op, 1);
    cr_expect_str_eq(second->reason, "too late for that");
    // They are those of the present plan.
    set_plan(&asked, "op=linear -> gpu");
    cr_expect_eq(schedule_refusal_count(asked.schedule), 0);
    expect_places(&asked, 1, (const uint8_t[]){SOURCE, SOURCE, SOURCE, SOURCE});
    cr_assert_eq(schedule_refusal_count(asked.schedule), 1);
    cr_expect_str_eq(schedule_refusal_at(asked.schedule, 0)->reason, "too late for that");
    close_asked(&asked);
}

Test(schedule, fails_where_the_source_refuses)
{
    struct asked asked;
    open_asked(&asked, &(struct late_options){0}, 0);
    // The source is the late device here, which lacks an op.
    struct late_options options = {.inner = asked.fixture.inner, .lacks = "tapml.silu"};
    struct backend *late = late_create(&options);
    asked.fixture.spaces.places[SOURCE].backend = late;
    cr_expect_eq(ask(&asked, 2, 0), TAPML_UNIMPLEMENTED);
    cr_expect_str_eq(status_message(),
                     "act (tapml.silu) cannot run on source: has no op 'tapml.silu'");
    set_plan(&asked, "* -> gpu");
    cr_expect_eq(ask(&asked, 2, 0), TAPML_OK, "%s", status_message());
    asked.fixture.spaces.places[SOURCE].backend = asked.fixture.backends[SOURCE];
    backend_release(late);
    close_asked(&asked);
}

Test(schedule, binds_what_fits_into_buffers)
{
    struct asked asked;
    // Half of the weight: `linear` loops over panels.
    open_asked(&asked, &(struct late_options){.buffer_bytes_max = 128}, 0);
    set_plan(&asked, "* -> gpu");
    expect_places(&asked, 1, (const uint8_t[]){GPU, GPU, GPU, GPU});
    close_asked(&asked);

    open_asked(&asked, &(struct late_options){.buffer_bytes_max = 128}, 1);
    set_plan(&asked, "* -> gpu");
    expect_places(&asked, 1, (const uint8_t[]){GPU, SOURCE, GPU, GPU});
    cr_expect_str_eq(schedule_refusal_at(asked.schedule, 0)->reason,
                     "'w' comes in panels, and a view is needed");
    close_asked(&asked);

    open_asked(&asked, &(struct late_options){.buffer_bytes_max = 64}, 0);
    set_plan(&asked, "op=silu -> gpu");
    expect_places(&asked, 1, (const uint8_t[]){SOURCE, SOURCE, SOURCE, SOURCE});
    cr_expect_str_eq(schedule_refusal_at(asked.schedule, 0)->reason,
                     "'product' is larger than a buffer");
    close_asked(&asked);
}

Test(schedule, asks_once_for_each_shape_class)
{
    struct asked asked;
    open_asked(&asked, &(struct late_options){0}, 0);
    set_plan(&asked, "* -> gpu");
    cr_assert_eq(ask(&asked, 1, 4), TAPML_OK); // A length of 5: the class of 8.
    const uint8_t *places = asked.answer.places;
    cr_assert_eq(ask(&asked, 1, 7), TAPML_OK);
    cr_expect_eq(asked.answer.places, places, "the same class");
    cr_assert_eq(ask(&asked, 1, 8), TAPML_OK);
    cr_expect_neq(asked.answer.places, places, "a length of 9 is the class of 16");
    cr_assert_eq(ask(&asked, 1, 63), TAPML_OK, "the last class ends with the capacity");
    const struct affine_point more = {.value = {1, 4, 2, CAPACITY}};
    cr_assert_eq(schedule_ask(asked.schedule, &more, &asked.answer), TAPML_OK);
    cr_expect_neq(asked.answer.places, places, "another number of rows is another class");
    close_asked(&asked);
}

// Who takes the longest call of a class takes all of them: a length of 9 is asked about as 16.
Test(schedule, asks_at_the_upper_end_of_a_class)
{
    struct asked asked;
    open_asked(&asked, &(struct late_options){.rows_max = 12}, 0);
    for (uint32_t v = 0; v < 5; v++) {
        asked.fixture.sketch.values[v].shape[0].factor[AFFINE_POSITION] = 1;
    }
    set_plan(&asked, "op=silu -> gpu");
    cr_assert_eq(ask(&asked, 1, 7), TAPML_OK, "%s", status_message());
    cr_expect_eq(asked.answer.places[2], GPU);
    cr_assert_eq(ask(&asked, 1, 8), TAPML_OK, "%s", status_message());
    cr_expect_eq(asked.answer.places[2], SOURCE);
    close_asked(&asked);
}

Test(schedule, keeps_its_plan_where_a_new_one_is_wrong)
{
    struct asked asked;
    struct plan *plan = NULL;
    open_asked(&asked, &(struct late_options){0}, 0);
    set_plan(&asked, "op=silu -> gpu");
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    cr_assert_eq(plan_add(plan, "* -> nowhere", "here"), TAPML_OK);
    cr_expect_eq(schedule_set_plan(asked.schedule, plan), TAPML_NOT_FOUND);
    expect_places(&asked, 2, (const uint8_t[]){SOURCE, SOURCE, GPU, SOURCE});
    plan_destroy(plan);
    close_asked(&asked);
    schedule_destroy(NULL);
}
