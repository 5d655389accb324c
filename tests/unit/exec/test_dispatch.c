// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "compiled.h"
#include "exec/dispatch.h"
#include "exec/session.h"
#include "harness/drawn_plans.h"
#include "harness/sanitized.h"

#include <stdio.h>

// `bench/dispatch` draws 10,000.
Test(dispatch, computes_the_same_bits_within_budgets_and_names_the_first_failure, .timeout = 60)
{
    enum { SEED = 20261128, DRAWN = SANITIZED_COUNT(200, 4) };
    struct plugin_fixture plugins;
    struct drawn_figures figures = {0};
    plugin_fixture_open(&plugins);
    struct backend *source = plugin_fixture_backend(&plugins, "reference:f32");
    struct backend *inner = plugin_fixture_backend(&plugins, "reference:f32");
    for (uint64_t i = 0; i < DRAWN; i++) {
        cr_assert_eq(drawn_plans_try(source, inner, SEED + i, &figures), TAPML_OK, "%s",
                     status_message());
    }
    cr_expect_gt(figures.budgets, DRAWN);
    cr_expect_gt(figures.refused, 0);
    cr_expect_gt(figures.failing, DRAWN / 2);
    cr_expect_gt(figures.several, DRAWN / 4);
    cr_expect_gt(figures.good, 0);
    cr_expect_lt(figures.ahead_ns, figures.waited_ns);
    backend_release(inner);
    backend_release(source);
    plugin_fixture_close(&plugins);
}

// Every op anywhere.
static void shuffle(struct session *session, const struct graph *graph, struct random *random)
{
    struct plan *plan = NULL;
    char rule[256];
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    for (uint32_t i = 0; i < graph->op_count; i++) {
        (void)snprintf(rule, sizeof(rule), "instance=%s -> %s", graph->ops[i].instance,
                       names[random_below(random, PLACES)]);
        cr_assert_eq(plan_add(plan, rule, "here"), TAPML_OK, "%s", status_message());
    }
    cr_assert_eq(session_set_plan(session, plan), TAPML_OK, "%s", status_message());
    plan_destroy(plan);
}

static struct session *
open_session(struct model *model, struct backend *const *backends, uint32_t count)
{
    struct places over;
    struct session *session = NULL;
    struct plan *plan = NULL;
    cr_assert_eq(plan_create(&plan), TAPML_OK);
    const struct session_options options = {.model = model,
                                            .places = places_over(&over, backends, names, count),
                                            .place_count = count,
                                            .plan = plan,
                                            .capacity = CAPACITY,
                                            .chunk = 4};
    cr_assert_eq(session_create(&options, &session), TAPML_OK, "%s", status_message());
    cr_assert_eq(session_begin(session, 0), TAPML_OK);
    plan_destroy(plan);
    return session;
}

static void expect_equal(struct session *a, struct session *b, const char *name)
{
    const float *values[2] = {NULL, NULL};
    int64_t shape[TAPML_MAX_RANK], count = 1;
    uint32_t rank = 0;
    cr_assert_eq(session_output(a, name, &values[0], shape, &rank), TAPML_OK);
    cr_assert_eq(session_output(b, name, &values[1], shape, &rank), TAPML_OK, "%s",
                 status_message());
    for (uint32_t i = 0; i < rank; i++) {
        count *= shape[i];
    }
    cr_assert_arr_eq(values[0], values[1], (size_t)count * sizeof(float), "%s differs", name);
}

// A whole model, with states that move, on devices that are late by chance and wait for each other.
// Of every second step nobody reads anything.
Test(dispatch, computes_the_same_bits_whenever_devices_are_done)
{
    enum { SEED = 20261128, STEPS = 12 };
    struct plugin_fixture plugins;
    struct random random;
    const int32_t ids[3] = {5, 6, 7};
    random_init(&random, SEED);
    plugin_fixture_open(&plugins);
    struct late_clock *clock = late_clock_create(0);
    struct backend *source = plugin_fixture_backend(&plugins, "reference:f32");
    struct late_options options = {.inner = source,
                                   .clock = clock,
                                   .latency_ns = 2000000,
                                   .busy_ns = 100000,
                                   .jitter_ns = 4000000,
                                   .follows = 1};
    struct backend *backends[PLACES] = {source, late_create(&options), NULL};
    options.seed = SEED;
    backends[NPU] = late_create(&options);
    struct model *model = plugin_fixture_model(&plugins, "models/tiny");
    struct session *plain = open_session(model, &source, 1);
    struct session *mixed = open_session(model, backends, PLACES);
    for (int step = 0; step < STEPS; step++) {
        if (step % 3 == 0) {
            shuffle(mixed, model_graph(model), &random);
        }
        cr_assert_eq(session_step(plain, ids, 1 + step % 3, NULL, 0), TAPML_OK);
        cr_assert_eq(session_step(mixed, ids, 1 + step % 3, NULL, 0), TAPML_OK, "%s",
                     status_message());
        if (step % 2 > 0) {
            expect_equal(plain, mixed, "logits");
            expect_equal(plain, mixed, "hidden.2");
        }
    }
    session_destroy(mixed);
    session_destroy(plain);
    model_close(model);
    backend_release(backends[NPU]);
    backend_release(backends[GPU]);
    backend_release(source);
    late_clock_destroy(clock);
    plugin_fixture_close(&plugins);
}

static tapml_status order(struct fixture *fixture, struct program *program, const uint8_t *places)
{
    return dispatch_order(&(struct dispatch_options){.graph = &fixture->sketch.graph,
                                                     .spaces = &fixture->spaces,
                                                     .values = fixture->values,
                                                     .bindings = fixture->bindings,
                                                     .places = places},
                          program);
}

// What is in order stays so, whatever is asked for again.
Test(dispatch, leaves_what_is_in_order)
{
    struct fixture fixture;
    struct program *program = NULL;
    struct text texts[2];
    static const uint8_t places[OPS] = {GPU, NPU, SOURCE, GPU};
    open_fixture(&fixture);
    cr_assert_eq(compile(&fixture, places, 0, &program), TAPML_OK);
    for (int i = 0; i < 2; i++) {
        text_init(&texts[i]);
        program_print(program, &fixture.sketch.graph, names, &texts[i]);
        cr_expect_eq(order(&fixture, program, places), TAPML_OK);
    }
    cr_expect_str_eq(texts[0].data, texts[1].data);
    text_release(&texts[0]);
    text_release(&texts[1]);
    program_destroy(program);
    close_fixture(&fixture);
}
