// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A graph of four ops over a source and two devices with memory of their own, to be compiled or
// scheduled.
#pragma once

#include "base/arena.h"
#include "exec/compile.h"
#include "exec/value.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plugin_fixture.h"
#include "harness/sketch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

enum { SOURCE, GPU, NPU, PLACES, WIDTH = 8, OPS = 4, CAPACITY = 64 };

static const float weight[WIDTH * WIDTH] = {1};
static const char *const names[] = {"source", "gpu", "npu"};

// norm -> product -> act -> sum, which reads what norm computed, too.
struct fixture {
    struct plugin_fixture plugins;
    struct backend *inner;
    struct backend *backends[PLACES];
    struct space_set spaces;
    struct sketch sketch;
    struct arena *arena;
    struct binding bindings[OPS];
    struct residency *weights[PLACES];
    struct value_set *values;
};

// The product reads the weight, or with `is_view` a view of all its columns. The weight has 256
// bytes in 8 rows, slots have 128.
static inline void make_graph(struct sketch *sketch, int is_view)
{
    const struct affine rows = sketch_sum(0, 1);
    sketch_init(sketch);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", rows, WIDTH);
    const uint32_t a = sketch_value(sketch, GRAPH_COMPUTED, "norm", rows, WIDTH);
    const uint32_t b = sketch_value(sketch, GRAPH_COMPUTED, "product", rows, WIDTH);
    const uint32_t c = sketch_value(sketch, GRAPH_COMPUTED, "act", rows, WIDTH);
    const uint32_t d = sketch_value(sketch, GRAPH_COMPUTED, "sum", rows, WIDTH);
    uint32_t w = sketch_value(sketch, GRAPH_WEIGHT, "w", sketch_sum(WIDTH, 0), WIDTH);
    sketch->values[w].data = weight;
    w = is_view ? sketch_columns(sketch, w, 0, WIDTH) : w;
    sketch_op(sketch, &tapml_rms_norm, "norm", (const uint32_t[]){x, GRAPH_NONE, a});
    sketch_op(sketch, &tapml_linear, "product", (const uint32_t[]){a, w, GRAPH_NONE, b});
    sketch_op(sketch, &tapml_silu, "act", (const uint32_t[]){b, c});
    sketch_op(sketch, &tapml_add, "sum", (const uint32_t[]){a, c, d});
    sketch_output(sketch, "y", d);
}

// Both devices are made of `late`, whose `inner` is not read.
static inline void
open_fixture_with(struct fixture *fixture, const struct late_options *late, int is_view)
{
    struct late_options options = *late;
    plugin_fixture_open(&fixture->plugins);
    make_graph(&fixture->sketch, is_view);
    fixture->inner = plugin_fixture_backend(&fixture->plugins, "reference:f32");
    fixture->backends[SOURCE] = plugin_fixture_backend(&fixture->plugins, "reference:f32");
    options.inner = fixture->inner;
    fixture->backends[GPU] = late_create(&options);
    fixture->backends[NPU] = late_create(&options);
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
}

static inline void open_fixture(struct fixture *fixture)
{
    open_fixture_with(fixture, &(struct late_options){0}, 0);
}

static inline void close_fixture(struct fixture *fixture)
{
    cr_assert_eq(space_wait_all(&fixture->spaces), TAPML_OK);
    value_set_destroy(fixture->values);
    space_set_release(&fixture->spaces);
    for (uint32_t i = 0; i < PLACES; i++) {
        residency_destroy(fixture->weights[i]);
        backend_release(fixture->backends[i]);
    }
    arena_destroy(fixture->arena);
    backend_release(fixture->inner);
    plugin_fixture_close(&fixture->plugins);
}

static inline tapml_status
compile(struct fixture *fixture, const uint8_t *places, int releases, struct program **out_program)
{
    const struct compile_options options = {
        .graph = &fixture->sketch.graph,
        .spaces = &fixture->spaces,
        .values = fixture->values,
        .bindings = fixture->bindings,
        .places = places,
        .point = {.value = {2, 0, 2, CAPACITY}},
        .releases_weights = releases,
    };
    return compile_program(&options, out_program);
}
