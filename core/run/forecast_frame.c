// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/forecast_frame.h"

#include "base/arena.h"
#include "exec/residency.h"
#include "run/forecast_device.h"
#include "tensor/encoding.h"

// As on the GPUs of sdk/gpu: tiles as they are stored, blocks of files spread.
static const unsigned takes = ENCODING_TAKES_TILES;

static tapml_status make_place(struct forecast_frame *frame)
{
    TAPML_TRY(forecast_device_create(frame->given.file, frame->given.activation, &frame->device));
    TAPML_TRY(residency_create(frame->device, &frame->weights));
    frame->place = (struct place){
        .settings = {.name = "device", .activation = frame->given.activation},
        .backend = frame->device,
        .weights = frame->weights,
    };
    struct place *const places[] = {frame->given.source, &frame->place};

    space_set_init(&frame->spaces, places, 2);
    return TAPML_OK;
}

static tapml_status make_bindings(struct forecast_frame *frame)
{
    frame->arena = arena_create();
    if (frame->arena == NULL) {
        return status_no_memory();
    }
    frame->bindings = arena_array(frame->arena, frame->graph->op_count, sizeof(*frame->bindings));
    if (frame->bindings == NULL) {
        return status_no_memory();
    }
    for (uint32_t op = 0; op < frame->graph->op_count; op++) {
        TAPML_TRY(binding_init(&frame->bindings[op], frame->graph, op, frame->arena));
    }
    return TAPML_OK;
}

static tapml_status make_schedule(struct forecast_frame *frame)
{
    const struct schedule_options options = {.graph = frame->graph,
                                             .spaces = &frame->spaces,
                                             .values = frame->values,
                                             .bindings = frame->bindings};

    TAPML_TRY(plan_create(&frame->plan));
    TAPML_TRY(plan_add(frame->plan, "* -> device", "forecast"));
    TAPML_TRY(schedule_create(&options, &frame->schedule));
    return schedule_set_plan(frame->schedule, frame->plan);
}

static tapml_status open_all(struct forecast_frame *frame)
{
    TAPML_TRY(make_place(frame));
    TAPML_TRY(make_bindings(frame));
    TAPML_TRY(value_set_create(frame->graph, &frame->spaces, &frame->largest, &frame->values));
    return make_schedule(frame);
}

tapml_status forecast_frame_open(const struct forecast_frame_options *options,
                                 struct forecast_frame *out_frame)
{
    if (options->chunk > options->capacity) {
        return status_fail(TAPML_INVALID,
                           "expected a chunk of at most the capacity, %lld, found %lld",
                           (long long)options->capacity, (long long)options->chunk);
    }
    *out_frame = (struct forecast_frame){
        .given = *options,
        .graph = model_graph(options->model),
        .largest = {.value[AFFINE_TOKENS] = options->chunk,
                    .value[AFFINE_POSITION] = options->capacity - 1,
                    .value[AFFINE_ROWS] = options->chunk,
                    .value[AFFINE_CAPACITY] = options->capacity},
    };
    const tapml_status status = open_all(out_frame);

    if (status != TAPML_OK) {
        forecast_frame_close(out_frame);
    }
    return status;
}

void forecast_frame_close(struct forecast_frame *frame)
{
    schedule_destroy(frame->schedule);
    plan_destroy(frame->plan);
    value_set_destroy(frame->values);
    space_set_release(&frame->spaces);
    arena_destroy(frame->arena);
    residency_destroy(frame->weights);
    backend_release(frame->device);
    *frame = (struct forecast_frame){.graph = NULL};
}

struct affine_point
forecast_frame_point(const struct forecast_frame *frame, int64_t tokens, int64_t position)
{
    return (struct affine_point){.value[AFFINE_TOKENS] = tokens,
                                 .value[AFFINE_POSITION] = position,
                                 .value[AFFINE_ROWS] = 1,
                                 .value[AFFINE_CAPACITY] = frame->given.capacity};
}

const struct binding *
forecast_frame_bind(struct forecast_frame *frame, uint32_t op, const struct affine_point *point)
{
    struct binding *binding = &frame->bindings[op];

    binding_evaluate(binding, point);
    binding_set_activation(binding, value_marks(frame->values), frame->given.activation);
    binding_set_encodings(binding, takes);
    return binding;
}

tapml_tensor forecast_frame_form(const struct forecast_frame *frame, uint32_t value, int64_t *shape)
{
    const struct graph_value *weight = &frame->graph->values[value];

    const struct encoding_form form = encoding_on_device(weight->encoding, weight->dtype, takes);

    for (uint32_t i = 0; i < weight->rank; i++) {
        shape[i] = weight->shape[i].constant;
    }
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = form.dtype,
                          .rank = weight->rank,
                          .shape = shape,
                          .encoding = form.encoding};
}

uint64_t forecast_frame_bytes(const struct forecast_frame *frame, uint32_t value)
{
    const enum graph_kind kind = frame->graph->values[value].kind;
    int64_t shape[TAPML_MAX_RANK];
    uint64_t bytes = 0;

    if (kind != GRAPH_WEIGHT && kind != GRAPH_CONSTANT) {
        return value_buffer_bytes(frame->values, value, FORECAST_FRAME_DEVICE);
    }
    const tapml_tensor form = forecast_frame_form(frame, value, shape);

    // A weight of another size has no place in a graph.
    return encoding_bytes(form.encoding, form.dtype, shape, form.rank, &bytes) == TAPML_OK ? bytes
                                                                                           : 0;
}
