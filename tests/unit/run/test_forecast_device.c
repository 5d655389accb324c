// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/forecast_fixture.h"
#include "run/forecast_device.h"

// What the device of a text answers about an op of the embedded model in a call of 16 tokens.
static tapml_support answer(const char *figures, enum activation activation, const char *instance)
{
    struct forecast_fixture fixture;
    tapml_support answer = {.grade = 0};

    forecast_fixture_open(&fixture, figures, activation);
    const struct affine_point point = forecast_frame_point(&fixture.frame, 16, 0);
    const uint32_t op = graph_find_op(fixture.frame.graph, instance);
    const struct binding *binding = forecast_frame_bind(&fixture.frame, op, &point);

    FORECAST_MUST(
        backend_supports(fixture.frame.device, binding->op->schema, binding->args, &answer));
    forecast_fixture_close(&fixture);
    return answer;
}

static void
refused(const char *figures, enum activation activation, const char *instance, const char *reason)
{
    const tapml_support given = answer(figures, activation, instance);

    cr_assert_eq(given.grade, TAPML_SUPPORT_NO, "%s", figures);
    cr_assert_str_eq(given.reason, reason);
}

static void taken(const char *figures, enum activation activation, const char *instance)
{
    cr_assert_eq(answer(figures, activation, instance).grade, TAPML_SUPPORT_YES, "%s", figures);
}

#define ROPE "layers.0/attn/q_rope"
#define SILU "layers.0/mlp/silu"

Test(forecast_device, refuses_by_its_figures)
{
    refused("[kernel]\nbindings = 3\n", ACTIVATION_F32, ROPE, "binds 4 buffers, a kernel has 3");
    taken("[kernel]\nbindings = 4\n", ACTIVATION_F32, ROPE);
    refused("[arithmetic]\nf16 = none\n", ACTIVATION_F16, SILU,
            "activations are f16, which the device does not keep");
    taken("[arithmetic]\nf16 = none\n", ACTIVATION_F32, SILU);
    taken("[arithmetic]\nf16 = storage\n", ACTIVATION_F16, SILU);
    taken("", ACTIVATION_F16, SILU);
    // 16 x 352 values are 88 groups of 64.
    refused("[kernel]\nitems = 64\ngroups = 9\n", ACTIVATION_F32, SILU,
            "5632 values, a grid of two axes has 5184 work items");
    taken("[kernel]\nitems = 64\ngroups = 10\n", ACTIVATION_F32, SILU);
    taken("[kernel]\ngroups = 1\n", ACTIVATION_F32, SILU);
}

Test(forecast_device, is_what_its_file_says_and_runs_nothing)
{
    struct forecast_fixture fixture;
    tapml_object *buffer = NULL;

    forecast_fixture_open(&fixture, "[memory]\nbytes = 999\nbuffer = 70\nbinding = 60\n",
                          ACTIVATION_F16);
    struct backend *device = fixture.frame.device;
    const struct backend_info *info = backend_info(device);

    cr_assert_str_eq(info->device_name, "X");
    cr_assert_eq(info->buffer_bytes_max, 60u);
    cr_assert_eq(info->memory_bytes, 999u);
    cr_assert_eq(info->activation, ACTIVATION_F16);
    cr_assert_not(info->is_host_memory);
    cr_assert_eq(backend_buffer_new(device, 16, &buffer), TAPML_UNIMPLEMENTED);
    cr_assert_str_eq(status_message(), "'X' is a file and runs nothing");
    cr_assert_eq(backend_wait(device), TAPML_OK);
    forecast_fixture_close(&fixture);
}
