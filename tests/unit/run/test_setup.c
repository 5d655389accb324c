// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/scratch.h"
#include "run/setup.h"

static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};

static void open_setup(struct setup *setup)
{
    char program[1024];
    struct options options;

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(options_parse(specs, 0, NULL, &options), TAPML_OK);
    cr_assert_eq(setup_open(program, &options, NULL, setup), TAPML_OK, "%s", status_message());
}

Test(setup, the_default_backend_is_one_that_calibrates)
{
    struct setup setup;
    const char *name = NULL;

    open_setup(&setup);
    cr_assert_eq(setup_default_backend(&setup, &name), TAPML_OK);
    cr_assert_not_null(registry_component_key(setup.registry, name, "calibrates"));
    setup_close(&setup);
}

Test(setup, a_model_comes_with_tokenizer_and_special_ids)
{
    struct setup setup;

    open_setup(&setup);
    cr_assert_eq(
        setup_model(&setup, &(struct model_options){.folder = scratch_source("models/tiny")}),
        TAPML_OK, "%s", status_message());
    cr_assert_not_null(setup.tokenizer);
    cr_assert_eq(setup_vocabulary(&setup), 619);
    cr_assert(special_is_end(&setup.special, 1));
    setup_close(&setup);
}

Test(setup, a_model_without_a_tokenizer_is_fine)
{
    struct setup setup;

    open_setup(&setup);
    cr_assert_eq(
        setup_model(&setup, &(struct model_options){.folder = scratch_data("models/llama")}),
        TAPML_OK, "%s", status_message());
    cr_assert_null(setup.tokenizer);
    cr_assert_eq(setup_vocabulary(&setup), 96);
    setup_close(&setup);
}

Test(setup, a_tokenizer_that_is_not_understood_is_no_failure)
{
    struct scratch scratch;
    struct setup setup;
    char config[1024], weights[1024];

    scratch_make(&scratch);
    (void)snprintf(config, sizeof(config), "%s", scratch_data("models/llama/config.json"));
    (void)snprintf(weights, sizeof(weights), "%s", scratch_data("models/llama/model.safetensors"));
    cr_assert_eq(symlink(config, scratch_path(&scratch, "config.json")), 0);
    cr_assert_eq(symlink(weights, scratch_path(&scratch, "model.safetensors")), 0);
    (void)scratch_write(&scratch, "tokenizer.json", "[]", 2);
    open_setup(&setup);
    cr_assert_eq(setup_model(&setup, &(struct model_options){.folder = scratch.folder}), TAPML_OK,
                 "%s", status_message());
    cr_assert_null(setup.tokenizer);
    cr_assert_not_null(strstr(setup.no_text, "tokenizer.json: expected an object"), "%s",
                       setup.no_text);
    setup_close(&setup);
    scratch_remove(&scratch);
}

Test(setup, an_unknown_backend_is_refused)
{
    struct setup setup;

    open_setup(&setup);
    cr_assert_neq(setup_place(&setup, "source", "refrence"), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "reference"), "the nearest: %s", status_message());
    cr_assert_eq(setup.place_count, 0u);
    setup_close(&setup);
}

Test(setup, a_reduced_place_is_around_another_one)
{
    struct setup setup;
    struct plan *plan = NULL;

    open_setup(&setup);
    cr_assert_eq(setup_place(&setup, "source", "reference"), TAPML_OK, "%s", status_message());
    cr_assert_eq(setup_place_reduced(&setup, "f16", setup.places[0], ACTIVATION_F16), TAPML_OK,
                 "%s", status_message());
    cr_assert_eq(setup.place_count, 2u);
    cr_assert_eq(backend_info(setup.places[0]->backend)->activation, ACTIVATION_F32);
    cr_assert_eq(backend_info(setup.places[1]->backend)->activation, ACTIVATION_F16);
    cr_assert_str_eq(backend_info(setup.places[1]->backend)->component, "reference");
    cr_assert_eq(setup_plan(&setup, &plan), TAPML_OK);
    cr_assert_str_eq(plan_place(plan, "tapml.silu", "x", PLAN_DECODE), "f16");
    plan_destroy(plan);
    for (uint32_t i = 2; i < SESSION_PLACES_MAX; i++) {
        cr_assert_eq(setup_place_reduced(&setup, "more", setup.places[0], ACTIVATION_F16),
                     TAPML_OK);
    }
    cr_assert_eq(setup_place_reduced(&setup, "too many", setup.places[0], ACTIVATION_F16),
                 TAPML_INVALID);
    setup_close(&setup);
}
