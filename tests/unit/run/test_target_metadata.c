// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/run_metadata.h"
#include "run/target_metadata.h"
#include "store/step.h"
#include "store/target.h"

static struct short_setup run;
static struct arena *arena;

static void begin(void)
{
    short_setup_open(&run);
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    short_setup_close(&run);
}

TestSuite(target_metadata, .init = begin, .fini = end);

static tapml_status settle(void)
{
    return run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts);
}

static void settle_target(void)
{
    const struct run_judge judge = {
        .from = {.setup = &run.setup, .config = &run.config, .store = run.store}};

    SHORT_MUST(target_metadata_settle(&judge, run.setup.places[1]));
}

static struct target_row find(void)
{
    struct target_row row;

    SHORT_MUST(target_find(run.store, "other", arena, &row));
    return row;
}

// A run whose target has a step.
static void settle_with_step(void)
{
    SHORT_MUST(settle());
    settle_target();
    SHORT_MUST(step_add(
        run.store,
        &(struct step_row){
            .target = "other", .step = "final", .verdict = "kept", .reason = "", .plan = ""}));
}

static tapml_status find_step(void)
{
    struct step_row row;

    return step_find(run.store, "other", "final", arena, &row);
}

static void describe(const char *identity, const char *implementations)
{
    SHORT_MUST(
        target_describe(run.store, &(struct target_row){.name = "other",
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

Test(target_metadata, what_other_code_found_is_forgotten)
{
    settle_with_step();
    settle_target();
    SHORT_MUST(find_step());
    describe(find().identity, "older code");
    settle_target();
    cr_assert_eq(find_step(), TAPML_NOT_FOUND);
    describe("another device", find().implementations);
    settle_target();
    cr_assert_str_neq(find().identity, "another device");
}

static void set_faults(const struct fault_rule *rules, size_t count)
{
    run.config.targets[0].faults = run.setup.places[1]->settings.faults = rules;
    run.config.targets[0].fault_count = run.setup.places[1]->settings.fault_count = count;
}

Test(target_metadata, a_target_with_another_fault_is_another)
{
    const struct fault_rule rule = {.name = "fault.1",
                                    .op = "*",
                                    .instance = "*",
                                    .words = "nan",
                                    .from_call = 1,
                                    .probability = 1,
                                    .seed = 4};

    settle_with_step();
    cr_assert_str_eq(find().faults, "");
    set_faults(&rule, 1);
    SHORT_MUST(settle());
    settle_target();
    cr_assert_eq(find_step(), TAPML_NOT_FOUND);
    cr_assert_str_eq(find().faults,
                     "fault.1: nan, op=* instance=* from-call=1 probability=1 seed=4");
    set_faults(NULL, 0);
    SHORT_MUST(settle());
    settle_target();
    cr_assert_str_eq(find().faults, "");
}

static void set_activation(enum activation activation)
{
    run.config.targets[0].activation = activation;
    run.setup.places[1]->settings.activation = activation;
}

Test(target_metadata, a_target_with_other_activations_is_another)
{
    settle_with_step();
    cr_assert_str_eq(find().activations, "f32");
    set_activation(ACTIVATION_F16);
    SHORT_MUST(settle());
    settle_target();
    cr_assert_eq(find_step(), TAPML_NOT_FOUND);
    cr_assert_str_eq(find().activations, "f16");
    set_activation(ACTIVATION_F32);
    SHORT_MUST(settle());
    cr_assert_str_eq(find().activations, "f32");
}

Test(target_metadata, a_member_is_the_device_that_its_target_is)
{
    const struct run_judge_options made_of = {
        .setup = &run.setup, .config = &run.config, .store = run.store};
    const struct place *member = run.setup.places[1];

    SHORT_MUST(settle());
    SHORT_MUST(target_metadata_settle_cases(&made_of, member));
    SHORT_MUST(target_metadata_check_member(&made_of, member));
    describe("org.example.another x:y 1.0", "");
    cr_assert_eq(target_metadata_check_member(&made_of, member), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "expected 'org.example.another x:y 1.0', found '"),
                       "%s", status_message());
    cr_expect_str_eq(find().identity, "org.example.another x:y 1.0", "nothing changes");
}
