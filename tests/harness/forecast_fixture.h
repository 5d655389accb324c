// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A fixture's calls on a device that a text describes: what tests of forecasts stand on.
#pragma once

#include "base/alloc.h"
#include "harness/scratch.h"
#include "run/forecast_frame.h"
#include "run/forecast_values.h"
#include "run/setup.h"

#define FORECAST_MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

struct forecast_fixture {
    struct setup setup;
    struct device_file file;
    struct forecast_frame frame;
};

static inline void forecast_fixture_setup(struct forecast_fixture *fixture, const char *model)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    struct options options;
    char program[1024];

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    FORECAST_MUST(options_parse(specs, 0, NULL, &options));
    FORECAST_MUST(setup_open(program, &options, NULL, &fixture->setup));
    FORECAST_MUST(
        setup_model(&fixture->setup, &(struct model_options){.folder = scratch_source(model)}));
    FORECAST_MUST(setup_place(&fixture->setup, "source", "reference:f32"));
}

// `figures` is what stands behind [device] in the file. The embedded model: calls of 16 tokens of
// sequences of 32.
static inline void forecast_fixture_open(struct forecast_fixture *fixture,
                                         const char *figures,
                                         enum activation activation)
{
    char text[1024];

    forecast_fixture_setup(fixture, "models/tiny");
    (void)snprintf(text, sizeof(text), "[device]\nname = X\nsource = a test\n%s", figures);
    FORECAST_MUST(device_file_parse("x.ini", text, strlen(text), &fixture->file));
    FORECAST_MUST(
        forecast_frame_open(&(struct forecast_frame_options){.model = fixture->setup.model,
                                                             .source = fixture->setup.places[0],
                                                             .file = &fixture->file,
                                                             .activation = activation,
                                                             .capacity = 32,
                                                             .chunk = 16},
                            &fixture->frame));
}

// Values of the embedded model, as of a run of 7 tokens, of which `beyond` of one op leave f16. To
// be freed by forecast_values_release.
static inline struct forecast_values forecast_fixture_values(const struct graph *graph,
                                                             uint64_t beyond)
{
    struct forecast_op *ops = alloc_array(graph->op_count, sizeof(*ops));

    cr_assert_not_null(ops);
    ops[graph_find_op(graph, "layers.1/mlp/mul")].types[FORECAST_F16].sum =
        (struct range_loss){.count = 10, .beyond = beyond, .largest = 1e6};
    return (struct forecast_values){.graph = graph, .ops = ops, .tokens = 7};
}

static inline void forecast_fixture_close(struct forecast_fixture *fixture)
{
    forecast_frame_close(&fixture->frame);
    device_file_release(&fixture->file);
    setup_close(&fixture->setup);
}
