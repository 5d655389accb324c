// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/run_metadata.h"
#include "store/step.h"
#include "store/target.h"

static tapml_status settle(struct short_setup *run)
{
    return run_metadata_settle(run->store, &run->config, &run->setup, &run->prompts);
}

static tapml_status settle_target(struct short_setup *run)
{
    const struct run_judge judge = {
        .from = {.setup = &run->setup, .config = &run->config, .store = run->store}};

    return run_metadata_settle_target(&judge, run->setup.places[1]);
}

static struct target_row find(const struct short_setup *run, struct arena *arena)
{
    struct target_row row;

    SHORT_MUST(target_find(run->store, "other", arena, &row));
    return row;
}

Test(metadata, the_same_run_goes_on)
{
    struct short_setup run;
    struct arena *arena = arena_create();

    short_setup_open(&run);
    SHORT_MUST(settle(&run));
    SHORT_MUST(settle(&run));
    struct target_row target = find(&run, arena);

    cr_assert_str_eq(target.backend, "reference:f64");
    cr_assert_str_eq(target.goal, "* -> other\n");
    cr_assert_str_eq(target.given_up, "");
    arena_destroy(arena);
    short_setup_close(&run);
}

Test(metadata, another_run_is_refused_by_the_name_of_what_differs)
{
    struct short_setup run;

    short_setup_open(&run);
    SHORT_MUST(settle(&run));
    run.config.decode = 4;
    cr_assert_eq(settle(&run), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "[run] decode = 3, now it is 4"));
    run.config.decode = 3;
    run.config.source.backend = "reference:f64";
    cr_assert_eq(settle(&run), TAPML_PRECONDITION);
    cr_assert_not_null(
        strstr(status_message(), "[source] backend = reference:f32, now it is reference:f64"));
    run.config.source.backend = "reference:f32";
    run.prompts.count--;
    cr_assert_eq(settle(&run), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "another [run] prompts"));
    run.prompts.count++;
    SHORT_MUST(settle(&run));
    short_setup_close(&run);
}

static void describe(struct short_setup *run, const char *identity, const char *implementations)
{
    SHORT_MUST(
        target_describe(run->store, &(struct target_row){.name = "other",
                                                         .component = "",
                                                         .device = "",
                                                         .device_name = "",
                                                         .driver = "",
                                                         .plugin = "",
                                                         .plugin_version = "",
                                                         .build = "",
                                                         .identity = identity,
                                                         .implementations = implementations}));
}

Test(metadata, what_other_code_found_is_forgotten)
{
    struct short_setup run;
    struct arena *arena = arena_create();
    struct step_row row;

    short_setup_open(&run);
    SHORT_MUST(settle(&run));
    SHORT_MUST(settle_target(&run));
    SHORT_MUST(step_add(
        run.store,
        &(struct step_row){
            .target = "other", .step = "final", .verdict = "kept", .reason = "", .plan = ""}));
    SHORT_MUST(settle_target(&run));
    SHORT_MUST(step_find(run.store, "other", "final", arena, &row));
    describe(&run, find(&run, arena).identity, "older code");
    SHORT_MUST(settle_target(&run));
    cr_assert_eq(step_find(run.store, "other", "final", arena, &row), TAPML_NOT_FOUND);
    describe(&run, "another device", find(&run, arena).implementations);
    SHORT_MUST(settle_target(&run));
    cr_assert_str_neq(find(&run, arena).identity, "another device");
    arena_destroy(arena);
    short_setup_close(&run);
}

static void set_faults(struct short_setup *run, const struct fault_rule *rules, size_t count)
{
    run->config.targets[0].faults = run->setup.places[1]->settings.faults = rules;
    run->config.targets[0].fault_count = run->setup.places[1]->settings.fault_count = count;
}

Test(metadata, a_target_with_another_fault_is_another)
{
    struct short_setup run;
    struct arena *arena = arena_create();
    struct step_row row;
    const struct fault_rule rule = {.name = "fault.1",
                                    .op = "*",
                                    .instance = "*",
                                    .words = "nan",
                                    .from_call = 1,
                                    .probability = 1,
                                    .seed = 4};

    short_setup_open(&run);
    SHORT_MUST(settle(&run));
    SHORT_MUST(settle_target(&run));
    cr_assert_str_eq(find(&run, arena).faults, "");
    SHORT_MUST(step_add(
        run.store,
        &(struct step_row){
            .target = "other", .step = "final", .verdict = "kept", .reason = "", .plan = ""}));
    set_faults(&run, &rule, 1);
    SHORT_MUST(settle(&run));
    SHORT_MUST(settle_target(&run));
    cr_assert_eq(step_find(run.store, "other", "final", arena, &row), TAPML_NOT_FOUND);
    cr_assert_str_eq(find(&run, arena).faults,
                     "fault.1: nan, op=* instance=* from-call=1 probability=1 seed=4");
    set_faults(&run, NULL, 0);
    SHORT_MUST(settle(&run));
    SHORT_MUST(settle_target(&run));
    cr_assert_str_eq(find(&run, arena).faults, "");
    arena_destroy(arena);
    short_setup_close(&run);
}

static void set_activation(struct short_setup *run, enum activation activation)
{
    run->config.targets[0].activation = activation;
    run->setup.places[1]->settings.activation = activation;
}

Test(metadata, a_target_with_other_activations_is_another)
{
    struct short_setup run;
    struct arena *arena = arena_create();
    struct step_row row;

    short_setup_open(&run);
    SHORT_MUST(settle(&run));
    SHORT_MUST(settle_target(&run));
    cr_assert_str_eq(find(&run, arena).activations, "f32");
    SHORT_MUST(step_add(
        run.store,
        &(struct step_row){
            .target = "other", .step = "final", .verdict = "kept", .reason = "", .plan = ""}));
    set_activation(&run, ACTIVATION_F16);
    SHORT_MUST(settle(&run));
    SHORT_MUST(settle_target(&run));
    cr_assert_eq(step_find(run.store, "other", "final", arena, &row), TAPML_NOT_FOUND);
    cr_assert_str_eq(find(&run, arena).activations, "f16");
    set_activation(&run, ACTIVATION_F32);
    SHORT_MUST(settle(&run));
    cr_assert_str_eq(find(&run, arena).activations, "f32");
    arena_destroy(arena);
    short_setup_close(&run);
}
