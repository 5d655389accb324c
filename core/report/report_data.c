// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_data.h"

#include "base/json_file.h"
#include "base/text.h"
#include "report/report_maker.h"
#include "report/report_target.h"
#include "store/row.h"
#include "tensor/dtype.h"
#include "verify/derive.h"

#include <stdio.h>
#include <string.h>

// -- The run -----------------------------------------------------------------------------------

static void
put_fact(struct report_maker *maker, struct store *store, const char *key, const char *fact)
{
    report_maker_text(maker, key, store_fact(store, fact));
}

static void put_fact_count(struct report_maker *maker, struct store *store, const char *key)
{
    const char *fact = store_fact(store, key);
    int64_t value = 0;

    if (fact != NULL && text_parse_i64(fact, &value) == TAPML_OK) {
        report_maker_count(maker, key, (uint64_t)value);
    }
}

static tapml_status
put_query(struct report_maker *maker, struct store *store, const char *sql, const char *const *keys)
{
    struct row row;
    int has = 0;

    TAPML_TRY(row_begin(store, sql, "reading for the report", &row));
    TAPML_TRY(row_next(&row, &has));
    for (int i = 0; has && keys[i] != NULL; i++) {
        report_maker_count(maker, keys[i], (uint64_t)row_i64(&row, i));
    }
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

// The last part of a path.
static const char *name_of(const char *path)
{
    const char *name = strrchr(path, '/');

    return name != NULL && name[1] != '\0' ? name + 1 : path;
}

static tapml_status put_run(struct report_maker *report, const struct report_run *run)
{
    struct store *store = run->store;
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "name", name_of(run->dir));
    put_fact(&part, store, "host", "host.version");
    put_fact(&part, store, "compiler", "host.compiler");
    put_fact_count(&part, store, "decode");
    put_fact_count(&part, store, "capacity");
    put_fact_count(&part, store, "chunk");
    put_fact(&part, store, "keep", "keep");
    put_fact(&part, store, "prompts_hash", "prompts.hash");
    report_maker_count(&part, "derive_seed", DERIVE_SEED);
    report_maker_part(report, "run", &part);
    return TAPML_OK;
}

static tapml_status put_carving(struct report_maker *report, struct store *store)
{
    static const char *const prompts[] = {"prompts", NULL};
    static const char *const calls[] = {"calls", "time_ns", NULL};
    static const char *const cases[] = {"cases", NULL};
    struct report_maker part = report_maker_begin();
    tapml_status status =
        put_query(&part, store, "SELECT count(*) FROM prompt WHERE position IS NOT NULL", prompts);

    if (status == TAPML_OK) {
        status = put_query(&part, store, "SELECT count(*), total(time_ns) FROM call", calls);
    }
    if (status == TAPML_OK) {
        status = put_query(&part, store, "SELECT count(*) FROM \"case\"", cases);
    }
    report_maker_part(report, "carving", &part);
    return status;
}

static void put_source(struct report_maker *report, struct store *store)
{
    struct report_maker part = report_maker_begin();

    put_fact(&part, store, "backend", "source");
    put_fact(&part, store, "component", "source.component");
    put_fact(&part, store, "device", "source.device");
    put_fact(&part, store, "device_name", "source.device_name");
    put_fact(&part, store, "driver", "source.driver");
    put_fact(&part, store, "plugin", "source.plugin");
    put_fact(&part, store, "plugin_version", "source.version");
    put_fact(&part, store, "build", "source.build");
    report_maker_part(report, "source", &part);
}

// What of a config.json says how large a model is. Others are left out: the file is there.
static const char *const config_keys[] = {
    "model_type",          "num_hidden_layers",   "hidden_size", "intermediate_size",
    "num_attention_heads", "num_key_value_heads", "head_dim",    "num_local_experts",
    "num_experts",         "vocab_size",          "dtype",       "torch_dtype",
};

static void put_config(struct report_maker *model, const char *folder)
{
    struct report_maker part = report_maker_begin();
    char path[4096];
    json_t *config = NULL;

    (void)snprintf(path, sizeof(path), "%s/config.json", folder);
    if (json_file_load(path, &config) == TAPML_OK) {
        const json_t *text = json_object_get(config, "text_config");

        for (size_t i = 0; i < sizeof(config_keys) / sizeof(*config_keys); i++) {
            json_t *value = json_object_get(config, config_keys[i]);

            value = value == NULL ? json_object_get(text, config_keys[i]) : value;
            if (json_is_string(value) || json_is_number(value)) {
                report_maker_put(&part, config_keys[i], json_deep_copy(value));
            }
        }
    }
    json_decref(config);
    report_maker_part(model, "config", &part);
}

// How many numbers the encoded weights of a graph are, and as what.
static uint64_t count_encoded(const struct graph *graph, const char **out_id)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < graph->value_count; i++) {
        const struct graph_value *value = &graph->values[i];
        uint64_t own = value->encoding != NULL;

        for (uint32_t axis = 0; axis < value->rank; axis++) {
            own *= (uint64_t)value->shape[axis].constant; // Which has been counted at load.
        }
        count += own;
        *out_id = value->encoding != NULL ? value->encoding->id : *out_id;
    }
    return count;
}

// What encoding each weight cost, where that was done.
static void put_losses(struct report_maker *model, const struct encode_account *account)
{
    json_t *losses = account->loss_count > 0 ? json_array() : NULL;

    for (uint32_t i = 0; i < account->loss_count; i++) {
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "weight", account->losses[i].name);
        report_maker_put(&part, "relative", report_maker_number(account->losses[i].relative));
        report_maker_put(&part, "largest", report_maker_number(account->losses[i].largest));
        report_maker_append(model, losses, &part);
    }
    if (account->loss_count > 0) {
        report_maker_put(model, "losses", losses);
    }
}

// Weights by their types, and how many numbers they are.
static tapml_status put_weights(struct report_maker *model, const struct report_run *run)
{
    const char *encoding = "u8";
    struct store *store = run->store;
    struct row row;
    int has = 0;
    uint64_t parameters = count_encoded(model_graph(run->setup->model), &encoding);
    struct report_maker part = report_maker_begin();

    report_maker_part(model, "weight_bytes", &part); // Which owns it from here on.
    TAPML_TRY(row_begin(store,
                        "SELECT dtype, sum(byte_count) FROM weight GROUP BY dtype ORDER BY dtype",
                        "reading for the report", &row));
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        const char *name = row_text(&row, 0);
        const uint32_t dtype = dtype_find(name);

        report_maker_count(&part, dtype == TAPML_U8 ? encoding : name, (uint64_t)row_i64(&row, 1));
        if (dtype != 0 && dtype != TAPML_U8) {
            parameters += (uint64_t)row_i64(&row, 1) / dtype_bytes(dtype);
        }
        TAPML_TRY(row_next(&row, &has));
    }
    report_maker_count(model, "parameters", parameters);
    model->failed |= part.failed;
    return TAPML_OK;
}

static tapml_status put_model(struct report_maker *report, const struct report_run *run)
{
    const struct model *model = run->setup->model;
    struct report_maker part = report_maker_begin();

    put_fact(&part, run->store, "hash", "model.hash");
    const char *path = store_fact(run->store, "model.path");

    report_maker_text(&part, "name", path != NULL ? name_of(path) : "");
    report_maker_text(&part, "architecture", model_architecture(model));
    report_maker_count(&part, "ops", model_graph(model)->op_count);
    put_config(&part, model_folder(model));
    put_losses(&part, model_losses(model));
    const tapml_status status = put_weights(&part, run);

    report_maker_part(report, "model", &part);
    return status;
}

// Where limits come from.
static void put_limits(struct report_maker *report, const struct report_run *run)
{
    struct report_maker part = report_maker_begin();
    struct registry *registry = run->setup->registry;
    const struct graph *graph = model_graph(run->setup->model);
    const char *oracle = registry_oracle(registry, graph->ops[0].op);

    report_maker_count(&part, "factor", CALIBRATE_FACTOR);
    report_maker_text(&part, "component", oracle);
    report_maker_text(&part, "devices",
                      oracle != NULL ? registry_component_key(registry, oracle, "calibrates") : "");
    report_maker_part(report, "limits", &part);
}

tapml_status report_data_create(const struct report_run *run, json_t **out_report)
{
    struct report_maker report = report_maker_begin();

    report_maker_text(&report, "format", "tapml.report/1");
    report_maker_text(&report, "verdict", "carved");
    tapml_status status = put_run(&report, run);

    if (status == TAPML_OK) {
        status = put_model(&report, run);
    }
    if (status == TAPML_OK) {
        put_source(&report, run->store);
        put_limits(&report, run);
        status = put_carving(&report, run->store);
    }
    report_maker_put(&report, "targets", json_array());
    report_maker_put(&report, "given_up", json_array());
    if (status == TAPML_OK) {
        status = report_maker_finish(&report);
    }
    if (status != TAPML_OK) {
        json_decref(report.object);
        return status;
    }
    *out_report = report.object;
    return TAPML_OK;
}

// The verdict of the whole is the worst of its targets': wrong, incomplete, right.
static void put_verdict(struct report_maker *whole, const char *of_target)
{
    const char *before = json_string_value(json_object_get(whole->object, "verdict"));
    static const char *const worst[] = {"wrong", "incomplete", "right"};

    for (size_t i = 0; i < sizeof(worst) / sizeof(*worst); i++) {
        if (strcmp(before, worst[i]) == 0 || strcmp(of_target, worst[i]) == 0) {
            report_maker_text(whole, "verdict", worst[i]);
            return;
        }
    }
}

tapml_status report_data_add_target(json_t *report, const struct report_target *target)
{
    struct report_maker whole = {.object = report};
    struct report_maker part = {.failed = 0};

    TAPML_TRY(report_target_make(target, &part.object));
    report_maker_append(&whole, json_object_get(report, "targets"), &part);
    put_verdict(&whole, target->is_wrong ? "wrong" : "right");
    return report_maker_finish(&whole);
}

tapml_status
report_data_give_up(json_t *report, const char *name, const char *backend, const char *reason)
{
    struct report_maker whole = {.object = report};
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "name", name);
    report_maker_text(&part, "backend", backend);
    report_maker_text(&part, "reason", reason);
    report_maker_append(&whole, json_object_get(report, "given_up"), &part);
    put_verdict(&whole, "incomplete");
    return report_maker_finish(&whole);
}

tapml_status report_data_add_bundle(json_t *report, const struct bundles_note *note)
{
    json_t *targets = json_object_get(report, "targets");
    json_t *target = json_array_get(targets, json_array_size(targets) - 1);
    json_t *accused = json_object_get(target, "accused");

    for (size_t i = 0; i < json_array_size(accused); i++) {
        json_t *entry = json_array_get(accused, i);
        struct report_maker part = report_maker_begin();
        struct report_maker whole = {.object = entry};

        if (strcmp(json_string_value(json_object_get(entry, "instance")), note->instance) == 0) {
            report_maker_text(&part, "file", note->file);
            report_maker_text(&part, "shape_class", note->shape_class);
            report_maker_text(&part, "command", note->command);
            report_maker_part(&whole, "bundle", &part);
            return report_maker_finish(&whole);
        }
        json_decref(part.object);
    }
    return TAPML_OK;
}
