// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/forecasting.h"

#include "base/arena.h"
#include "base/text.h"
#include "report/forecast_data.h"
#include "report/forecast_text.h"
#include "run/progress.h"
#include "store/instance.h"
#include "store/metadata.h"
#include "store/store.h"

#include <string.h>

struct run_forecasts {
    const struct run_config *config;
    const struct prompts *prompts;
    struct setup *setup;
    struct arena *arena;
    struct forecasted_row *rows; // One for each device of the configuration, in the arena.
};

// -- Making ------------------------------------------------------------------------------------

static tapml_status name_rows(struct run_forecasts *run)
{
    const struct run_config *config = run->config;

    run->rows = arena_array(run->arena, config->forecast_count + 1, sizeof(*run->rows));
    if (run->rows == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < config->forecast_count; i++) {
        const struct run_config_forecast *given = &config->forecasts[i];

        run->rows[i] =
            (struct forecasted_row){.name = given->name,
                                    .activations = activation_type(given->activation)->name,
                                    .figures = given->figures};
    }
    return TAPML_OK;
}

static int is_same(const struct forecasted_row *a, const struct forecasted_row *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->activations, b->activations) == 0 &&
           strcmp(a->figures, b->figures) == 0;
}

// Whether the store has what is asked for: then it is taken from there.
static tapml_status take_kept(struct run_forecasts *run, struct store *store, int *out_is_all)
{
    struct forecasted_row *kept = NULL;
    size_t count = 0;

    TAPML_TRY(forecasted_list(store, run->arena, &kept, &count));
    *out_is_all = count == run->config->forecast_count;
    for (size_t i = 0; i < count && *out_is_all; i++) {
        *out_is_all = is_same(&kept[i], &run->rows[i]);
    }
    run->rows = *out_is_all ? kept : run->rows;
    return TAPML_OK;
}

static tapml_status make(struct run_forecasts *run,
                         const struct forecast_options *options,
                         const struct forecast_values *values,
                         size_t index)
{
    const struct run_config_forecast *given = &run->config->forecasts[index];
    struct forecast forecast;

    TAPML_TRY(forecast_open(options, &given->device, given->activation, &forecast));
    const tapml_status status =
        forecast_rows_make(&forecast, values, run->arena, &run->rows[index]);

    forecast_close(&forecast);
    return status;
}

static tapml_status make_all(struct run_forecasts *run)
{
    const struct run_config *config = run->config;
    const struct forecast_options options = {.setup = run->setup,
                                             .prompts = run->prompts,
                                             .decode = config->decode,
                                             .capacity = config->capacity,
                                             .chunk = config->chunk};
    struct forecast_values values;

    if (config->forecast_count == 0) {
        return TAPML_OK; // Those of an earlier start go.
    }
    TAPML_TRY(forecast_run_source(&options, &values));
    tapml_status status = TAPML_OK;

    for (size_t i = 0; i < config->forecast_count && status == TAPML_OK; i++) {
        status = make(run, &options, &values, i);
    }
    forecast_values_release(&values);
    return status;
}

static tapml_status write(const struct run_forecasts *run, struct store *store)
{
    TAPML_TRY(store_begin(store));
    const tapml_status status = forecasted_replace(store, run->rows, run->config->forecast_count);

    if (status != TAPML_OK) {
        store_rollback(store);
        return status;
    }
    return store_commit(store);
}

static tapml_status print(const struct run_forecasts *run, size_t index, struct progress *progress)
{
    const struct forecast_data data = {.row = &run->rows[index],
                                       .device = &run->config->forecasts[index].device};
    json_t *document = NULL;
    struct text verdict;

    TAPML_TRY(forecast_data_create(&data, &document));
    text_init(&verdict);
    forecast_text_print_verdict(document, &verdict);
    const tapml_status status = text_status(&verdict);

    if (status == TAPML_OK) {
        progress_end(progress, "%s: %s", data.row->name, verdict.data);
    }
    text_release(&verdict);
    json_decref(document);
    return status;
}

static tapml_status make_or_take(struct run_forecasts *run, struct store *store)
{
    struct progress progress;
    int is_all = 0;

    TAPML_TRY(name_rows(run));
    TAPML_TRY(take_kept(run, store, &is_all));
    if (is_all && run->config->forecast_count == 0) {
        return TAPML_OK;
    }
    progress_begin(&progress, "forecast", 0);
    if (!is_all) {
        TAPML_TRY(make_all(run));
        TAPML_TRY(write(run, store));
    }
    for (size_t i = 0; i < run->config->forecast_count; i++) {
        TAPML_TRY(print(run, i, &progress));
    }
    return TAPML_OK;
}

tapml_status forecasting_run(const struct run_config *config,
                             struct setup *setup,
                             struct store *store,
                             const struct prompts *prompts)
{
    struct run_forecasts run = {
        .config = config, .prompts = prompts, .setup = setup, .arena = arena_create()};
    const tapml_status status = run.arena != NULL ? make_or_take(&run, store) : status_no_memory();

    arena_destroy(run.arena);
    return status;
}

// -- Reading -----------------------------------------------------------------------------------

// What a run says of all its forecasts.
static tapml_status
describe(struct store *store, struct arena *arena, struct forecast_data *out_data)
{
    const char *model = metadata_get(store, "model.path");
    struct instance_row *instances = NULL;
    size_t ops = 0;

    *out_data = (struct forecast_data){.model = arena_text(arena, model != NULL ? model : "")};
    const char *source = metadata_get(store, "source");

    out_data->source = arena_text(arena, source != NULL ? source : "");
    if (out_data->model == NULL || out_data->source == NULL) {
        return status_no_memory();
    }
    out_data->capacity = metadata_count(store, "capacity");
    out_data->chunk = metadata_count(store, "chunk");
    out_data->prompts = metadata_count(store, "prompts.count");
    TAPML_TRY(instance_list(store, arena, &instances, &ops));
    out_data->ops = ops;
    return TAPML_OK;
}

static tapml_status add(struct forecast_data *data, json_t *documents)
{
    struct device_file device;
    json_t *document = NULL;

    TAPML_TRY(device_file_parse(data->row->name, data->row->figures, strlen(data->row->figures),
                                &device));
    data->device = &device;
    tapml_status status = forecast_data_create(data, &document);

    device_file_release(&device);
    if (status == TAPML_OK && json_array_append_new(documents, document) != 0) {
        status = status_no_memory();
    }
    return status;
}

static tapml_status read_all(struct store *store, struct arena *arena, json_t *documents)
{
    struct forecast_data data;
    struct forecasted_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(describe(store, arena, &data));
    TAPML_TRY(forecasted_list(store, arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        data.row = &rows[i];
        TAPML_TRY(add(&data, documents));
    }
    return TAPML_OK;
}

tapml_status forecasting_read(struct store *store, json_t **out_documents)
{
    json_t *documents = json_array();
    struct arena *arena = arena_create();
    const tapml_status status =
        documents != NULL && arena != NULL ? read_all(store, arena, documents) : status_no_memory();

    arena_destroy(arena);
    if (status != TAPML_OK) {
        json_decref(documents);
        return status;
    }
    *out_documents = documents;
    return TAPML_OK;
}
