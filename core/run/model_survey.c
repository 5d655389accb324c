// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/model_survey.h"

#include "base/arena.h"
#include "base/json_file.h"
#include "graph/encode.h"
#include "plugin/model.h"
#include "tensor/encoding.h"

static const char *const forms[MODEL_SURVEY_FORMS] = {"bf16", "q8_0", "q4_0"};

const char *model_survey_form_name(enum model_survey_form form)
{
    return forms[form];
}

static tapml_status measure(const struct graph *graph, struct model_survey *survey)
{
    struct encode_size size;

    for (size_t i = 0; i < MODEL_SURVEY_FORMS; i++) {
        TAPML_TRY(encode_measure(graph, encoding_find_word(forms[i]), &size));
        survey->bytes[i] = size.bytes;
    }
    survey->parameters = size.values;
    return TAPML_OK;
}

// Builds the graph and measures it.
static tapml_status build(struct registry *registry,
                          const struct model_options *options,
                          struct arena *arena,
                          struct model_survey *survey)
{
    struct model *model = NULL;

    TAPML_TRY(model_open(registry, options, &model));
    tapml_status status = measure(model_graph(model), survey);

    survey->architecture = arena_text(arena, model_architecture(model));
    if (status == TAPML_OK && survey->architecture == NULL) {
        status = status_no_memory();
    }
    model_close(model);
    return status;
}

// Keeps the reason, and tries again without the keys that are not understood.
static tapml_status take_refusal(struct registry *registry,
                                 struct model_options *options,
                                 tapml_status refusal,
                                 struct arena *arena,
                                 struct model_survey *survey)
{
    survey->sentence = arena_text(arena, status_message());
    if (survey->sentence == NULL) {
        return status_no_memory();
    }
    survey->state = refusal == TAPML_NOT_FOUND ? MODEL_SURVEY_NO_PLUGIN : MODEL_SURVEY_REFUSED;
    if (survey->state == MODEL_SURVEY_NO_PLUGIN) {
        return TAPML_OK;
    }
    options->allow_unknown_keys = 1;
    const tapml_status status = build(registry, options, arena, survey);

    return status_ends_all(status) ? status : TAPML_OK;
}

static tapml_status survey_config(struct registry *registry,
                                  struct model_options *options,
                                  struct arena *arena,
                                  struct model_survey *out_survey)
{
    struct model_survey survey = {.state = MODEL_SURVEY_OPENS, .sentence = ""};
    tapml_status status = build(registry, options, arena, &survey);

    if (status != TAPML_OK && !status_ends_all(status)) {
        status = take_refusal(registry, options, status, arena, &survey);
    }
    if (status == TAPML_OK) {
        *out_survey = survey;
    }
    return status;
}

tapml_status model_survey_make(struct registry *registry,
                               const struct published_model *model,
                               struct arena *arena,
                               struct model_survey *out_survey)
{
    struct text config;

    text_init(&config);
    json_file_print(&config, model->config, JSON_COMPACT);
    tapml_status status = text_status(&config);

    if (status == TAPML_OK) {
        struct model_options options = {
            .folder = model->name, .config = config.data, .without_weights = 1};

        status = survey_config(registry, &options, arena, out_survey);
    }
    text_release(&config);
    return status;
}

enum model_survey_form model_survey_fits(const struct model_survey *survey, uint64_t bytes)
{
    enum model_survey_form form = MODEL_SURVEY_BF16;

    while (form < MODEL_SURVEY_FORMS && (survey->parameters == 0 || survey->bytes[form] > bytes)) {
        form++;
    }
    return form;
}
