// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plugin_fixture.h"
#include "verify/fault_rule.h"
#include "verify/makers.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;
static struct calibrator *calibrator;
static struct makers *makers;

static void make(const struct fault_rule *faults, size_t count)
{
    makers_destroy(makers);
    MUST(makers_create(&(struct makers_options){.registry = plugins.registry,
                                                .backend = backend,
                                                .calibrator = calibrator,
                                                .faults = faults,
                                                .fault_count = count},
                       &makers));
}

static void begin(void)
{
    plugin_fixture_open(&plugins);
    MUST(registry_open(plugins.registry, "reference:f32-blocked", &backend));
    MUST(calibrator_create(plugins.registry, NULL, backend, &calibrator));
    make(NULL, 0);
}

static void end(void)
{
    makers_destroy(makers);
    calibrator_destroy(calibrator);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(makers, .init = begin, .fini = end, .timeout = 60);

Test(makers, each_op_has_a_digest_of_its_own_and_one_of_its_oracle)
{
    const struct result_maker *linear = NULL, *silu = NULL, *again = NULL;
    MUST(makers_find(makers, "tapml.linear", 1, &linear));
    MUST(makers_find(makers, "tapml.silu", 1, &silu));
    MUST(makers_find(makers, "tapml.linear", 1, &again));
    cr_expect_eq(linear, again);
    cr_expect_str_neq(linear->implementation, silu->implementation);
    cr_expect_eq(strncmp(linear->implementation, "org.tapml.cpu ", 14), 0);
    cr_expect_str_eq(linear->device, "reference:f32-blocked");
    cr_expect_str_neq(linear->oracle, "");
    cr_expect_str_neq(linear->oracle, silu->oracle);
}

Test(makers, an_exact_op_has_no_oracle_and_an_unknown_one_the_build)
{
    const struct result_maker *copy = NULL, *other = NULL;
    MUST(makers_find(makers, "tapml.copy", 1, &copy));
    cr_expect_str_eq(copy->oracle, "");
    MUST(makers_find(makers, "org.example.none", 1, &other));
    cr_expect_not_null(strstr(other->implementation, backend_info(backend)->build_id));
}

static const char *options_of(const char *op)
{
    const struct result_maker *maker = NULL;
    MUST(makers_find(makers, op, 1, &maker));
    return maker->options;
}

// What cannot strike an op leaves its results fresh.
Test(makers, an_op_depends_on_the_faults_that_can_strike_it)
{
    struct fault_rule faults[] = {
        {.name = "fault.1", .op = "silu", .instance = "layers.0/*", .words = "scale 1.5"},
        {.name = "fault.2", .op = "*", .instance = "*", .words = "write-late"}};
    MUST(fault_rule_parse(&faults[0]));
    MUST(fault_rule_parse(&faults[1]));
    cr_expect_str_eq(options_of("tapml.silu"), "");
    make(faults, 1);
    cr_expect_not_null(strstr(options_of("tapml.silu"), "scale 1.5"));
    cr_expect_str_eq(options_of("tapml.linear"), "");
    cr_expect_not_null(strstr(options_of("org.example.none"), "scale 1.5"));
    make(faults, 2); // The driver serves all ops.
    cr_expect_not_null(strstr(options_of("tapml.linear"), "write-late"));
}
