// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "model/prompts.h"
#include "report/forecast_data.h"
#include "report/forecast_text.h"
#include "report/report_files.h"
#include "run/interrupt.h"
#include "run/prompt_inputs.h"
#include "run/setup.h"

#include <stdio.h>
#include <string.h>

enum { TOKENS_MAX = 1 << 24, CAPACITY = 256, CHUNK = 128, COUNT = 8 };

static const struct options_spec specs[] = {
    {"--model", "PATH", "the model's folder, a name or a GGUF file"},
    {"--device", "FILE", "the figures of the device, as in conf/devices"},
    {"--prompts", "FILE", "prompts, one a line; by default prompts.txt in the model's folder"},
    {"--ids", "IDS", "one prompt as ids instead: '5 17 3'"},
    {"--count", "N", "tokens to decode after each prompt, 8 by default"},
    {"--backend", "B", "the source: COMPONENT or COMPONENT:DEVICE"},
    {"--activations", "f32|f16", "of the device: for memory, limits and time; f32 by default"},
    {"--capacity", "N", "tokens of a sequence, 256 by default"},
    {"--chunk", "N", "tokens of a call, 128 by default"},
    {"--weights", "ENCODING", "encodes weights at load: docs/encodings.md"},
    {"--state", "f32|f16|q8_0", "the type of keys and values"},
    {"--json", "FILE", "writes the forecast as JSON, too"},
    SETUP_MODEL_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_forecast_manual = {
    .usage = "tapml-host forecast --model PATH --device FILE",
    .about = "Says of a model, from its run on the source alone, what a device would make "
             "of it: ops whose values leave or lose the range of f16 or bf16, ops that "
             "exceed a limit, memory, and a lower bound of time.",
    .specs = specs,
};

struct forecasting {
    struct options options;
    struct setup setup;
    struct model_options model;
    const char *source;
    struct device_file device;
    enum activation activation;
    int64_t capacity, chunk, decode;
    struct prompts prompts;
    struct forecast_values values;
    struct forecast forecast;
};

// -- What is asked for -------------------------------------------------------------------------

static tapml_status read_numbers(struct forecasting *forecasting)
{
    const struct options *options = &forecasting->options;

    TAPML_TRY(options_i64(options, "--capacity", CAPACITY, 1, TOKENS_MAX, &forecasting->capacity));
    const int64_t chunk = forecasting->capacity < CHUNK ? forecasting->capacity : CHUNK;

    TAPML_TRY(options_i64(options, "--chunk", chunk, 1, TOKENS_MAX, &forecasting->chunk));
    if (forecasting->chunk > forecasting->capacity) {
        return status_fail(TAPML_INVALID, "--chunk is %lld, expected at most the capacity, %lld",
                           (long long)forecasting->chunk, (long long)forecasting->capacity);
    }
    return setup_read_activations(options, &forecasting->activation);
}

static tapml_status open_model(struct forecasting *forecasting)
{
    const struct options *options = &forecasting->options;
    struct model_options *model = &forecasting->model;
    const char *weights = options_get(options, "--weights");
    const char *state = options_get(options, "--state");

    model->folder = options_get(options, "--model");
    if (model->folder == NULL) {
        return status_fail(TAPML_INVALID, "no model: give --model PATH");
    }
    TAPML_TRY(setup_read_weights(weights, model));
    if (state != NULL) {
        TAPML_TRY(state_type_read("--state", state, &model->state));
    }
    TAPML_TRY(setup_read_model(&forecasting->setup, options, model));
    return setup_model(&forecasting->setup, model);
}

// -- Prompts -----------------------------------------------------------------------------------

static struct prompts_options prompts_options_of(const struct forecasting *forecasting)
{
    const int64_t room = forecasting->capacity - forecasting->decode;

    return (struct prompts_options){.tokenizer = forecasting->setup.tokenizer,
                                    .no_text = forecasting->setup.no_text,
                                    .folder = forecasting->model.folder,
                                    .vocabulary = setup_vocabulary(&forecasting->setup),
                                    .length_max = room > 0 ? (size_t)room : 1};
}

static tapml_status read_ids(struct forecasting *forecasting, const char *ids)
{
    const struct prompts_options options = prompts_options_of(forecasting);
    struct text line;

    if (strpbrk(ids, "\r\n") != NULL) {
        return status_fail(TAPML_INVALID, "--ids is one prompt, expected a line");
    }
    text_init(&line);
    text_format(&line, "ids: %s\n", ids);
    tapml_status status = text_status(&line);

    if (status == TAPML_OK) {
        status = prompts_parse("--ids", line.data, line.length, &options, &forecasting->prompts);
    }
    text_release(&line);
    return status;
}

static tapml_status read_file(struct forecasting *forecasting, const char *path)
{
    const struct prompts_options options = prompts_options_of(forecasting);

    TAPML_TRY(prompts_load(path, &options, &forecasting->prompts));
    const struct prompt_inputs_options inputs = {.registry = forecasting->setup.registry,
                                                 .model = forecasting->setup.model,
                                                 .opening = &forecasting->model,
                                                 .source = forecasting->setup.places[0],
                                                 .path = path,
                                                 .length_max = options.length_max};

    return prompt_inputs_read(&inputs, &forecasting->prompts);
}

// The file beside the weights.
static tapml_status read_own_file(struct forecasting *forecasting)
{
    struct text path;

    text_init(&path);
    text_format(&path, "%s/prompts.txt", forecasting->model.folder);
    tapml_status status = text_status(&path);

    if (status == TAPML_OK) {
        status = file_exists(path.data)
                     ? read_file(forecasting, path.data)
                     : status_fail(TAPML_INVALID,
                                   "'%s' has no prompts.txt: give --prompts FILE or --ids",
                                   forecasting->model.folder);
    }
    text_release(&path);
    return status;
}

static tapml_status read_prompts(struct forecasting *forecasting)
{
    const struct options *options = &forecasting->options;
    const char *path = options_get(options, "--prompts"), *ids = options_get(options, "--ids");
    const int is_encoder = setup_vocabulary(&forecasting->setup) == 0;

    TAPML_TRY(options_i64(options, "--count", is_encoder ? 0 : COUNT, 0, TOKENS_MAX,
                          &forecasting->decode));
    TAPML_TRY(setup_check_decode(&forecasting->setup, forecasting->decode));
    if (path != NULL && ids != NULL) {
        return status_fail(TAPML_INVALID, "give either --prompts or --ids");
    }
    TAPML_TRY(path != NULL  ? read_file(forecasting, path)
              : ids != NULL ? read_ids(forecasting, ids)
                            : read_own_file(forecasting));
    setup_warn_no_text(&forecasting->setup); // All prompts are of ids.
    return TAPML_OK;
}

// -- Forecasting -------------------------------------------------------------------------------

static tapml_status open_source(struct forecasting *forecasting)
{
    forecasting->source = options_get(&forecasting->options, "--backend");
    if (forecasting->source == NULL) {
        TAPML_TRY(setup_default_backend(&forecasting->setup, &forecasting->source));
    }
    return setup_place(&forecasting->setup, "source", forecasting->source);
}

static tapml_status show(const struct forecasting *forecasting, const json_t *document)
{
    const char *path = options_get(&forecasting->options, "--json");
    struct text text;

    text_init(&text);
    forecast_text_print(document, &text);
    TAPML_TRY(text_print(&text));
    return path != NULL ? report_files_write_json(document, path) : TAPML_OK;
}

static tapml_status
report_rows(const struct forecasting *forecasting, struct arena *arena, int *out_is_clear)
{
    struct forecasted_row row = {.activations = activation_type(forecasting->activation)->name};
    const struct forecast_data data = {.model = forecasting->model.folder,
                                       .source = forecasting->source,
                                       .capacity = (uint64_t)forecasting->capacity,
                                       .chunk = (uint64_t)forecasting->chunk,
                                       .prompts = forecasting->prompts.count,
                                       .ops = model_graph(forecasting->setup.model)->op_count,
                                       .row = &row,
                                       .device = &forecasting->device};
    json_t *document = NULL;

    TAPML_TRY(forecast_rows_make(&forecasting->forecast, &forecasting->values, arena, &row));
    TAPML_TRY(forecast_data_create(&data, &document));
    const tapml_status status = show(forecasting, document);

    *out_is_clear = forecast_data_is_clear(document);
    json_decref(document);
    return status;
}

static tapml_status report(const struct forecasting *forecasting, int *out_is_clear)
{
    struct arena *arena = arena_create();
    const tapml_status status =
        arena != NULL ? report_rows(forecasting, arena, out_is_clear) : status_no_memory();

    arena_destroy(arena);
    return status;
}

static tapml_status judge(struct forecasting *forecasting)
{
    const struct forecast_options options = {.setup = &forecasting->setup,
                                             .prompts = &forecasting->prompts,
                                             .decode = forecasting->decode,
                                             .capacity = forecasting->capacity,
                                             .chunk = forecasting->chunk};

    TAPML_TRY(forecast_run_source(&options, &forecasting->values));
    return forecast_open(&options, &forecasting->device, forecasting->activation,
                         &forecasting->forecast);
}

static tapml_status forecast(struct forecasting *forecasting, int *out_is_clear)
{
    const char *path = options_get(&forecasting->options, "--device");

    if (path == NULL) {
        return status_fail(TAPML_INVALID, "no device: give --device FILE, such as one of "
                                          "conf/devices, or what 'devices --dump' prints");
    }
    TAPML_TRY(report_files_try(options_get(&forecasting->options, "--json"), NULL));
    TAPML_TRY(device_file_load(path, &forecasting->device));
    TAPML_TRY(read_numbers(forecasting));
    TAPML_TRY(open_model(forecasting));
    TAPML_TRY(open_source(forecasting));
    TAPML_TRY(read_prompts(forecasting));
    TAPML_TRY(judge(forecasting));
    return report(forecasting, out_is_clear);
}

static void close_all(struct forecasting *forecasting)
{
    forecast_close(&forecasting->forecast);
    forecast_values_release(&forecasting->values);
    prompts_release(&forecasting->prompts);
    device_file_release(&forecasting->device);
    setup_close(&forecasting->setup);
}

enum outcome command_forecast_main(const struct command *command)
{
    struct forecasting state = {.source = NULL};
    int is_clear = 0;
    tapml_status status = options_parse(specs, command->argc, command->argv, &state.options);

    if (status == TAPML_OK) {
        status = options_no_plain(&state.options);
    }
    if (status == TAPML_OK && options_get(&state.options, "--help") != NULL) {
        return outcome_report(options_help(&command_forecast_manual));
    }
    if (status == TAPML_OK) {
        status = setup_open(command->program, &state.options, NULL, &state.setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    interrupt_watch();
    status = forecast(&state, &is_clear);
    const enum outcome outcome = outcome_report(status);

    close_all(&state);
    return outcome != OUTCOME_OK ? outcome : is_clear ? OUTCOME_OK : OUTCOME_WRONG;
}
