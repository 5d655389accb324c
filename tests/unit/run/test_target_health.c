// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "exec/place.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "run/target_health.h"
#include "store/invariant.h"
#include "store/metadata.h"
#include "store/step.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/canary.h"
#include "verify/fault.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;
static struct scratch scratch;
static struct store *store;
static struct place place;
static struct target_health *health;

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f32");
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    place = (struct place){.settings = {.name = "phone", .isolation = {.url = "tapml://there:1"}},
                           .backend = backend};
}

static void end(void)
{
    target_health_destroy(health);
    store_close(store);
    scratch_remove(&scratch);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(target_health, .init = begin, .fini = end, .timeout = 60);

static void create(void)
{
    target_health_destroy(health);
    MUST(target_health_create(store, plugins.registry, &place, &health));
}

// On a busy machine "slow: ..." where it is "well" else.
static int is_well(const char *how)
{
    return strcmp(how, "well") == 0 || strncmp(how, "slow: ", 6) == 0;
}

static void expect_known(const char *how)
{
    const char *known = target_health_read(store, "phone");

    if (how != NULL && strcmp(how, "well") == 0) {
        cr_assert(known != NULL && is_well(known), "%s", known);
        return;
    }

    cr_assert_eq(known == NULL, how == NULL);
    cr_assert(how == NULL || strncmp(known, how, strlen(how)) == 0, "%s", known);
}

// A device that becomes sick after so many checks.
static struct fault *plant(int64_t checks)
{
    struct fault_rule rule = {.name = "fault.1",
                              .op = "silu",
                              .instance = FAULT_RULE_CANARY,
                              .words = "scale 1.5",
                              .from_call = checks * CANARY_CALLS * CANARY_TRIES + 1,
                              .probability = 1,
                              .seed = 1};
    struct fault *fault = NULL;

    MUST(fault_rule_parse(&rule));
    MUST(fault_create(backend, &rule, 1, &fault));
    place.backend = fault_backend(fault);
    return fault;
}

static void add_step(void)
{
    MUST(step_add(store, &(struct step_row){.target = "phone",
                                            .step = "move silu",
                                            .verdict = STEP_KEPT,
                                            .reason = "",
                                            .plan = "",
                                            .margin = NAN}));
}

static size_t count_steps(void)
{
    struct arena *arena = arena_create();
    struct step_row *rows = NULL;
    size_t count = 0;

    MUST(step_list(store, "phone", arena, &rows, &count));
    arena_destroy(arena);
    return count;
}

static void add_invariance(void)
{
    MUST(invariant_write(store, "phone",
                         &(struct invariant_row){.op = "tapml.silu",
                                                 .version = 1,
                                                 .axis = "run",
                                                 .verdict = "wrong",
                                                 .instance = "",
                                                 .shape = "",
                                                 .margin = NAN,
                                                 .reason = "",
                                                 .basis = ""}));
}

static size_t count_invariances(void)
{
    struct arena *arena = arena_create();
    struct invariant_row *rows = NULL;
    size_t count = 0;

    MUST(invariant_list(store, "phone", arena, &rows, &count));
    arena_destroy(arena);
    return count;
}

Test(target_health, says_that_a_device_is_well)
{
    create();
    expect_known(NULL);
    MUST(target_health_look(health)); // The first check is asked for.
    expect_known(NULL);
    MUST(target_health_check(health));
    expect_known("well");
    cr_assert_not_null(metadata_get(store, "canary.phone"));
    MUST(target_health_settle(health, 1, TAPML_OK));
    expect_known("well");
}

Test(target_health, has_no_canary_on_this_machine)
{
    char how[TARGET_HEALTH_SENTENCE];
    int is_sick = -1;

    place.settings.isolation.url = NULL;
    create();
    MUST(target_health_check(health));
    MUST(target_health_look(health));
    expect_known(NULL);
    MUST(target_health_ask(store, plugins.registry, &place, &is_sick, how));
    cr_assert_eq(is_sick, 0);
    cr_assert_str_eq(how, "of this machine");
}

Test(target_health, gives_a_sick_device_up)
{
    struct fault *fault = plant(1);

    create();
    MUST(target_health_check(health));
    cr_assert_eq(target_health_check(health), TAPML_DEVICE_LOST);
    cr_assert_eq(strncmp(status_message(), "the device is sick: its canary", 30), 0, "%s",
                 status_message());
    add_step();
    add_invariance();
    cr_assert_eq(target_health_settle(health, 0, TAPML_DEVICE_LOST), TAPML_DEVICE_LOST);
    cr_assert_not_null(strstr(status_message(), "0 cases go back, and nothing is blamed on"), "%s",
                       status_message());
    expect_known("sick: its canary");
    cr_assert_eq(count_steps(), 1, "an earlier start has made it");
    cr_assert_eq(count_invariances(), 0, "it may be the sick device's");
    cr_assert_eq(target_health_settle(health, 1, TAPML_DEVICE_LOST), TAPML_DEVICE_LOST);
    cr_assert_eq(count_steps(), 0);
    backend_release(fault_backend(fault));
}

// As often as it is to be looked at.
Test(target_health, looks_after_a_device_between_its_cases)
{
    struct fault *fault = plant(1);
    tapml_status status = TAPML_OK;
    size_t cases = 0;

    create();
    MUST(target_health_check(health));
    while (status == TAPML_OK) {
        cases++;
        status = target_health_look(health);
    }
    cr_assert_eq(status, TAPML_DEVICE_LOST);
    cr_assert_leq(cases, TARGET_HEALTH_CASES);
    backend_release(fault_backend(fault));
}

// Turns a character of what the store has of the canary.
static void turn(size_t index, char *io_value)
{
    io_value[index] = io_value[index] == '0' ? '1' : '0';
    MUST(metadata_note(store, "canary.phone", io_value));
}

// The next start has what the first one has noted, of the same device alone.
Test(target_health, compares_with_earlier_starts)
{
    char how[TARGET_HEALTH_SENTENCE], value[128], other[128];
    int is_sick = -1;

    create();
    MUST(target_health_check(health));
    (void)snprintf(value, sizeof(value), "%s", metadata_get(store, "canary.phone"));
    create();
    MUST(target_health_check(health));
    MUST(target_health_ask(store, plugins.registry, &place, &is_sick, how));
    cr_assert(is_well(how), "%s", how);
    (void)snprintf(other, sizeof(other), "%s", value);
    turn(0, other); // Of another device: this one's is noted in its place.
    MUST(target_health_ask(NULL, plugins.registry, &place, &is_sick, how));
    cr_assert(is_well(how), "%s", how);
    create();
    MUST(target_health_check(health));
    cr_assert_str_eq(metadata_get(store, "canary.phone"), value);
}

// It was well at an earlier start: what that has found stays.
Test(target_health, gives_a_device_up_that_is_sick_from_the_beginning_on)
{
    char how[TARGET_HEALTH_SENTENCE];
    int is_sick = -1;

    create();
    MUST(target_health_check(health));
    add_step();
    struct fault *fault = plant(0);

    MUST(target_health_ask(store, plugins.registry, &place, &is_sick, how));
    cr_assert_eq(is_sick, 1);
    cr_assert_eq(strncmp(how, "sick: its canary", 16), 0, "%s", how);
    create();
    cr_assert_eq(target_health_check(health), TAPML_DEVICE_LOST);
    cr_assert_eq(target_health_settle(health, 0, TAPML_DEVICE_LOST), TAPML_DEVICE_LOST);
    cr_assert_eq(count_steps(), 1);
    backend_release(fault_backend(fault));
}

// It was sick when an earlier start has noted its canary, and is well now: nothing of that stays,
// and nobody has to make a new run.
Test(target_health, begins_anew_where_the_first_canary_was_wrong)
{
    char how[TARGET_HEALTH_SENTENCE], value[128], wrong[128];
    int is_sick = -1;

    create();
    MUST(target_health_check(health));
    (void)snprintf(value, sizeof(value), "%s", metadata_get(store, "canary.phone"));
    (void)snprintf(wrong, sizeof(wrong), "%s", value);
    turn(strlen(wrong) - 1, wrong);
    add_step();
    add_invariance();
    MUST(target_health_ask(store, plugins.registry, &place, &is_sick, how));
    cr_assert_eq(is_sick, 0);
    cr_assert_not_null(strstr(how, "gave other bits in its run"), "%s", how);
    create();
    MUST(target_health_check(health));
    MUST(target_health_settle(health, 0, TAPML_OK));
    expect_known("well");
    cr_assert_str_eq(metadata_get(store, "canary.phone"), value);
    cr_assert_eq(count_steps(), 0);
    cr_assert_eq(count_invariances(), 0);
}
