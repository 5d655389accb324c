// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "exec/timed.h"
#include "harness/calls.h"
#include "harness/events.h"
#include "harness/late.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

enum { BYTES = 64 };

struct fixture {
    struct plugin_fixture plugins;
    struct scratch scratch;
    struct backend *inner;
    struct backend *late;
    struct timeline *timeline;
    struct place *place;
    tapml_object *buffers[2];
};

static void open_fixture(struct fixture *fixture)
{
    const struct place_settings settings = {.name = "gpu", .backend = "late:0"};
    plugin_fixture_open(&fixture->plugins);
    scratch_make(&fixture->scratch);
    fixture->inner = plugin_fixture_backend(&fixture->plugins, "reference:f32");
    fixture->late = late_create(&(struct late_options){.inner = fixture->inner, .fails = "wrong"});
    cr_assert_eq(timeline_create(scratch_path(&fixture->scratch, "t.json"), &fixture->timeline),
                 TAPML_OK);
    const struct timed_options options = {fixture->timeline, clock_now_ns()};
    const struct place_link link = timed_link(&options);
    cr_assert_eq(place_create(&settings, &fixture->place), TAPML_OK);
    cr_assert_eq(place_open(fixture->place, fixture->late, &link, 1), TAPML_OK);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(backend_buffer_new(fixture->place->backend, BYTES, &fixture->buffers[i]),
                     TAPML_OK);
    }
}

static json_t *finish(struct fixture *fixture)
{
    for (int i = 0; i < 2; i++) {
        backend_buffer_free(fixture->place->backend, fixture->buffers[i]);
    }
    cr_assert_eq(timeline_finish(fixture->timeline), TAPML_OK);
    return events_read(scratch_path(&fixture->scratch, "t.json"));
}

static void close_fixture(struct fixture *fixture, json_t *events)
{
    json_decref(events);
    place_destroy(fixture->place);
    timeline_destroy(fixture->timeline);
    backend_release(fixture->late);
    backend_release(fixture->inner);
    scratch_remove(&fixture->scratch);
    plugin_fixture_close(&fixture->plugins);
}

static tapml_status call(struct fixture *fixture, const char *instance)
{
    const int64_t shape[] = {4, 4};
    tapml_tensor tensors[2];
    for (int i = 0; i < 2; i++) {
        tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = TAPML_F32,
                                    .rank = 2,
                                    .shape = shape,
                                    .buffer = fixture->buffers[i]};
    }
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[1]}};
    const struct backend_call made = {.op = &tapml_silu, .args = args, .instance = instance};
    return calls_make(fixture->place->backend, &made);
}

Test(timed, draws_what_is_asked_of_a_place)
{
    const float values[BYTES / sizeof(float)] = {1, 2, 3};
    float computed[BYTES / sizeof(float)];
    struct fixture fixture;
    struct backend_point point;
    open_fixture(&fixture);
    struct backend *backend = fixture.place->backend;
    cr_assert_eq(backend_write(backend, fixture.buffers[0], 0, values, BYTES), TAPML_OK);
    cr_assert_eq(call(&fixture, "layers.1/act"), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_flush(backend), TAPML_OK);
    cr_assert_eq(backend_signal(backend, &point), TAPML_OK);
    cr_assert_eq(backend_wait_for(backend, point), TAPML_OK);
    cr_assert_eq(backend_read(backend, fixture.buffers[1], 0, computed, BYTES), TAPML_OK);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_expect_float_eq(computed[0], 0.7310586F, 1e-6);
    json_t *events = finish(&fixture);
    cr_expect_eq(events_count(events, "X", NULL), 6);
    cr_expect_str_eq(events_text(events_find(events, "wait for a point"), "cat"), "wait");
    cr_expect_str_eq(events_text(events_find(events, "flush"), "cat"), "submit");
    cr_expect_str_eq(events_text(events_find(events, "wait"), "cat"), "wait");
    const json_t *made = events_find(events, "tapml.silu");
    cr_expect_str_eq(events_text(made, "cat"), "call");
    cr_expect_str_eq(events_text(json_object_get(made, "args"), "detail"), "layers.1/act");
    cr_expect_eq(events_argument(events_find(events, "write"), "bytes"), BYTES);
    cr_expect_eq(events_argument(events_find(events, "read"), "bytes"), BYTES);
    cr_expect_eq(events_argument(events_find(events, "bytes written"), "value"), BYTES);
    cr_expect_eq(events_argument(events_find(events, "bytes read"), "value"), BYTES);
    cr_expect_str_eq(
        events_text(json_object_get(events_find(events, "process_name"), "args"), "name"),
        "gpu (late:0)");
    close_fixture(&fixture, events);
}

static struct timed_figures figures_of(const struct fixture *fixture)
{
    return timed_figures(fixture->place);
}

// A place has work from what it is given until the host has waited for all of it.
Test(timed, keeps_account_of_work_and_bytes)
{
    const float values[BYTES / sizeof(float)] = {1, 2, 3};
    float computed[BYTES / sizeof(float)];
    struct fixture fixture;
    struct backend_point point;
    open_fixture(&fixture);
    struct backend *backend = fixture.place->backend;
    struct timed_figures figures = figures_of(&fixture);
    cr_expect_gt(figures.begun_ns, 0);
    cr_expect_eq(figures.first_ns, 0);
    cr_expect_eq(figures.busy_ns, 0);
    cr_assert_eq(backend_write(backend, fixture.buffers[0], 0, values, BYTES), TAPML_OK);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    figures = figures_of(&fixture);
    const uint64_t written_ns = figures.busy_ns;
    cr_expect_gt(written_ns, 0);
    cr_expect_eq(figures.first_ns, 0, "no op was called");
    cr_assert_eq(call(&fixture, "layers.1/act"), TAPML_OK, "%s", status_message());
    cr_expect_eq(figures_of(&fixture).busy_ns, written_ns, "it was not waited for");
    cr_assert_eq(backend_signal(backend, &point), TAPML_OK);
    cr_assert_eq(backend_wait_for(backend, point), TAPML_OK);
    figures = figures_of(&fixture);
    const uint64_t first_ns = figures.first_ns, called_ns = figures.busy_ns;
    cr_expect_gt(first_ns, 0);
    cr_expect_geq(called_ns, written_ns + first_ns);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_expect_eq(figures_of(&fixture).busy_ns, called_ns, "there was nothing to do");
    cr_assert_eq(call(&fixture, "layers.2/act"), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_read(backend, fixture.buffers[1], 0, computed, BYTES), TAPML_OK);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    figures = figures_of(&fixture);
    cr_expect_gt(figures.busy_ns, called_ns);
    cr_expect_eq(figures.first_ns, first_ns);
    cr_expect_eq(figures.sent, BYTES);
    cr_expect_eq(figures.received, BYTES);
    close_fixture(&fixture, finish(&fixture));
}

// Work behind the point that is waited for goes on.
Test(timed, a_point_ends_what_is_before_it)
{
    struct fixture fixture;
    struct backend_point point;
    open_fixture(&fixture);
    struct backend *backend = fixture.place->backend;
    cr_assert_eq(call(&fixture, "a"), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_signal(backend, &point), TAPML_OK);
    cr_assert_eq(call(&fixture, "b"), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_wait_for(backend, point), TAPML_OK);
    const uint64_t before_ns = figures_of(&fixture).busy_ns;
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_expect_gt(figures_of(&fixture).busy_ns, before_ns);
    close_fixture(&fixture, finish(&fixture));
}

// A place without the link has cost nothing that is known; one without a timeline is drawn nowhere.
Test(timed, needs_no_timeline)
{
    const struct place_settings settings = {.name = "gpu", .backend = "late:0"};
    const struct timed_options options = {NULL, clock_now_ns()};
    const struct place_link link = timed_link(&options);
    struct fixture fixture;
    struct place *place = NULL;
    open_fixture(&fixture);
    cr_assert_eq(place_create(&settings, &place), TAPML_OK);
    cr_expect_eq(timed_figures(place).begun_ns, 0);
    cr_assert_eq(place_open(place, fixture.late, &link, 1), TAPML_OK);
    cr_assert_eq(backend_wait(place->backend), TAPML_OK);
    cr_expect_eq(timed_figures(place).begun_ns, options.begun_ns);
    place_destroy(place);
    close_fixture(&fixture, finish(&fixture));
}

// What fails has taken its time, too, and fails as it would.
Test(timed, passes_failures_on)
{
    struct fixture fixture;
    open_fixture(&fixture);
    cr_assert_eq(call(&fixture, "wrong"), TAPML_OK, "%s", status_message());
    cr_expect_neq(backend_wait(fixture.place->backend), TAPML_OK);
    cr_expect(strstr(status_message(), "wrong"), "%s", status_message());
    json_t *events = finish(&fixture);
    cr_expect_eq(events_count(events, "X", "wait"), 1);
    close_fixture(&fixture, events);
}
