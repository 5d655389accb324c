// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/scratch.h"
#include "run/model_survey.h"
#include "run/setup.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// The survey of a configuration, without the quotes that C would need.
static struct model_survey survey_of(const char *config, struct arena *arena)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    struct model_survey survey;
    struct options options;
    struct setup setup;
    char program[1024];
    json_t *root = json_loads(config, 0, NULL);
    const struct published_model model = {.name = "a-model", .type = "t", .config = root};

    cr_assert_not_null(root);
    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    MUST(options_parse(specs, 0, NULL, &options));
    MUST(setup_open(program, &options, NULL, &setup));
    MUST(model_survey_make(setup.registry, &model, arena, &survey));
    setup_close(&setup);
    json_decref(root);
    return survey;
}

// Embedding and head of 64 x 32, one layer: four products of 32 x 32, three of 32 x 48, two norms;
// and the last norm.
#define SMALL                                                                                      \
    "\"model_type\": \"llama\", \"vocab_size\": 64, \"hidden_size\": 32, "                         \
    "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, \"intermediate_size\": 48, "            \
    "\"tie_word_embeddings\": false"
enum {
    NORMS = 3 * 32,
    ODD = 32 * 48, // Rows of 48 are no whole blocks.
    WHOLE = 2 * 64 * 32 + 4 * 32 * 32 + 2 * 32 * 48
};

Test(model_survey, sizes_are_those_of_the_weights)
{
    struct arena *arena = arena_create();
    const struct model_survey survey = survey_of("{" SMALL "}", arena);

    cr_assert_eq(survey.state, MODEL_SURVEY_OPENS);
    cr_assert_str_empty(survey.sentence);
    cr_assert_str_eq(survey.architecture, "llama");
    cr_assert_eq(survey.parameters, NORMS + ODD + WHOLE);
    cr_assert_eq(survey.bytes[MODEL_SURVEY_BF16], 2 * survey.parameters);
    cr_assert_eq(survey.bytes[MODEL_SURVEY_Q8_0], 2 * (NORMS + ODD) + WHOLE / 32 * 34);
    // Scales and minima of two bytes each.
    cr_assert_eq(survey.bytes[MODEL_SURVEY_Q4_0], 2 * (NORMS + ODD) + WHOLE / 32 * 20);
    arena_destroy(arena);
}

Test(model_survey, the_most_precise_form_that_fits)
{
    const struct model_survey survey = {.parameters = 50, .bytes = {100, 60, 40}};
    const struct model_survey unknown = {.parameters = 0};

    cr_assert_eq(model_survey_fits(&survey, 100), MODEL_SURVEY_BF16);
    cr_assert_eq(model_survey_fits(&survey, 99), MODEL_SURVEY_Q8_0);
    cr_assert_eq(model_survey_fits(&survey, 40), MODEL_SURVEY_Q4_0);
    cr_assert_eq(model_survey_fits(&survey, 39), MODEL_SURVEY_FORMS);
    cr_assert_eq(model_survey_fits(&unknown, 100), MODEL_SURVEY_FORMS);
    cr_assert_str_eq(model_survey_form_name(MODEL_SURVEY_Q8_0), "q8_0");
}

Test(model_survey, a_refusal_has_its_sentence_and_the_sizes)
{
    struct arena *arena = arena_create();
    struct model_survey survey = survey_of("{" SMALL ", \"a_new_key\": 3}", arena);

    cr_assert_eq(survey.state, MODEL_SURVEY_REFUSED);
    cr_assert_not_null(strstr(survey.sentence, "model 'a-model'"), "%s", survey.sentence);
    cr_assert_not_null(strstr(survey.sentence, "'/a_new_key'"), "%s", survey.sentence);
    cr_assert_eq(survey.parameters, NORMS + ODD + WHOLE);
    survey = survey_of("{" SMALL ", \"rope_theta\": \"x\"}", arena);
    cr_assert_eq(survey.state, MODEL_SURVEY_REFUSED);
    cr_assert_eq(survey.parameters, 0);
    survey = survey_of("{\"model_type\": \"new_kind\"}", arena);
    cr_assert_eq(survey.state, MODEL_SURVEY_NO_PLUGIN);
    cr_assert_not_null(strstr(survey.sentence, "'new_kind'"), "%s", survey.sentence);
    arena_destroy(arena);
}
