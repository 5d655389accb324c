// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/forecast_data.h"

#include "report/report_maker.h"
#include "schema/catalogue.h"

#include <math.h>

static json_t *array_in(struct report_maker *maker, const char *key)
{
    json_t *array = json_array();

    report_maker_put(maker, key, array);
    return array;
}

// A number that is 0 where it is unknown: then null.
static void put_known(struct report_maker *maker, const char *key, double value)
{
    report_maker_put(maker, key, value > 0 ? report_maker_number(value) : json_null());
}

static void put_flag(struct report_maker *maker, const char *key, int value)
{
    report_maker_put(maker, key, json_boolean(value != 0));
}

// -- The device --------------------------------------------------------------------------------

static void add_device(const struct device_file *file, struct report_maker *maker)
{
    struct report_maker device = report_maker_begin();
    json_t *sources = array_in(&device, "sources");

    report_maker_text(&device, "name", file->name);
    report_maker_text(&device, "driver", file->driver);
    for (size_t i = 0; device_file_source(file, i) != NULL; i++) {
        device.failed |=
            json_array_append_new(sources, report_maker_string(device_file_source(file, i)));
    }
    report_maker_part(maker, "device", &device);
}

static int fits(const struct forecast *forecast)
{
    const uint64_t room = (uint64_t)forecast->frame->given.file->memory_bytes;

    return room == 0 || forecast_limits_bytes(&forecast->limits->memory) <= room;
}

static void add_memory(const struct forecast *forecast, struct report_maker *maker)
{
    const struct forecast_memory *memory = &forecast->limits->memory;
    const int64_t room = forecast->frame->given.file->memory_bytes;
    struct report_maker part = report_maker_begin();

    report_maker_count(&part, "weights", memory->weights);
    report_maker_count(&part, "states", memory->states);
    report_maker_count(&part, "activations", memory->activations);
    report_maker_count(&part, "all", forecast_limits_bytes(memory));
    report_maker_put(&part, "device", room > 0 ? json_integer(room) : json_null());
    report_maker_put(&part, "fits", room > 0 ? json_boolean(fits(forecast)) : json_null());
    report_maker_part(maker, "memory", &part);
}

// -- Ops ---------------------------------------------------------------------------------------

static void put_op(struct report_maker *maker, const struct graph_op *op)
{
    report_maker_text(maker, "instance", op->instance);
    report_maker_text(maker, "op", catalogue_short_name(op->op));
}

static void add_limits(const struct forecast *forecast, struct report_maker *maker)
{
    json_t *array = array_in(maker, "limits");

    for (size_t i = 0; i < forecast->limits->count; i++) {
        const struct forecast_limit *limit = &forecast->limits->items[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "kind", forecast_limits_name(limit->kind));
        put_op(&part, &forecast->frame->graph->ops[limit->op]);
        report_maker_count(&part, "needed", limit->needed);
        report_maker_count(&part, "limit", limit->limit);
        report_maker_text(&part, "sentence", limit->sentence);
        report_maker_append(maker, array, &part);
    }
}

static int is_named(const struct forecast_loss *loss, enum forecast_type type)
{
    return forecast_values_leaves(loss) || forecast_values_loses(loss, type);
}

static void add_range(const struct forecast *forecast,
                      uint32_t op,
                      enum forecast_type type,
                      struct report_maker *maker,
                      json_t *array)
{
    const struct forecast_loss *loss = &forecast->values->ops[op].types[type];
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "type", activation_type(forecast_values_activation(type))->name);
    put_op(&part, &forecast->frame->graph->ops[op]);
    put_flag(&part, "leaves", forecast_values_leaves(loss));
    put_flag(&part, "loses", forecast_values_loses(loss, type));
    report_maker_count(&part, "values", loss->sum.count);
    report_maker_put(&part, "largest", report_maker_number(loss->sum.largest));
    report_maker_count(&part, "beyond", loss->sum.beyond);
    report_maker_count(&part, "below", loss->sum.below);
    report_maker_count(&part, "zeroed", loss->sum.zeroed);
    report_maker_put(&part, "relative", report_maker_number(range_relative(&loss->sum)));
    report_maker_put(&part, "worst", report_maker_number(loss->worst));
    report_maker_append(maker, array, &part);
}

static void add_ranges(const struct forecast *forecast, struct report_maker *maker)
{
    json_t *array = array_in(maker, "ranges");

    for (int type = 0; type < FORECAST_TYPES; type++) {
        for (uint32_t op = 0; op < forecast->frame->graph->op_count; op++) {
            if (is_named(&forecast->values->ops[op].types[type], (enum forecast_type)type)) {
                add_range(forecast, op, (enum forecast_type)type, maker, array);
            }
        }
    }
}

// -- Times -------------------------------------------------------------------------------------

static void add_time(const struct forecast_cost *cost,
                     const char *what,
                     struct report_maker *maker,
                     json_t *array)
{
    struct report_maker part = report_maker_begin();
    json_t *kinds = array_in(&part, "kinds");

    report_maker_text(&part, "what", what);
    report_maker_count(&part, "tokens", (uint64_t)cost->tokens);
    report_maker_count(&part, "position", (uint64_t)cost->position);
    report_maker_put(&part, "bytes", report_maker_number(cost->bytes));
    report_maker_put(&part, "operations", report_maker_number(cost->operations));
    report_maker_count(&part, "launches", cost->launches);
    put_known(&part, "seconds", cost->seconds);
    put_flag(&part, "has_bandwidth", cost->has_bandwidth);
    put_flag(&part, "has_rate", cost->has_rate);
    put_flag(&part, "has_launch", cost->has_launch);
    for (size_t i = 0; i < cost->kind_count; i++) {
        const struct forecast_kind *kind = &cost->kinds[i];
        struct report_maker own = report_maker_begin();

        report_maker_text(&own, "op", catalogue_short_name(kind->op));
        report_maker_count(&own, "calls", kind->calls);
        report_maker_put(&own, "bytes", report_maker_number(kind->bytes));
        report_maker_put(&own, "operations", report_maker_number(kind->operations));
        put_known(&own, "seconds", kind->seconds);
        report_maker_append(&part, kinds, &own);
    }
    report_maker_append(maker, array, &part);
}

static void add_times(const struct forecast *forecast, struct report_maker *maker)
{
    json_t *array = array_in(maker, "times");

    add_time(forecast->prefill, "prefill", maker, array);
    if (forecast->decode != NULL) {
        add_time(forecast->decode, "decode", maker, array);
    }
}

// -- All of it ---------------------------------------------------------------------------------

// Ops of which something is said, by dtype and kind.
static void add_verdict(const struct forecast *forecast, struct report_maker *maker)
{
    uint64_t refused = 0, leaving[FORECAST_TYPES] = {0}, losing[FORECAST_TYPES] = {0};
    struct report_maker part = report_maker_begin();
    uint64_t all = 0;

    for (size_t i = 0; i < forecast->limits->count; i++) {
        refused += forecast->limits->items[i].kind == FORECAST_REFUSED;
    }
    for (uint32_t op = 0; op < forecast->frame->graph->op_count; op++) {
        for (int type = 0; type < FORECAST_TYPES; type++) {
            const struct forecast_loss *loss = &forecast->values->ops[op].types[type];

            leaving[type] += forecast_values_leaves(loss) != 0;
            losing[type] += forecast_values_loses(loss, (enum forecast_type)type) != 0;
        }
    }
    for (int type = 0; type < FORECAST_TYPES; type++) {
        all += leaving[type] + losing[type];
    }
    put_flag(&part, "is_clear", refused + all == 0 && fits(forecast));
    report_maker_count(&part, "refused", refused);
    report_maker_count(&part, "leave_f16", leaving[FORECAST_F16]);
    report_maker_count(&part, "lose_f16", losing[FORECAST_F16]);
    report_maker_count(&part, "leave_bf16", leaving[FORECAST_BF16]);
    report_maker_count(&part, "lose_bf16", losing[FORECAST_BF16]);
    report_maker_part(maker, "verdict", &part);
}

tapml_status forecast_data_create(const struct forecast *forecast, json_t **out_document)
{
    const struct forecast_frame *frame = forecast->frame;
    struct report_maker maker = report_maker_begin();

    add_verdict(forecast, &maker);
    report_maker_text(&maker, "model", forecast->model);
    report_maker_text(&maker, "source", forecast->source);
    report_maker_text(&maker, "activations", activation_type(frame->given.activation)->name);
    report_maker_count(&maker, "capacity", (uint64_t)frame->given.capacity);
    report_maker_count(&maker, "chunk", (uint64_t)frame->given.chunk);
    report_maker_count(&maker, "prompts", forecast->prompts);
    report_maker_count(&maker, "tokens", forecast->values->tokens);
    report_maker_count(&maker, "ops", frame->graph->op_count);
    add_device(frame->given.file, &maker);
    add_memory(forecast, &maker);
    add_ranges(forecast, &maker);
    add_limits(forecast, &maker);
    add_times(forecast, &maker);
    const tapml_status status = report_maker_finish(&maker);

    if (status != TAPML_OK) {
        json_decref(maker.object);
        return status;
    }
    *out_document = maker.object;
    return TAPML_OK;
}

int forecast_data_is_clear(const json_t *document)
{
    return json_is_true(json_object_get(json_object_get(document, "verdict"), "is_clear"));
}
