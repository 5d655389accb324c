// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/clock.h"
#include "exec/session.h"
#include "exec/trace.h"
#include "harness/calls.h"
#include "harness/events.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static const int32_t prompt[] = {0, 352, 528, 13};

struct fixture {
    struct plugin_fixture plugins;
    struct backend *inner;
    struct backend *late;
    struct model *model;
    struct trace *trace;
};

static void open_fixture(struct fixture *fixture, const struct late_options *late)
{
    struct late_options options = *late;
    plugin_fixture_open(&fixture->plugins);
    fixture->inner = plugin_fixture_backend(&fixture->plugins, "reference:f32");
    options.inner = fixture->inner;
    fixture->late = late_create(&options);
    fixture->model = plugin_fixture_model(&fixture->plugins, "models/tiny");
    cr_assert_eq(trace_create(fixture->late, &fixture->trace), TAPML_OK);
}

static void close_fixture(struct fixture *fixture)
{
    trace_destroy(fixture->trace);
    model_close(fixture->model);
    backend_release(fixture->late);
    backend_release(fixture->inner);
    plugin_fixture_close(&fixture->plugins);
}

// Feeds the prompt and then one of its ids, all on the traced backend.
static tapml_status feed(struct fixture *fixture)
{
    static const char *const names[] = {"source"};
    struct backend *backend = trace_backend(fixture->trace);
    struct places places;
    struct plan *plan = NULL;
    struct session *session = NULL;
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    const struct session_options options = {
        .model = fixture->model,
        .places = places_over(&places, &backend, names, 1),
        .place_count = 1,
        .plan = plan,
        .capacity = 16,
        .chunk = 8,
    };
    cr_assert_eq(session_create(&options, &session), TAPML_OK, "%s", status_message());
    tapml_status status = session_feed(session, prompt, 4);
    status = status == TAPML_OK ? session_feed(session, prompt, 1) : status;
    session_destroy(session);
    plan_destroy(plan);
    return status;
}

static uint64_t time_of_all(const struct trace *trace)
{
    uint64_t time_ns = 0;
    for (size_t i = 0; i < trace_count(trace); i++) {
        time_ns += trace_at(trace, i)->time_ns;
    }
    return time_ns;
}

static void expect_lines(const struct fixture *fixture)
{
    const struct graph *graph = model_graph(fixture->model);
    uint64_t calls = 0, launches = 0;
    for (size_t i = 0; i < trace_count(fixture->trace); i++) {
        const struct trace_line *line = trace_at(fixture->trace, i);
        uint64_t instances = 0;
        for (uint32_t op = 0; op < graph->op_count; op++) {
            instances += strcmp(graph->ops[op].op->name, line->op->name) == 0;
        }
        cr_expect_eq(line->calls, 2 * instances, "%s", line->op->name);
        cr_expect_gt(line->time_ns, 0);
        calls += line->calls;
        launches += line->launches;
    }
    cr_expect_eq(calls, 2 * graph->op_count);
    cr_expect_eq(launches, calls, "the late device launches once a call");
    cr_expect_eq(late_counts(fixture->late).calls, calls);
}

static void count_every_op(enum late_notices notices)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){.notices = notices});
    cr_expect_eq(trace_count(fixture.trace), 0);
    const uint64_t begin_ns = clock_now_ns();
    cr_assert_eq(feed(&fixture), TAPML_OK, "%s", status_message());
    cr_expect_leq(time_of_all(fixture.trace), clock_now_ns() - begin_ns);
    expect_lines(&fixture);
    const struct late_counts counts = late_counts(fixture.late);
    if (notices == LATE_NOTIFIES) {
        cr_expect_lt(counts.waits, 8, "it waits no more than a session does, %d times",
                     (int)counts.waits);
    } else {
        cr_expect_geq(counts.waits, counts.calls);
    }
    cr_expect_str_eq(trace_at(fixture.trace, 0)->op->name, "tapml.embed");
    cr_expect_eq(trace_find(fixture.trace, &tapml_embed), trace_at(fixture.trace, 0));
    cr_expect_null(trace_find(fixture.trace, &tapml_copy));
    close_fixture(&fixture);
}

Test(trace, counts_every_op)
{
    count_every_op(LATE_SILENT);
    trace_destroy(NULL);
}

Test(trace, counts_every_op_without_waiting)
{
    count_every_op(LATE_NOTIFIES);
}

// Each call is a span, whose times are those of the lines.
static void draw_every_call(enum late_notices notices)
{
    struct fixture fixture;
    struct scratch scratch;
    struct timeline *timeline = NULL;
    struct timeline_track *track = NULL;
    double drawn_us = 0;
    open_fixture(&fixture, &(struct late_options){.notices = notices});
    scratch_make(&scratch);
    cr_assert_eq(timeline_create(scratch_path(&scratch, "t.json"), &timeline), TAPML_OK);
    cr_assert_eq(timeline_track(timeline, "gpu", "device", &track), TAPML_OK);
    trace_draw(fixture.trace, track);
    cr_assert_eq(feed(&fixture), TAPML_OK, "%s", status_message());
    cr_assert_eq(timeline_finish(timeline), TAPML_OK);
    json_t *events = events_read(scratch_path(&scratch, "t.json"));
    cr_expect_eq(events_count(events, "X", NULL), 2 * model_graph(fixture.model)->op_count);
    for (size_t i = 0; i < json_array_size(events); i++) {
        drawn_us += events_number(json_array_get(events, i), "dur");
    }
    cr_expect_float_eq(drawn_us * 1e3, (double)time_of_all(fixture.trace), 1);
    json_decref(events);
    close_fixture(&fixture);
    timeline_destroy(timeline);
    scratch_remove(&scratch);
}

Test(trace, draws_every_call)
{
    draw_every_call(LATE_SILENT);
    draw_every_call(LATE_NOTIFIES);
}

// More calls than it keeps track of, without a wait between them.
Test(trace, keeps_track_of_any_number_of_calls)
{
    enum { CALLS = 300, BYTES = 64 };
    const int64_t shape[] = {4, 4};
    struct fixture fixture;
    tapml_object *buffers[2] = {NULL};
    open_fixture(&fixture, &(struct late_options){.notices = LATE_NOTIFIES});
    struct backend *backend = trace_backend(fixture.trace);
    tapml_tensor tensors[2];
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(backend_buffer_new(backend, BYTES, &buffers[i]), TAPML_OK);
        tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = TAPML_F32,
                                    .rank = 2,
                                    .shape = shape,
                                    .buffer = buffers[i]};
    }
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[1]}};
    const struct backend_call call = {.op = &tapml_silu, .args = args, .instance = "here"};
    for (int i = 0; i < CALLS; i++) {
        cr_assert_eq(calls_make(backend, &call), TAPML_OK, "%s", status_message());
    }
    const uint64_t waits = late_counts(fixture.late).waits;
    cr_expect(waits > 0 && waits < CALLS / 2, "%d waits, for the oldest calls", (int)waits);
    cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
    cr_expect_eq(trace_find(fixture.trace, &tapml_silu)->calls, CALLS);
    cr_expect_gt(trace_find(fixture.trace, &tapml_silu)->time_ns, CALLS);
    backend_buffer_free(backend, buffers[0]);
    backend_buffer_free(backend, buffers[1]);
    close_fixture(&fixture);
}

// What is moved before a call is no part of its time.
static void leave_transfers_out(enum late_notices notices)
{
    const uint64_t write_ns = 10000000; // Far more than a call takes, on a busy machine too.
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){.notices = notices, .write_ns = write_ns});
    cr_assert_eq(feed(&fixture), TAPML_OK, "%s", status_message());
    cr_expect_gt(late_counts(fixture.late).writes, 20);
    cr_expect_lt(time_of_all(fixture.trace), late_counts(fixture.late).writes * write_ns / 2);
    close_fixture(&fixture);
}

Test(trace, leaves_transfers_out)
{
    leave_transfers_out(LATE_SILENT);
    leave_transfers_out(LATE_NOTIFIES);
}

// A failure of queued work names its op, however it is measured.
Test(trace, passes_failures_on)
{
    for (int notices = LATE_SILENT; notices <= LATE_NOTIFIES; notices++) {
        struct fixture fixture;
        open_fixture(&fixture, &(struct late_options){.fails = "layers.1/mlp/down_proj",
                                                      .notices = (enum late_notices)notices});
        cr_expect_neq(feed(&fixture), TAPML_OK);
        cr_expect(strstr(status_message(), "layers.1/mlp/down_proj"), "%s", status_message());
        close_fixture(&fixture);
    }
}

// Work that was waited for has been notified of, or the backend is wrong.
Test(trace, misses_what_is_not_notified)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){.notices = LATE_FORGETS});
    (void)feed(&fixture);
    cr_expect_eq(backend_wait(trace_backend(fixture.trace)), TAPML_INTERNAL);
    cr_expect_str_eq(status_message(), "late: it has not notified of work that it has done");
    close_fixture(&fixture);
}

static tapml_status make_trace(struct backend *inner)
{
    struct trace *trace = NULL;
    TAPML_TRY(trace_create(inner, &trace));
    trace_destroy(trace);
    return TAPML_OK;
}

Test(trace, survives_a_lack_of_memory)
{
    struct fixture fixture;
    open_fixture(&fixture, &(struct late_options){.rows_max = 0});
    SCRATCH_SWEEP(make_trace(fixture.late));
    close_fixture(&fixture);
}
