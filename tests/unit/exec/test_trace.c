// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/session.h"
#include "exec/trace.h"
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

static void open_fixture(struct fixture *fixture, const char *fails)
{
    plugin_fixture_open(&fixture->plugins);
    fixture->inner = plugin_fixture_backend(&fixture->plugins, "reference:f32");
    fixture->late = late_create(&(struct late_options){.inner = fixture->inner, .fails = fails});
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

Test(trace, counts_every_op)
{
    struct fixture fixture;
    open_fixture(&fixture, NULL);
    cr_expect_eq(trace_count(fixture.trace), 0);
    cr_assert_eq(feed(&fixture), TAPML_OK, "%s", status_message());
    const struct graph *graph = model_graph(fixture.model);
    uint64_t calls = 0, launches = 0;
    for (size_t i = 0; i < trace_count(fixture.trace); i++) {
        const struct trace_line *line = trace_at(fixture.trace, i);
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
    cr_expect_eq(late_counts(fixture.late).calls, calls);
    cr_expect_str_eq(trace_at(fixture.trace, 0)->op->name, "tapml.embed");
    cr_expect_eq(trace_find(fixture.trace, &tapml_embed), trace_at(fixture.trace, 0));
    cr_expect_null(trace_find(fixture.trace, &tapml_copy));
    close_fixture(&fixture);
    trace_destroy(NULL);
}

// Work that is done late is waited for where it was asked for, so the failure is that op's.
Test(trace, passes_failures_on)
{
    struct fixture fixture;
    open_fixture(&fixture, "layers.1/mlp/down_proj");
    cr_expect_neq(feed(&fixture), TAPML_OK);
    cr_expect(strstr(status_message(), "layers.1/mlp/down_proj (tapml.linear) on source"), "%s",
              status_message());
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
    open_fixture(&fixture, NULL);
    SCRATCH_SWEEP(make_trace(fixture.late));
    close_fixture(&fixture);
}
