// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/forecast_fixture.h"

static uint32_t output_of(const struct forecast_frame *frame, const char *instance)
{
    return frame->bindings[graph_find_op(frame->graph, instance)].tensors[1].value;
}

Test(forecast_frame, arguments_are_those_of_the_device)
{
    struct forecast_fixture fixture;

    forecast_fixture_open(&fixture, "", ACTIVATION_F16);
    const struct affine_point point = forecast_frame_point(&fixture.frame, 5, 3);
    const uint32_t op = graph_find_op(fixture.frame.graph, "layers.0/mlp/silu");
    const struct binding *binding = forecast_frame_bind(&fixture.frame, op, &point);

    cr_assert_eq(binding->tensors[0].tensor.dtype, TAPML_F16);
    cr_assert_eq(binding->tensors[0].shape[0], 5);
    cr_assert_eq(binding->tensors[0].shape[1], 352);
    forecast_fixture_close(&fixture);
}

// Buffers are for the longest call, and states for the capacity.
Test(forecast_frame, bytes_are_those_on_the_device)
{
    static const enum activation activations[] = {ACTIVATION_F32, ACTIVATION_F16};

    for (uint64_t i = 0; i < 2; i++) {
        struct forecast_fixture fixture;

        forecast_fixture_open(&fixture, "", activations[i]);
        const struct forecast_frame *frame = &fixture.frame;
        const struct graph *graph = frame->graph;
        const uint64_t bytes = 4 >> i;
        uint32_t state = 0;

        while (graph->values[state].kind != GRAPH_STATE) {
            state++;
        }
        cr_assert_eq(forecast_frame_bytes(frame, state), 32 * 2 * 32 * bytes);
        cr_assert_geq(forecast_frame_bytes(frame, output_of(frame, "layers.0/mlp/silu")),
                      16 * 352 * bytes);
        cr_assert_eq(forecast_frame_bytes(
                         frame, graph_find_value(graph, GRAPH_WEIGHT, "model.embed_tokens.weight")),
                     619u * 128 * 2);
        forecast_fixture_close(&fixture);
    }
}

Test(forecast_frame, a_chunk_above_the_capacity_is_refused)
{
    struct forecast_fixture fixture;
    struct forecast_frame frame;

    forecast_fixture_open(&fixture, "", ACTIVATION_F32);
    struct forecast_frame_options options = fixture.frame.given;

    options.chunk = 33;
    cr_assert_eq(forecast_frame_open(&options, &frame), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "expected a chunk of at most the capacity, 32, found 33");
    forecast_fixture_close(&fixture);
}
