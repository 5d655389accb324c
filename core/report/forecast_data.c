// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/forecast_data.h"

#include "report/report_maker.h"
#include "schema/catalogue.h"

#include <string.h>

static json_t *array_in(struct report_maker *maker, const char *key)
{
    json_t *array = json_array();

    report_maker_put(maker, key, array);
    return array;
}

// A number that is NaN where it is unknown: then null.
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

static uint64_t bytes_of(const struct forecasted_row *row)
{
    return forecast_limits_bytes(&(struct forecast_memory){.weights = row->weights_bytes,
                                                           .states = row->states_bytes,
                                                           .activations = row->activations_bytes});
}

static int fits(const struct forecast_data *data)
{
    const uint64_t room = (uint64_t)data->device->memory_bytes;

    return room == 0 || bytes_of(data->row) <= room;
}

static void add_memory(const struct forecast_data *data, struct report_maker *maker)
{
    const int64_t room = data->device->memory_bytes;
    struct report_maker part = report_maker_begin();

    report_maker_count(&part, "weights", data->row->weights_bytes);
    report_maker_count(&part, "states", data->row->states_bytes);
    report_maker_count(&part, "activations", data->row->activations_bytes);
    report_maker_count(&part, "all", bytes_of(data->row));
    report_maker_put(&part, "device", room > 0 ? json_integer(room) : json_null());
    report_maker_put(&part, "fits", room > 0 ? json_boolean(fits(data)) : json_null());
    report_maker_part(maker, "memory", &part);
}

// -- Ops ---------------------------------------------------------------------------------------

static void put_op(struct report_maker *maker, const char *instance, const char *op)
{
    report_maker_text(maker, "instance", instance);
    report_maker_text(maker, "op", catalogue_shorten(op));
}

static void add_limits(const struct forecasted_row *row, struct report_maker *maker)
{
    json_t *array = array_in(maker, "limits");

    for (size_t i = 0; i < row->limit_count; i++) {
        const struct forecasted_limit *limit = &row->limits[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "kind", limit->kind);
        put_op(&part, limit->instance, limit->op);
        report_maker_count(&part, "needed", limit->needed);
        report_maker_count(&part, "limit", limit->allowed);
        report_maker_text(&part, "sentence", limit->sentence);
        report_maker_append(maker, array, &part);
    }
}

static void add_ranges(const struct forecasted_row *row, struct report_maker *maker)
{
    json_t *array = array_in(maker, "ranges");

    for (size_t i = 0; i < row->range_count; i++) {
        const struct forecasted_range *range = &row->ranges[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "type", range->type);
        put_op(&part, range->instance, range->op);
        put_flag(&part, "leaves", forecast_rows_leaves(range));
        put_flag(&part, "loses", forecast_rows_loses(range));
        report_maker_count(&part, "values", range->elements);
        report_maker_put(&part, "largest", report_maker_number(range->largest));
        report_maker_count(&part, "beyond", range->beyond);
        report_maker_count(&part, "below", range->below);
        report_maker_count(&part, "zeroed", range->zeroed);
        report_maker_put(&part, "relative", report_maker_number(range->relative));
        report_maker_put(&part, "worst", report_maker_number(range->worst));
        report_maker_append(maker, array, &part);
    }
}

// -- Times -------------------------------------------------------------------------------------

static void
add_kinds(const struct forecasted_row *row, const char *phase, struct report_maker *maker)
{
    json_t *array = array_in(maker, "kinds");

    for (size_t i = 0; i < row->kind_count; i++) {
        const struct forecasted_kind *kind = &row->kinds[i];

        if (strcmp(kind->phase, phase) != 0) {
            continue;
        }
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "op", catalogue_shorten(kind->op));
        report_maker_count(&part, "calls", kind->calls);
        report_maker_put(&part, "bytes", report_maker_number(kind->bytes));
        report_maker_put(&part, "operations", report_maker_number(kind->operations));
        put_known(&part, "seconds", kind->seconds);
        report_maker_append(maker, array, &part);
    }
}

static void add_times(const struct forecasted_row *row, struct report_maker *maker)
{
    json_t *array = array_in(maker, "times");

    for (size_t i = 0; i < row->time_count; i++) {
        const struct forecasted_time *time = &row->times[i];
        struct report_maker part = report_maker_begin();

        add_kinds(row, time->phase, &part);
        report_maker_text(&part, "what", time->phase);
        report_maker_count(&part, "tokens", time->tokens);
        report_maker_count(&part, "position", time->first_token);
        report_maker_put(&part, "bytes", report_maker_number(time->bytes));
        report_maker_put(&part, "operations", report_maker_number(time->operations));
        report_maker_count(&part, "launches", time->launches);
        put_known(&part, "seconds", time->seconds);
        put_flag(&part, "has_bandwidth", time->has_bandwidth);
        put_flag(&part, "has_rate", time->has_rate);
        put_flag(&part, "has_launch", time->has_launch);
        report_maker_append(maker, array, &part);
    }
}

// -- All of it ---------------------------------------------------------------------------------

// How many ops of a type leave its range, or lose precision in it.
static uint64_t count_ranges(const struct forecasted_row *row,
                             const char *type,
                             int (*is_counted)(const struct forecasted_range *range))
{
    uint64_t count = 0;

    for (size_t i = 0; i < row->range_count; i++) {
        count += strcmp(row->ranges[i].type, type) == 0 && is_counted(&row->ranges[i]);
    }
    return count;
}

static uint64_t count_refused(const struct forecasted_row *row)
{
    uint64_t count = 0;

    for (size_t i = 0; i < row->limit_count; i++) {
        count += strcmp(row->limits[i].kind, forecast_limits_name(FORECAST_REFUSED)) == 0;
    }
    return count;
}

static void add_verdict(const struct forecast_data *data, struct report_maker *maker)
{
    const struct forecasted_row *row = data->row;
    const uint64_t refused = count_refused(row);
    struct report_maker part = report_maker_begin();

    put_flag(&part, "is_clear", refused == 0 && row->range_count == 0 && fits(data));
    report_maker_count(&part, "refused", refused);
    report_maker_count(&part, "leave_f16", count_ranges(row, "f16", forecast_rows_leaves));
    report_maker_count(&part, "lose_f16", count_ranges(row, "f16", forecast_rows_loses));
    report_maker_count(&part, "leave_bf16", count_ranges(row, "bf16", forecast_rows_leaves));
    report_maker_count(&part, "lose_bf16", count_ranges(row, "bf16", forecast_rows_loses));
    report_maker_part(maker, "verdict", &part);
}

tapml_status forecast_data_create(const struct forecast_data *data, json_t **out_document)
{
    const struct forecasted_row *row = data->row;
    struct report_maker maker = report_maker_begin();

    if (row->name != NULL) {
        report_maker_text(&maker, "name", row->name);
    }
    add_verdict(data, &maker);
    report_maker_text(&maker, "model", data->model);
    report_maker_text(&maker, "source", data->source);
    report_maker_text(&maker, "activations", row->activations);
    report_maker_count(&maker, "capacity", data->capacity);
    report_maker_count(&maker, "chunk", data->chunk);
    report_maker_count(&maker, "prompts", data->prompts);
    report_maker_count(&maker, "tokens", row->tokens);
    report_maker_count(&maker, "ops", data->ops);
    add_device(data->device, &maker);
    add_memory(data, &maker);
    add_ranges(row, &maker);
    add_limits(row, &maker);
    add_times(row, &maker);
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
