// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/plan.h"
#include "harness/scratch.h"
#include "run/plan_setup.h"
#include "run/run_metadata.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"

static const struct options_spec specs[] = {{"--model", "PATH", ""}, PLAN_SETUP_OPTIONS,
                                            SETUP_ISOLATION_OPTIONS, SETUP_MODEL_OPTIONS,
                                            SETUP_OPTIONS,           {NULL, NULL, NULL}};

struct fixture {
    struct setup setup;
    struct options options;
    struct plan_setup plan_setup;
};

static void open_fixture(struct fixture *fixture, char **words)
{
    static char program[1024]; // As long as the setup.
    int count = 0;

    while (words[count] != NULL) {
        count++;
    }
    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(options_parse(specs, count, words, &fixture->options), TAPML_OK);
    cr_assert_eq(setup_open(program, &fixture->options, NULL, &fixture->setup), TAPML_OK);
    cr_assert_eq(plan_setup_open(&fixture->setup, &fixture->options, &fixture->plan_setup),
                 TAPML_OK, "%s", status_message());
}

static void close_fixture(struct fixture *fixture)
{
    plan_setup_close(&fixture->plan_setup);
    setup_close(&fixture->setup);
}

#define OPEN(fixture_, ...) open_fixture((fixture_), (char *[]){__VA_ARGS__, NULL})
#define MUST(call_)         cr_assert_eq((call_), TAPML_OK, "%s", status_message())
#define LLAMA               ((char *)(uintptr_t)scratch_data("models/llama"))

// The place of an op's prefill by name.
static void runs_on(struct fixture *fixture, const char *op, const char *place)
{
    struct plan *plan = NULL;

    MUST(plan_setup_plan(&fixture->plan_setup, &plan));
    cr_assert_str_eq(plan_place(plan, op, "x", PLAN_PREFILL), place);
    plan_destroy(plan);
}

Test(plan_setup, without_words_everything_runs_on_the_source)
{
    struct fixture fixture;
    struct model_options model;

    OPEN(&fixture, "--model", LLAMA, "--backend", "reference:f64");
    MUST(plan_setup_model(&fixture.plan_setup, &model));
    cr_assert_str_eq(model.folder, scratch_data("models/llama"));
    MUST(plan_setup_places(&fixture.plan_setup));
    cr_assert_eq(fixture.setup.place_count, 1);
    cr_assert_str_eq(backend_info(fixture.setup.places[0]->backend)->device, "f64");
    cr_assert(!plan_setup_is_mixed(&fixture.plan_setup));
    cr_assert_eq(plan_setup_least(&fixture.plan_setup), ACTIVATION_F32);
    runs_on(&fixture, "tapml.silu", "source");
    close_fixture(&fixture);
}

Test(plan_setup, reduced_activations_are_a_place_of_their_own)
{
    struct fixture fixture;

    OPEN(&fixture, "--activations", "f16");
    MUST(plan_setup_places(&fixture.plan_setup));
    cr_assert_eq(fixture.setup.place_count, 2);
    cr_assert(plan_setup_is_mixed(&fixture.plan_setup));
    cr_assert_eq(plan_setup_least(&fixture.plan_setup), ACTIVATION_F16);
    runs_on(&fixture, "tapml.silu", "f16");
    close_fixture(&fixture);
}

Test(plan_setup, a_plan_takes_its_places_from_words)
{
    struct scratch scratch;
    struct fixture fixture;

    scratch_make(&scratch);
    char *path = (char *)(uintptr_t)scratch_text(&scratch, "plan.txt", "op=silu -> gpu\n");

    OPEN(&fixture, "--plan", path, "--source", "reference:f32", "--target", "gpu=reference:f64");
    cr_assert_null(fixture.plan_setup.run);
    MUST(plan_setup_places(&fixture.plan_setup));
    cr_assert_eq(fixture.setup.place_count, 2);
    cr_assert_str_eq(fixture.setup.places[1]->settings.name, "gpu");
    cr_assert(plan_setup_is_mixed(&fixture.plan_setup));
    runs_on(&fixture, "tapml.silu", "gpu");
    runs_on(&fixture, "tapml.add", "source");
    close_fixture(&fixture);
    scratch_remove(&scratch);
}

Test(plan_setup, a_plan_takes_the_rest_from_the_run_in_its_folder)
{
    struct scratch scratch;
    struct fixture fixture;
    struct model_options model;
    struct store *store = NULL;
    const struct target_row target = {
        .name = "gpu", .backend = "reference:f32", .activations = "f16", .faults = "", .goal = ""};

    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    MUST(store_begin(store));
    MUST(metadata_set(store, "model.path", scratch_data("models/llama")));
    MUST(metadata_set(store, "model.weights", "q8_0"));
    MUST(metadata_set(store, "model.state", "f16"));
    MUST(metadata_set(store, "source", "reference:f64"));
    MUST(target_declare(store, &target, 1));
    MUST(store_commit(store));
    store_close(store);
    char *path = (char *)(uintptr_t)scratch_text(&scratch, "plan.txt", "* -> gpu\n");

    OPEN(&fixture, "--plan", path, "--state", "f32");
    cr_assert_not_null(fixture.plan_setup.run);
    MUST(plan_setup_model(&fixture.plan_setup, &model));
    cr_assert_str_eq(model.folder, scratch_data("models/llama"));
    cr_assert_str_eq(model.encoding->id, "tapml.q8/1");
    cr_assert_eq(model.state, STATE_F32); // A word goes before the run's.
    MUST(plan_setup_places(&fixture.plan_setup));
    cr_assert_eq(fixture.setup.place_count, 2);
    cr_assert_str_eq(backend_info(fixture.setup.places[0]->backend)->device, "f64");
    cr_assert_eq(fixture.setup.places[1]->settings.activation, ACTIVATION_F16);
    close_fixture(&fixture);
    scratch_remove(&scratch);
}

// An observer of the zoo, which the run had on its target alone.
Test(plan_setup, a_place_has_the_observers_that_it_had_in_the_run)
{
    struct scratch scratch;
    struct fixture fixture;
    struct store *store = NULL;
    char plugin[1024];
    const struct target_row target = {
        .name = "gpu", .backend = "reference:f32", .activations = "f32", .faults = "", .goal = ""};

    scratch_make(&scratch);
    (void)snprintf(plugin, sizeof(plugin), "%s/tests/zoo/sin_quiet_observer.so",
                   getenv("TAPML_TEST_BUILD"));
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    MUST(store_begin(store));
    MUST(metadata_set(store, "source", "reference:f64"));
    MUST(metadata_set(store, RUN_METADATA_OBSERVE "gpu", "sin_quiet_observer"));
    MUST(target_declare(store, &target, 1));
    MUST(store_commit(store));
    store_close(store);
    char *path = (char *)(uintptr_t)scratch_text(&scratch, "plan.txt", "* -> gpu\n");

    OPEN(&fixture, "--plan", path, "--plugin", plugin);
    MUST(plan_setup_places(&fixture.plan_setup));
    cr_assert_null(fixture.setup.places[0]->settings.observers);
    cr_assert_str_eq(fixture.setup.places[1]->settings.observers, "sin_quiet_observer");
    cr_assert_not_null(fixture.setup.places[1]->links[PLACE_OBSERVERS]);
    close_fixture(&fixture);
    OPEN(&fixture, "--plan", path); // Without its plugin the run cannot be repeated.
    cr_assert_eq(plan_setup_places(&fixture.plan_setup), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "no plugin has a component 'sin_quiet_observer'"));
    close_fixture(&fixture);
    scratch_remove(&scratch);
}

// Nobody answers there: what is looked at is who was asked.
Test(plan_setup, a_far_target_of_the_run_is_asked_where_it_was)
{
    struct scratch scratch;
    struct fixture fixture;
    struct store *store = NULL;
    static char patience[] = "--patience=1";
    const struct target_row target = {
        .name = "phone", .backend = "opencl", .activations = "f32", .faults = "", .goal = ""};

    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    MUST(store_begin(store));
    MUST(metadata_set(store, "source", "reference"));
    MUST(metadata_set(store, RUN_METADATA_URL "phone", "tapml://127.0.0.1:1"));
    MUST(target_declare(store, &target, 1));
    MUST(store_commit(store));
    store_close(store);
    char *path = (char *)(uintptr_t)scratch_text(&scratch, "plan.txt", "* -> phone\n");

    OPEN(&fixture, "--plan", path, patience);
    cr_assert_neq(plan_setup_places(&fixture.plan_setup), TAPML_OK);
    cr_assert_null(fixture.setup.places[0]->settings.isolation.url);
    cr_assert_str_eq(fixture.setup.places[1]->settings.isolation.url, "tapml://127.0.0.1:1");
    close_fixture(&fixture);
    scratch_remove(&scratch);
}

Test(plan_setup, words_that_exclude_each_other_are_refused)
{
    struct scratch scratch;
    struct fixture fixture;
    struct model_options model;

    scratch_make(&scratch);
    char *path = (char *)(uintptr_t)scratch_text(&scratch, "plan.txt", "* -> gpu\n");

    OPEN(&fixture, "--plan", path, "--activations", "f16");
    cr_assert_eq(plan_setup_places(&fixture.plan_setup), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "--activations and --plan exclude each other"));
    cr_assert_eq(plan_setup_model(&fixture.plan_setup, &model), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "no model: give --model PATH"));
    close_fixture(&fixture);
    scratch_remove(&scratch);
}
