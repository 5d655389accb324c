// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_data.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "report/forecasting.h"
#include "report/report_bottleneck.h"
#include "report/report_maker.h"
#include "report/report_target.h"
#include "report/report_usage.h"
#include "run/delta_losses.h"
#include "run/run_metadata.h"
#include "store/carved.h"
#include "store/loss.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "tensor/dtype.h"

#include <stdio.h>
#include <string.h>

// -- The run -----------------------------------------------------------------------------------

static void
put_metadata(struct report_maker *maker, struct store *store, const char *key, const char *metadata)
{
    report_maker_text(maker, key, metadata_get(store, metadata));
}

// A number that is 0 where the store does not know it.
static void
put_count(struct report_maker *maker, struct store *store, const char *key, const char *metadata)
{
    report_maker_count(maker, key, metadata_count(store, metadata));
}

static void put_run(struct report_maker *report, struct store *store)
{
    struct report_maker part = report_maker_begin();

    put_metadata(&part, store, "name", "run.name");
    put_metadata(&part, store, "host", "host.version");
    put_metadata(&part, store, "compiler", "host.compiler");
    put_count(&part, store, "decode", "decode");
    put_count(&part, store, "capacity", "capacity");
    put_count(&part, store, "chunk", "chunk");
    put_metadata(&part, store, "keep", "keep");
    put_metadata(&part, store, "prompts_hash", "prompts.hash");
    put_count(&part, store, "derive_seed", "derive.seed");
    put_metadata(&part, store, "policy", RUN_METADATA_POLICY);
    put_metadata(&part, store, "arguments", RUN_METADATA_ARGUMENTS);
    report_maker_put(&part, "no_text",
                     json_boolean(metadata_count(store, RUN_METADATA_NO_TEXT) > 0));
    report_maker_part(report, "run", &part);
}

static tapml_status put_carving(struct report_maker *report, struct store *store)
{
    struct report_maker part = report_maker_begin();
    struct carved_counts counts = {0};
    const tapml_status status = carved_count(store, &counts);

    report_maker_count(&part, "prompts", counts.prompts);
    report_maker_count(&part, "calls", counts.calls);
    report_maker_count(&part, "time_ns", counts.time_ns);
    report_maker_count(&part, "cases", counts.cases);
    report_maker_part(report, "carving", &part);
    return status;
}

static void put_source(struct report_maker *report, struct store *store)
{
    struct report_maker part = report_maker_begin();

    put_metadata(&part, store, "backend", "source");
    put_metadata(&part, store, "component", "source.component");
    put_metadata(&part, store, "device", "source.device");
    put_metadata(&part, store, "device_name", "source.device_name");
    put_metadata(&part, store, "driver", "source.driver");
    put_metadata(&part, store, "plugin", "source.plugin");
    put_metadata(&part, store, "plugin_version", "source.version");
    put_metadata(&part, store, "build", "source.build");
    put_metadata(&part, store, "nonfinite", "source.nonfinite");
    put_metadata(&part, store, "observers", RUN_METADATA_OBSERVERS "source");
    report_maker_part(report, "source", &part);
}

// What the model's config.json says of its size, as far as the run has noted it.
static void put_config(struct report_maker *model, struct store *store)
{
    struct report_maker part = report_maker_begin();
    char name[64];

    for (size_t i = 0; i < RUN_METADATA_CONFIG_TEXTS; i++) {
        (void)snprintf(name, sizeof(name), RUN_METADATA_MODEL_CONFIG "%s",
                       run_metadata_config_texts[i]);
        if (metadata_get(store, name) != NULL) {
            put_metadata(&part, store, run_metadata_config_texts[i], name);
        }
    }
    for (size_t i = 0; i < RUN_METADATA_CONFIG_NUMBERS; i++) {
        (void)snprintf(name, sizeof(name), RUN_METADATA_MODEL_CONFIG "%s",
                       run_metadata_config_numbers[i]);
        if (metadata_get(store, name) != NULL) {
            put_count(&part, store, run_metadata_config_numbers[i], name);
        }
    }
    report_maker_part(model, "config", &part);
}

// What made the model a fine-tune, by the last part of its path.
static void put_fine_tune(struct report_maker *model, struct store *store)
{
    static const struct {
        const char *member, *metadata;
    } parts[] = {{"delta", "model.delta"}, {"adapter", "model.adapter"}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        const char *path = metadata_get(store, parts[i].metadata);
        const char *slash = path != NULL ? strrchr(path, '/') : NULL;

        if (path != NULL) {
            report_maker_text(model, parts[i].member, slash != NULL ? slash + 1 : path);
        }
    }
}

// What its delta lost when it was made, where it is not exact.
static void put_delta_losses(struct report_maker *model, struct store *store)
{
    json_t *list = delta_losses_read(store);
    json_t *losses = list != NULL ? json_array() : NULL;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "weight", json_string_value(json_object_get(item, "weight")));
        report_maker_text(&part, "kind", json_string_value(json_object_get(item, "kind")));
        report_maker_put(&part, "lost",
                         report_maker_number(json_number_value(json_object_get(item, "lost"))));
        report_maker_text(&part, "of", json_string_value(json_object_get(item, "of")));
        report_maker_append(model, losses, &part);
    }
    if (list != NULL) {
        report_maker_put(model, "delta_losses", losses);
    }
    json_decref(list);
}

// In what type keys and values were kept; stores of an earlier version do not say it.
static void put_state(struct report_maker *model, struct store *store)
{
    double difference = 0;

    if (metadata_get(store, "model.state") != NULL) {
        put_metadata(model, store, "state", "model.state");
    }
    const char *text = metadata_get(store, "model.state.difference");

    if (text != NULL && text_parse_f64(text, &difference) == TAPML_OK) {
        report_maker_put(model, "state_difference", report_maker_number(difference));
    }
}

// What encoding each weight and reducing each state cost, where that was done.
static tapml_status put_losses(struct report_maker *model, struct store *store, struct arena *arena)
{
    struct loss_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(loss_list(store, arena, &rows, &count));
    json_t *losses = count > 0 ? json_array() : NULL;

    for (size_t i = 0; i < count; i++) {
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "weight", rows[i].weight);
        report_maker_put(&part, "relative", report_maker_number(rows[i].relative));
        report_maker_put(&part, "largest", report_maker_number(rows[i].largest));
        report_maker_append(model, losses, &part);
    }
    if (count > 0) {
        report_maker_put(model, "losses", losses);
    }
    return TAPML_OK;
}

// Weights by their types, and how many numbers they are.
struct weight_summary {
    struct report_maker part;
    const char *encoding; // Of those that are encoded.
    uint64_t parameters;
};

static tapml_status take_weight(void *user, const char *dtype_name, uint64_t bytes)
{
    struct weight_summary *weights = user;
    const uint32_t dtype = dtype_find(dtype_name);
    const int is_encoded = dtype == TAPML_U8 && *weights->encoding != '\0';

    report_maker_count(&weights->part, is_encoded ? weights->encoding : dtype_name, bytes);
    if (dtype != 0 && dtype != TAPML_U8) {
        weights->parameters += bytes / dtype_bytes(dtype);
    }
    return TAPML_OK;
}

static tapml_status
put_weights(struct report_maker *model, struct store *store, struct arena *arena)
{
    const char *encoding = metadata_get(store, "model.encoding");
    struct weight_summary weights = {.encoding =
                                         arena_text(arena, encoding != NULL ? encoding : "")};

    if (weights.encoding == NULL) {
        return status_no_memory();
    }
    weights.parameters = metadata_count(store, "model.encoded");
    weights.part = report_maker_begin();
    const tapml_status status = carved_visit_weights(store, take_weight, &weights);

    report_maker_part(model, "weight_bytes", &weights.part);
    report_maker_count(model, "parameters", weights.parameters);
    return status;
}

static tapml_status put_model(struct report_maker *report, struct store *store, struct arena *arena)
{
    struct report_maker part = report_maker_begin();
    struct instance_row *instances = NULL;
    size_t count = 0;

    report_maker_text(&part, "name", run_metadata_model_name(store, arena));
    put_metadata(&part, store, "hash", "model.hash");
    put_metadata(&part, store, "architecture", "model.architecture");
    put_state(&part, store);
    put_fine_tune(&part, store);
    put_delta_losses(&part, store);
    tapml_status status = instance_list(store, arena, &instances, &count);

    report_maker_count(&part, "ops", count);
    put_config(&part, store);
    if (status == TAPML_OK) {
        status = put_losses(&part, store, arena);
    }
    if (status == TAPML_OK) {
        status = put_weights(&part, store, arena);
    }
    report_maker_part(report, "model", &part);
    return status;
}

// Where limits come from.
static void put_limits(struct report_maker *report, struct store *store)
{
    struct report_maker part = report_maker_begin();

    put_count(&part, store, "factor", "limits.factor");
    put_metadata(&part, store, "component", "limits.component");
    put_metadata(&part, store, "devices", "limits.devices");
    report_maker_part(report, "limits", &part);
}

static tapml_status put_forecasts(struct report_maker *report, struct store *store)
{
    json_t *forecasts = NULL;

    TAPML_TRY(forecasting_read(store, &forecasts));
    report_maker_put(report, "forecasts", forecasts);
    return TAPML_OK;
}

// -- Targets -----------------------------------------------------------------------------------

// The verdict of the whole is the worst of its targets': wrong, incomplete, right.
static void put_verdict(struct report_maker *whole, const char *of_target)
{
    const char *before = json_string_value(json_object_get(whole->object, "verdict"));
    static const char *const worst[] = {"wrong", "incomplete", "right"};

    for (size_t i = 0; i < sizeof(worst) / sizeof(*worst); i++) {
        if (before != NULL && (strcmp(before, worst[i]) == 0 || strcmp(of_target, worst[i]) == 0)) {
            report_maker_text(whole, "verdict", worst[i]);
            return;
        }
    }
}

static tapml_status
add_target(struct report_maker *whole, struct store *store, const struct target_row *target)
{
    struct report_rows rows;
    struct report_maker part = {.failed = 0};

    TAPML_TRY(report_rows_read(store, target->name, &rows));
    const char *verdict = report_rows_verdict(&rows);
    const tapml_status status = report_target_make(&rows, &part.object);

    report_rows_release(&rows);
    TAPML_TRY(status);
    report_maker_append(whole, json_object_get(whole->object, "targets"), &part);
    put_verdict(whole, verdict);
    return TAPML_OK;
}

static void give_up(struct report_maker *whole,
                    const struct target_row *target,
                    int is_unfinished,
                    const char *reason)
{
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "name", target->name);
    report_maker_text(&part, "backend", target->backend);
    report_maker_put(&part, "unfinished", json_boolean(is_unfinished));
    report_maker_text(&part, "reason", reason);
    report_maker_append(whole, json_object_get(whole->object, "given_up"), &part);
    put_verdict(whole, "incomplete");
}

// A target that was given up is reported as such, even if an earlier start has results.
static tapml_status
put_target(struct report_maker *whole, struct store *store, const struct target_row *target)
{
    if (*target->given_up != '\0') {
        give_up(whole, target, 0, target->given_up);
        return TAPML_OK;
    }
    const tapml_status status = add_target(whole, store, target);

    if (status != TAPML_NOT_FOUND) {
        return status;
    }
    give_up(whole, target, 1, "the run has not finished it");
    return TAPML_OK;
}

static tapml_status
put_targets(struct report_maker *whole, struct store *store, struct arena *arena)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    report_maker_put(whole, "targets", json_array());
    report_maker_put(whole, "given_up", json_array());
    TAPML_TRY(report_maker_finish(whole));
    TAPML_TRY(target_list(store, arena, &targets, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(put_target(whole, store, &targets[i]));
    }
    return TAPML_OK;
}

// -- The whole ---------------------------------------------------------------------------------

static tapml_status make(struct report_maker *report, struct store *store, struct arena *arena)
{
    report_maker_text(report, "format", "tapml.report/2");
    report_maker_text(report, "verdict", "carved");
    put_run(report, store);
    TAPML_TRY(put_model(report, store, arena));
    put_source(report, store);
    put_limits(report, store);
    TAPML_TRY(put_carving(report, store));
    TAPML_TRY(put_forecasts(report, store));
    TAPML_TRY(put_targets(report, store, arena));
    TAPML_TRY(report_usage_put(store, arena, report));
    TAPML_TRY(report_bottleneck_put(store, report));
    return report_maker_finish(report);
}

tapml_status report_data_create(struct store *store, json_t **out_report)
{
    struct arena *arena = arena_create();
    struct report_maker report = report_maker_begin();
    const tapml_status status = arena != NULL ? make(&report, store, arena) : status_no_memory();

    arena_destroy(arena);
    if (status != TAPML_OK) {
        json_decref(report.object);
        return status;
    }
    *out_report = report.object;
    return TAPML_OK;
}

static tapml_status read_at_once(const char *path, json_t **out_report)
{
    struct store *store = NULL;

    TAPML_TRY(store_open_to_read(path, &store));
    tapml_status status = store_begin_to_read(store);

    if (status == TAPML_OK) {
        status = report_data_create(store, out_report);
        store_rollback(store);
    }
    store_close(store);
    return status;
}

tapml_status report_data_read(const char *dir, json_t **out_report)
{
    char *path = file_join(dir, "run.tapmlrun");
    tapml_status status = path != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK && !file_exists(path)) {
        status = status_fail(TAPML_NOT_FOUND, "there is no run in '%s'", dir);
    }
    if (status == TAPML_OK) {
        status = read_at_once(path, out_report);
    }
    alloc_free(path);
    return status;
}
