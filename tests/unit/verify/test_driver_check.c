// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/late.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "verify/driver_check.h"
#include "verify/fault.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f32");
}

static void end(void)
{
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(driver_check, .init = begin, .fini = end, .timeout = 60);

static const struct catalogue *catalogue(void)
{
    return registry_catalogue(plugins.registry);
}

static struct driver_result run_check(struct backend *on, const char *name)
{
    struct driver_result result = {.outcome = DRIVER_SKIPPED};
    size_t index = 0;
    while (strcmp(driver_check_name(index), name) != 0) {
        index++;
        cr_assert_lt(index, driver_check_count(), "there is no check '%s'", name);
    }
    MUST(driver_check_run(on, catalogue(), index, DRIVER_CHECK_SEED, &result));
    return result;
}

static void expect_right(struct backend *on, size_t skipped)
{
    struct driver_summary summary;
    MUST(driver_check_all(on, catalogue(), DRIVER_CHECK_SEED, &summary));
    cr_expect_not(summary.is_wrong, "%s: %s", driver_check_name(summary.failed),
                  summary.failure.reason);
    cr_expect_eq(summary.skipped, skipped);
    cr_expect_eq(summary.passed, driver_check_count() - skipped);
    cr_expect_gt(summary.trials, 80);
}

Test(driver_check, a_right_device_passes)
{
    expect_right(backend, 0);
}

// It shows no memory and wraps none, and does nothing before it has to.
Test(driver_check, a_device_that_works_late_passes)
{
    struct backend *late =
        late_create(&(struct late_options){.inner = backend, .notices = LATE_NOTIFIES});
    expect_right(late, 2);
    backend_release(late);
}

// Smaller transfers are tried, and nothing is too large.
Test(driver_check, a_device_of_small_buffers_is_checked_too)
{
    struct driver_summary summary;
    struct backend *late = late_create(&(struct late_options){
        .inner = backend, .notices = LATE_NOTIFIES, .buffer_bytes_max = 100000});
    expect_right(late, 2);
    backend_release(late);
    late = late_create(&(struct late_options){.inner = backend, .buffer_bytes_max = 4096});
    MUST(driver_check_all(late, catalogue(), DRIVER_CHECK_SEED, &summary));
    cr_expect_not(summary.is_wrong, "%s", summary.failure.reason);
    cr_expect_eq(summary.skipped, driver_check_count());
    backend_release(late);
}

Test(driver_check, every_check_has_a_name_of_its_own_and_a_sentence)
{
    for (size_t i = 0; i < driver_check_count(); i++) {
        cr_expect_gt(strlen(driver_check_about(i)), 10);
        for (size_t k = 0; k < i; k++) {
            cr_expect_str_neq(driver_check_name(i), driver_check_name(k));
        }
    }
    cr_expect_leq(driver_check_count(), DRIVER_CHECKS_MAX);
}

// A fault, the check that is to blame for it, and what stands in its sentence.
struct blamed_fault {
    const char *words, *check, *sentence;
};

static const struct blamed_fault faults[] = {
    {"fill-start", "fill", "after a fill of 8 bytes at "},
    {"fill-tail", "fill", "after a fill of 4 bytes at 0, byte 0 is "},
    {"write-tail", "write", "after a write of 4 bytes at 0, byte 0 is "},
    {"write-late", "order", "byte 1024 is "},
    {"read-tail", "read", "after a read of 4 bytes at 0, byte 0 is "},
    {"stale-arguments", "arguments", "the second of two launches with other arguments: wrong each"},
};

static struct fault *plant(struct backend *inner, const char *words)
{
    struct fault_rule rule = {.name = "fault.1",
                              .op = "*",
                              .instance = "*",
                              .words = words,
                              .from_call = 1,
                              .probability = 1,
                              .seed = 1};
    struct fault *fault = NULL;
    MUST(fault_rule_parse(&rule));
    MUST(fault_create(inner, &rule, 1, &fault));
    return fault;
}

static void expect_blamed(struct backend *inner, const struct blamed_fault *wanted)
{
    struct fault *fault = plant(inner, wanted->words);
    struct driver_summary summary;
    MUST(driver_check_all(fault_backend(fault), catalogue(), DRIVER_CHECK_SEED, &summary));
    cr_assert(summary.is_wrong, "%s is not found", wanted->words);
    cr_expect_str_eq(driver_check_name(summary.failed), wanted->check, "%s: %s", wanted->words,
                     summary.failure.reason);
    cr_expect_not_null(strstr(summary.failure.reason, wanted->sentence), "'%s' lacks '%s'",
                       summary.failure.reason, wanted->sentence);
    cr_expect_gt(fault_triggered(fault, 0), 0);
    fault_destroy(fault);
}

Test(driver_check, each_fault_of_a_driver_is_found_by_its_check)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        expect_blamed(backend, &faults[i]);
    }
}

Test(driver_check, a_device_that_works_late_is_found_wrong_too)
{
    struct backend *late = late_create(&(struct late_options){.inner = backend});
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        expect_blamed(late, &faults[i]);
    }
    backend_release(late);
}

Test(driver_check, a_seed_repeats_what_it_found)
{
    struct fault *fault = plant(backend, "fill-start");
    const struct driver_result first = run_check(fault_backend(fault), "fill");
    const struct driver_result second = run_check(fault_backend(fault), "fill");
    cr_expect_eq(first.outcome, DRIVER_FAILED);
    cr_expect_eq(first.trials, 2);
    cr_expect_gt(first.offset, 0);
    cr_expect_eq(first.offset, second.offset);
    cr_expect_eq(first.size, second.size);
    cr_expect_str_eq(first.reason, second.reason);
    fault_destroy(fault);
}

// The faults of ops are for cases: a check of the driver is no call of an instance.
Test(driver_check, a_fault_of_an_op_is_not_the_drivers)
{
    static const char *const words[] = {"zero-row", "nan", "skip-write", "drop-tail", "scale 3"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        struct fault *fault = plant(backend, words[i]);
        expect_right(fault_backend(fault), 0);
        cr_expect_eq(fault_triggered(fault, 0), 0);
        fault_destroy(fault);
    }
}

Test(driver_check, a_lack_of_memory_is_a_status)
{
    struct driver_summary summary;
    expect_right(backend, 0); // From here on the façade has room for all buffers.
    SCRATCH_SWEEP(driver_check_all(backend, catalogue(), DRIVER_CHECK_SEED, &summary));
    cr_expect_not(summary.is_wrong);
}

// A device whose worker is killed from outside when it is asked what it supports, the first time.
struct killed_device {
    struct backend_wrapper wrapper; // First.
    uint64_t kills;
};

static uint64_t count_kills(const struct backend *device)
{
    return ((const struct killed_device *)device)->kills;
}

static tapml_status supports_or_dies(struct backend *device,
                                     const struct compiled_op *op,
                                     const tapml_value *values,
                                     tapml_support *answer)
{
    struct killed_device *killed = (struct killed_device *)device;
    if (killed->kills == 0) {
        killed->kills = 1;
        return status_fail(TAPML_INTERNAL, "the worker was killed by SIGKILL");
    }
    return backend_supports(killed->wrapper.inner, op, values, answer);
}

Test(driver_check, a_worker_that_is_killed_makes_no_skip)
{
    struct backend_vt vt = backend_forward_vt;
    vt.kills = count_kills;
    vt.supports = supports_or_dies;
    struct killed_device killed = {.wrapper = {.backend = {.vt = &vt}, .inner = backend}};
    expect_right(&killed.wrapper.backend, 0);
    cr_expect_eq(killed.kills, 1u);
}
