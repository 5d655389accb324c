// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/late.h"
#include "harness/plugin_fixture.h"
#include "verify/driver_queue.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// A device of which a wrapper of the test spoils the queue.
struct hasty {
    struct backend_wrapper wrapper; // First.
    struct backend_vt vt;
    uint64_t calls;
};

static struct plugin_fixture plugins;
static struct backend *backend;
static struct hasty hasty;

static void wrap(struct backend *inner)
{
    hasty = (struct hasty){.vt = backend_forward_vt};
    hasty.wrapper = (struct backend_wrapper){.backend = {.vt = &hasty.vt}, .inner = inner};
}

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f32");
    wrap(backend);
}

static void end(void)
{
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(driver_queue, .init = begin, .fini = end, .timeout = 60);

typedef tapml_status check_fn(struct driver_trial *trial);

static void expect(check_fn *check, enum driver_outcome outcome, const char *sentence)
{
    struct driver_result result = {.outcome = DRIVER_PASSED};
    struct driver_trial trial;
    MUST(driver_trial_open(&hasty.wrapper.backend, registry_catalogue(plugins.registry), 1, &result,
                           &trial));
    MUST(check(&trial));
    MUST(backend_wait(&hasty.wrapper.backend));
    driver_trial_close(&trial);
    cr_expect_eq(result.outcome, outcome, "%d: %s", (int)result.outcome, result.reason);
    cr_expect_not_null(strstr(result.reason, sentence), "'%s' lacks '%s'", result.reason, sentence);
}

Test(driver_queue, a_queue_that_does_what_it_shall_passes)
{
    expect(driver_queue_order, DRIVER_PASSED, "");
    expect(driver_queue_points, DRIVER_PASSED, "");
    expect(driver_queue_launch, DRIVER_PASSED, "");
    expect(driver_queue_arguments, DRIVER_PASSED, "");
}

// A point that is reached before the work in front of it.
static tapml_status return_at_once(struct backend *on, struct backend_point point)
{
    (void)on;
    (void)point;
    return TAPML_OK;
}

Test(driver_queue, a_point_without_its_work_is_found)
{
    struct backend *late = late_create(&(struct late_options){.inner = backend});
    wrap(late);
    hasty.vt.wait_for = return_at_once;
    expect(driver_queue_points, DRIVER_FAILED, "a wait for a point of 4096 bytes at 0, byte 0");
    backend_release(late);
}

Test(driver_queue, a_notification_that_never_comes_is_found)
{
    struct backend *late =
        late_create(&(struct late_options){.inner = backend, .notices = LATE_FORGETS});
    wrap(late);
    expect(driver_queue_points, DRIVER_FAILED, "notified of 0 times before a wait");
    backend_release(late);
}

// A launch that begins before the write that is queued in front of it: without a wait its input is
// what was there.
static tapml_status call_early(struct backend *on, const struct backend_call *call)
{
    const tapml_tensor *input = call->args[0].u.p;
    const uint64_t bytes = (uint64_t)input->shape[0] * sizeof(float);
    (void)on;
    if (((struct hasty *)on)->calls++ == 0) {
        return backend_call(backend, call); // By itself.
    }
    TAPML_TRY(backend_fill(backend, input->buffer, 0, bytes, 0));
    return backend_call(backend, call);
}

static tapml_status wait_and_settle(struct backend *on)
{
    ((struct hasty *)on)->calls = 0;
    return backend_wait(backend);
}

static tapml_status write_unsettled(
    struct backend *on, tapml_object *buffer, uint64_t offset, const void *source, uint64_t size)
{
    ((struct hasty *)on)->calls = 1;
    return backend_write(backend, buffer, offset, source, size);
}

Test(driver_queue, a_launch_that_does_not_see_what_was_queued_is_the_drivers)
{
    hasty.vt.call = call_early;
    hasty.vt.wait = wait_and_settle;
    hasty.vt.write = write_unsettled;
    expect(driver_queue_launch, DRIVER_FAILED,
           "work queued around a launch: wrong each of 8 times with tapml.copy of 1 elements");
}

// A kernel that is wrong in any case.
static tapml_status call_wrongly(struct backend *on, const struct backend_call *call)
{
    const tapml_tensor *output = call->args[call->op->n_params - 1].u.p;
    (void)on;
    TAPML_TRY(backend_call(backend, call));
    return backend_fill(backend, output->buffer, output->offset, sizeof(float), 0x7fc00000);
}

// A kernel that is wrong now and then.
static tapml_status call_wrongly_at_times(struct backend *on, const struct backend_call *call)
{
    return ((struct hasty *)on)->calls++ % 3 == 0 ? call_wrongly(on, call)
                                                  : backend_call(backend, call);
}

Test(driver_queue, a_wrong_kernel_is_not_the_drivers)
{
    hasty.vt.call = call_wrongly;
    expect(driver_queue_launch, DRIVER_SKIPPED,
           "with tapml.copy of 1 elements was right 0 of 8 times, and by itself 0 times");
    expect(driver_queue_arguments, DRIVER_SKIPPED, "that is not for the driver alone");
    hasty.vt.call = call_wrongly_at_times;
    expect(driver_queue_launch, DRIVER_SKIPPED, "that is not for the driver alone");
}

// A kernel that ends its worker, or ends it as soon as it is asked for.
static tapml_status call_and_crash(struct backend *on, const struct backend_call *call)
{
    (void)on;
    return status_fail(TAPML_INTERNAL, "killed by SIGSEGV while it ran %s", call->op->name);
}

static tapml_status crash_when_asked(struct backend *on,
                                     const struct compiled_op *schema,
                                     const tapml_value *args,
                                     tapml_support *out_support)
{
    (void)on;
    (void)args;
    (void)out_support;
    return status_fail(TAPML_INTERNAL, "killed by SIGSEGV when asked for %s", schema->op->name);
}

Test(driver_queue, a_kernel_that_crashes_is_not_the_drivers)
{
    hasty.vt.call = call_and_crash;
    expect(driver_queue_launch, DRIVER_SKIPPED,
           "with tapml.copy of 1 elements was right 0 of 8 times, and by itself 0 times");
    hasty.vt.supports = crash_when_asked;
    expect(driver_queue_arguments, DRIVER_SKIPPED,
           "asked for tapml.scale: killed by SIGSEGV when asked for tapml.scale");
}

Test(driver_queue, a_device_without_the_ops_is_not_judged_by_launches)
{
    struct backend *late = late_create(
        &(struct late_options){.inner = backend, .lacks = "tapml.copy", .refuses = "tapml.scale"});
    wrap(late);
    expect(driver_queue_launch, DRIVER_SKIPPED, "the device does not have the op tapml.copy");
    expect(driver_queue_arguments, DRIVER_SKIPPED,
           "the device refuses the op tapml.scale: too late for that");
    backend_release(late);
}
