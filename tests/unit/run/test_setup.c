// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "harness/scratch.h"
#include "run/setup.h"

static const struct options_spec specs[] = {
    SETUP_ISOLATION_OPTIONS, SETUP_OPTIONS, {NULL, NULL, NULL}};
static char program[1024];

static void open_setup(struct setup *setup)
{
    struct options options;

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(options_parse(specs, 0, NULL, &options), TAPML_OK);
    cr_assert_eq(setup_open(program, &options, NULL, setup), TAPML_OK, "%s", status_message());
}

// With plugins of the zoo, whose names end with NULL.
static void open_with_animals(struct setup *setup, const char *const *names)
{
    static char paths[4][2048];
    struct options options;
    char *words[9] = {NULL};
    int count = 0;

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    for (size_t i = 0; names[i] != NULL; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "%s/tests/zoo/%s.so", getenv("TAPML_TEST_BUILD"),
                       names[i]);
        words[count++] = "--plugin";
        words[count++] = paths[i];
    }
    cr_assert_eq(options_parse(specs, count, words, &options), TAPML_OK);
    cr_assert_eq(setup_open(program, &options, NULL, setup), TAPML_OK, "%s", status_message());
}

// Whether this process has the library of an animal open.
static int is_open_here(const char *name)
{
    char piece[128], line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");

    cr_assert_not_null(maps);
    (void)snprintf(piece, sizeof(piece), "/tests/zoo/%s.so", name);
    while (fgets(line, sizeof(line), maps) != NULL) {
        found = found || strstr(line, piece) != NULL;
    }
    (void)fclose(maps);
    return found;
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

// -- Strangers' plugins ------------------------------------------------------------------------

// One that crashes comes before all others, and would take this process along.
Test(setup, no_stranger_is_opened_to_find_the_default_backend)
{
    static const char *const names[] = {"crashes_in_probe", "good", NULL};
    struct setup setup;
    const char *name = NULL;

    open_with_animals(&setup, names);
    cr_assert_eq(setup_default_backend(&setup, &name), TAPML_OK, "%s", status_message());
    cr_assert_not_null(registry_component_key(setup.registry, name, "calibrates"));
    cr_assert_not(is_open_here("good"));
    setup_close(&setup);
}

// A copy of an animal in a folder that is searched.
static void find_animal(struct scratch *scratch, const char *name)
{
    char path[2048], as[128];

    (void)snprintf(path, sizeof(path), "%s/tests/zoo/%s.so", getenv("TAPML_TEST_BUILD"), name);
    (void)snprintf(as, sizeof(as), "%s.so", name);
    cr_assert_eq(symlink(path, scratch_path(scratch, as)), 0);
    (void)snprintf(path, sizeof(path), "%s/tests/zoo/org.example.%s.tapml",
                   getenv("TAPML_TEST_BUILD"), name);
    (void)snprintf(as, sizeof(as), "org.example.%s.tapml", name);
    cr_assert_eq(symlink(path, scratch_path(scratch, as)), 0);
    (void)setenv("TAPML_PLUGIN_PATH", scratch->folder, 1);
}

Test(setup, an_architecture_that_is_named_and_crashes_is_an_error)
{
    static const char *const names[] = {"crashing_architecture", NULL};
    const struct model_options options = {.folder = scratch_data("models/llama")};
    struct setup setup;

    open_with_animals(&setup, names);
    cr_assert_eq(setup_model(&setup, &options), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "crashing_architecture.so', which is named"), "%s",
                       status_message());
    cr_assert_not_null(strstr(status_message(), "killed by SIGSEGV"), "%s", status_message());
    setup_close(&setup);
}

Test(setup, what_is_named_and_cannot_be_read_is_an_error)
{
    static char plugin[] = "--plugin", gone[] = "/nowhere/gone.so";
    struct setup setup;
    struct options options;

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(options_parse(specs, 2, (char *[]){plugin, gone}, &options), TAPML_OK);
    cr_assert_eq(setup_open(program, &options, NULL, &setup), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'/nowhere/gone.so', which is named"), "%s",
                       status_message());
    cr_assert_eq(setup_open_to_list(program, &options, NULL, &setup), TAPML_OK);
    cr_assert_eq(registry_at(setup.registry, 0)->state, CANDIDATE_MALFORMED);
    setup_close(&setup);
}

Test(setup, an_architecture_that_crashes_is_passed_over)
{
    static const char *const names[] = {NULL};
    const struct model_options options = {.folder = scratch_data("models/llama")};
    struct scratch scratch;
    struct setup setup;

    scratch_make(&scratch);
    find_animal(&scratch, "crashing_architecture");
    open_with_animals(&setup, names);
    cr_assert_eq(setup_model(&setup, &options), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_at(setup.registry, 0)->state, CANDIDATE_PROBE_FAILED);
    cr_assert_not_null(strstr(registry_at(setup.registry, 0)->sentence, "killed by SIGSEGV"), "%s",
                       registry_at(setup.registry, 0)->sentence);
    setup_close(&setup);
    scratch_remove(&scratch);
}

// Two architectures of a model with an op that a backend brings.
Test(setup, ops_are_learnt_from_workers)
{
    static const char *const names[] = {"architecture", "crashes_in_probe", "good", NULL};
    static const char config[] =
        "{\"model_type\": \"zoo\", \"vocab_size\": 8, \"hidden_size\": 4, \"factor\": 2.0}";
    struct scratch scratch;
    struct setup setup;

    scratch_make(&scratch);
    (void)scratch_text(&scratch, "config.json", config);
    open_with_animals(&setup, names);
    const struct model_options options = {.folder = scratch.folder, .without_weights = 1};

    cr_assert_eq(model_open(setup.registry, &options, &setup.model), TAPML_OK, "%s",
                 status_message());
    cr_assert_not_null(catalogue_find(registry_catalogue(setup.registry), "org.example.scale", 1));
    cr_assert(is_open_here("architecture"));
    cr_assert_not(is_open_here("good"));
    setup_close(&setup);
    scratch_remove(&scratch);
}

static enum place_isolation_mode mode_of(struct setup *setup, const char *backend)
{
    return setup_isolation(setup, backend).mode;
}

Test(setup, a_strangers_backend_is_in_a_worker_unless_it_is_told_otherwise)
{
    static const char *const names[] = {"good", NULL};
    static char never[] = "--isolation=never", loopback[] = "--isolation=loopback";
    struct setup setup;
    struct options options;

    open_with_animals(&setup, names);
    cr_assert_eq(mode_of(&setup, "reference:f32"), PLACE_ISOLATION_NEVER);
    cr_assert_eq(mode_of(&setup, "good:first"), PLACE_ISOLATION_ALWAYS);
    cr_assert_eq(setup_place(&setup, "source", "good"), TAPML_OK, "%s", status_message());
    cr_assert_not(is_open_here("good"));
    cr_assert_eq(options_parse(specs, 1, (char *[]){never}, &options), TAPML_OK);
    cr_assert_eq(setup_take_isolation(&setup, &options), TAPML_OK);
    cr_assert_eq(mode_of(&setup, "good:first"), PLACE_ISOLATION_NEVER);
    cr_assert_eq(options_parse(specs, 1, (char *[]){loopback}, &options), TAPML_OK);
    cr_assert_eq(setup_take_isolation(&setup, &options), TAPML_OK);
    cr_assert_eq(mode_of(&setup, "reference"), PLACE_ISOLATION_LOOPBACK);
    setup_close(&setup);
}
