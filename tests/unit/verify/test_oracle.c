// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plugin_fixture.h"
#include "verify/oracle.h"

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct oracle_options options;
static struct oracle *oracle;

static const struct arithmetic *form_of(void *user, const tapml_op *op)
{
    (void)user;
    (void)op;
    return &arithmetic_f32;
}

static void begin(void)
{
    plugin_fixture_open(&plugins);
    options = (struct oracle_options){.registry = plugins.registry, .form = form_of};
}

static void end(void)
{
    oracle_destroy(oracle);
    plugin_fixture_close(&plugins);
}

TestSuite(oracle, .init = begin, .fini = end, .timeout = 60);

Test(oracle, opens_what_the_manifest_names)
{
    MUST(oracle_create(&options, "reference", &oracle));
    cr_assert_str_eq(oracle->list, "reference f64 f32 f32-reversed f32-blocked");
    cr_assert_eq(oracle->device_count, 0, "nothing is open");
    cr_assert_eq(oracle_executions(oracle), 0);
    MUST(oracle_open(oracle, TAPML_FORMAT_F32));
    MUST(oracle_open(oracle, TAPML_FORMAT_F32));
    cr_assert_eq(oracle->device_count, 4, "once");
    cr_assert_str_eq(backend_info(oracle->devices[0].backend)->device, "f64");
}

Test(oracle, narrow_sums_are_opened_for_those_who_declare_them)
{
    const struct arithmetic narrow = {.accumulator = TAPML_FORMAT_F16};
    MUST(oracle_create(&options, "reference", &oracle));
    MUST(oracle_open(oracle, TAPML_FORMAT_F16));
    MUST(oracle_open(oracle, TAPML_FORMAT_F16));
    cr_assert_eq(oracle->device_count, 5);
    cr_assert_str_eq(backend_info(oracle->devices[4].backend)->device, "f16-sums");
    cr_assert(oracle_shows(oracle, 4, &narrow));
    cr_assert_not(oracle_shows(oracle, 4, &arithmetic_f32));
    cr_assert(oracle_shows(oracle, 1, &narrow));
}

Test(oracle, the_exact_device_shows_what_is_rounded)
{
    const struct arithmetic rounded = {.result = TAPML_FORMAT_BF16};
    MUST(oracle_create(&options, "reference", &oracle));
    MUST(oracle_open(oracle, TAPML_FORMAT_F32));
    cr_assert_not(oracle_shows(oracle, 0, &arithmetic_f32));
    cr_assert(oracle_shows(oracle, 0, &rounded));
}

Test(oracle, a_target_takes_no_part)
{
    struct backend *target = plugin_fixture_backend(&plugins, "reference:f32");
    options.target = target;
    MUST(oracle_create(&options, "reference", &oracle));
    cr_assert_str_eq(oracle->list, "reference f64 f32-reversed f32-blocked");
    MUST(oracle_open(oracle, TAPML_FORMAT_F32));
    cr_assert_eq(oracle->device_count, 3);
    backend_release(target);
}

// What is right is not rounded, and all devices differ from it.
Test(oracle, of_a_reduced_target)
{
    options.activation = ACTIVATION_F16;
    MUST(oracle_create(&options, "reference", &oracle));
    MUST(oracle_open(oracle, TAPML_FORMAT_F32));
    cr_assert_eq(oracle->device_count, 4);
    cr_assert_not_null(oracle->exact);
    cr_assert_neq(oracle->exact, oracle->devices[0].replay);
    cr_assert(oracle_shows(oracle, 0, &arithmetic_f32));
}

Test(oracle, a_component_without_such_devices)
{
    MUST(oracle_create(&options, "nowhere", &oracle));
    MUST(oracle_open(oracle, TAPML_FORMAT_F32));
    cr_assert_eq(oracle->device_count, 0);
    oracle_destroy(NULL);
}
