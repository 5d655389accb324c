// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// What is not an op: memory, transfers, timelines, counters, options, answers.

#include "device.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct plugin *device;

static void open_device(void)
{
    device = device_open();
}

static void close_device(void)
{
    device_close(device);
}

TestSuite(queue, .init = open_device, .fini = close_device, .timeout = 300);

static void expect_ok(tapml_status status, const tapml_call *call)
{
    cr_assert_eq(status, TAPML_OK, "%d, %s", status, call->message);
}

static tapml_object *new_buffer(size_t bytes)
{
    tapml_object *buffer = NULL;
    tapml_call call = {0};

    expect_ok(plugin_table(device)->buffer_new(plugin_device(device), &call, 0, bytes, &buffer),
              &call);
    return buffer;
}

static void release(tapml_object *object)
{
    object->vt->release(object);
}

static void wait_for_all(void)
{
    tapml_call call = {0};

    expect_ok(plugin_wait(device, &call), &call);
}

// Writes, fills the middle, copies, reads back: each command sees what those before it did.
Test(queue, transfers)
{
    enum { COUNT = 1 << 20 };
    static const size_t ends[][2] = {
        {0, COUNT}, {1, COUNT - 1}, {5, 6}, {7, 7 + 65}, {3, COUNT - 2}};
    const tapml_backend *table = plugin_table(device);
    tapml_object *queue = plugin_queue(device), *a = new_buffer(COUNT * 4),
                 *b = new_buffer(COUNT * 4);
    uint32_t *data = malloc(COUNT * 4), *computed = malloc(COUNT * 4);
    tapml_call call = {0};

    cr_assert(data != NULL && computed != NULL);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        const size_t begin = ends[i][0], end = ends[i][1];

        for (uint32_t j = 0; j < COUNT; j++) {
            data[j] = j * 2654435761u;
        }
        expect_ok(table->queue_write(queue, &call, a, 0, data, COUNT * 4), &call);
        expect_ok(table->queue_fill(queue, &call, a, begin * 4, (end - begin) * 4, 0x7fc0dead),
                  &call);
        expect_ok(table->queue_copy(queue, &call, a, 4, b, 0, (COUNT - 1) * 4), &call);
        expect_ok(table->queue_read(queue, &call, b, 0, computed, (COUNT - 1) * 4), &call);
        wait_for_all();
        for (size_t j = begin; j < end; j++) {
            data[j] = 0x7fc0dead;
        }
        cr_expect_arr_eq(computed, data + 1, (COUNT - 1) * 4);
    }
    release(a);
    release(b);
    free(data);
    free(computed);
}

Test(queue, timeline)
{
    const tapml_backend *table = plugin_table(device);
    tapml_object *timeline = NULL, *queue = plugin_queue(device);
    uint64_t value = 0;
    tapml_call call = {0};

    expect_ok(table->timeline_new(plugin_device(device), &call, 40, &timeline), &call);
    expect_ok(table->timeline_value(timeline, &call, &value), &call);
    cr_expect_eq(value, 40);
    cr_expect_eq(table->timeline_wait(timeline, &call, 41, 1000), TAPML_DEADLINE);
    for (uint64_t i = 41; i < 300; i++) { // More than anyone keeps in a ring.
        expect_ok(table->queue_signal(queue, &call, (tapml_point){timeline, i}), &call);
    }
    if (table->queue_flush != NULL) {
        expect_ok(table->queue_flush(queue, &call), &call);
    }
    expect_ok(table->timeline_wait(timeline, &call, 299, UINT64_C(60000000000)), &call);
    expect_ok(table->timeline_value(timeline, &call, &value), &call);
    cr_expect_eq(value, 299);
    cr_expect_eq(table->timeline_wait(timeline, &call, 300, 0), TAPML_DEADLINE);
    release(timeline);
}

// What one queue writes, another one reads behind its point.
Test(queue, waits_for_a_point)
{
    enum { WORDS = 4096 };
    const tapml_backend *table = plugin_table(device);
    static uint32_t received[WORDS];
    tapml_object *timeline = NULL, *other = NULL;
    tapml_call call = {0};

    if (!TAPML_HAS_FN(tapml_backend, table, queue_wait)) {
        cr_skip_test("it has no queue_wait");
    }
    tapml_object *buffer = new_buffer(WORDS * 4);

    expect_ok(table->timeline_new(plugin_device(device), &call, 0, &timeline), &call);
    expect_ok(table->queue_new(plugin_device(device), &call, &other), &call);
    for (uint64_t i = 1; i < 200; i++) { // More than anyone keeps in a ring.
        const tapml_point point = {timeline, i};

        expect_ok(table->queue_fill(plugin_queue(device), &call, buffer, 0, WORDS * 4, (uint32_t)i),
                  &call);
        expect_ok(table->queue_signal(plugin_queue(device), &call, point), &call);
        expect_ok(table->queue_wait(other, &call, point), &call);
    }
    expect_ok(table->queue_read(other, &call, buffer, 0, received, WORDS * 4), &call);
    expect_ok(table->queue_signal(other, &call, (tapml_point){timeline, 200}), &call);
    if (table->queue_flush != NULL) {
        expect_ok(table->queue_flush(other, &call), &call);
    }
    expect_ok(table->timeline_wait(timeline, &call, 200, UINT64_MAX), &call);
    for (size_t i = 0; i < WORDS; i++) {
        cr_assert_eq(received[i], 199);
    }
    release(other);
    release(timeline);
    release(buffer);
}

// -- Notifications -----------------------------------------------------------------------------

struct notice {
    atomic_int calls, status;
};

static void note(void *user, tapml_status status)
{
    struct notice *notice = user;

    atomic_store(&notice->status, status);
    (void)atomic_fetch_add(&notice->calls, 1);
}

static void expect_noted(struct notice *notice, uint64_t value)
{
    cr_assert_eq(atomic_load(&notice->calls), 1, "value %d: %d calls", (int)value,
                 atomic_load(&notice->calls));
    cr_assert_eq(atomic_load(&notice->status), TAPML_OK);
}

// Raises a timeline and asks to be notified of it. A backend that does not notify is skipped, once
// it is idle: the process ends there, under the feet of a driver's threads.
static void signal_and_notify(tapml_object *timeline, uint64_t value, struct notice *notice)
{
    const tapml_backend *table = plugin_table(device);
    tapml_call call = {0};

    expect_ok(table->queue_signal(plugin_queue(device), &call, (tapml_point){timeline, value}),
              &call);
    if (table->queue_flush != NULL) {
        expect_ok(table->queue_flush(plugin_queue(device), &call), &call);
    }
    if (!TAPML_HAS_FN(tapml_backend, table, timeline_notify)) {
        wait_for_all();
        cr_skip_test("it has no timeline_notify");
    }
    const tapml_status status = table->timeline_notify(timeline, &call, value, note, notice);

    if (status == TAPML_UNIMPLEMENTED) {
        cr_expect_eq(atomic_load(&notice->calls), 0);
        wait_for_all();
        cr_skip_test("it notifies of nothing: %s", call.message);
    }
    expect_ok(status, &call);
}

// Without a wait: behind the notification the work is done.
Test(queue, notifies_when_a_value_is_reached)
{
    enum { WORDS = 1 << 18, TIMES = 20 };
    static uint32_t received[WORDS];
    const tapml_backend *table = plugin_table(device);
    tapml_object *timeline = NULL, *buffer = new_buffer(WORDS * 4);
    struct notice notices[TIMES] = {{0}};
    tapml_call call = {0};

    expect_ok(table->timeline_new(plugin_device(device), &call, 0, &timeline), &call);
    for (uint32_t i = 0; i < TIMES; i++) {
        uint64_t value = 0;

        expect_ok(table->queue_fill(plugin_queue(device), &call, buffer, 0, WORDS * 4, i + 1),
                  &call);
        expect_ok(table->queue_read(plugin_queue(device), &call, buffer, 0, received, WORDS * 4),
                  &call);
        signal_and_notify(timeline, i + 1, &notices[i]);
        while (atomic_load(&notices[i].calls) == 0) { // An emulation works when it is asked.
            expect_ok(table->timeline_value(timeline, &call, &value), &call);
        }
        expect_ok(table->timeline_wait(timeline, &call, i + 1, 0), &call);
        cr_assert(received[0] == i + 1 && received[WORDS - 1] == i + 1);
    }
    release(timeline);
    for (uint32_t i = 0; i < TIMES; i++) {
        expect_noted(&notices[i], i + 1);
    }
    release(buffer);
}

// All have come when a wait returns, however many there are, and before the timeline goes.
Test(queue, notifies_before_a_wait_returns)
{
    enum { TIMES = 300, WAITED = 290 }; // More than anyone keeps in a ring.
    const tapml_backend *table = plugin_table(device);
    tapml_object *timeline = NULL, *buffer = new_buffer(64);
    static struct notice notices[TIMES + 1], again, twice;
    tapml_call call = {0};

    expect_ok(table->timeline_new(plugin_device(device), &call, 0, &timeline), &call);
    for (uint64_t i = 1; i <= TIMES; i++) {
        expect_ok(table->queue_fill(plugin_queue(device), &call, buffer, 0, 64, (uint32_t)i),
                  &call);
        signal_and_notify(timeline, i, &notices[i]);
    }
    expect_ok(table->timeline_notify(timeline, &call, TIMES, note, &twice), &call);
    expect_ok(table->timeline_wait(timeline, &call, WAITED, UINT64_MAX), &call);
    for (uint64_t i = 1; i <= WAITED; i++) {
        expect_noted(&notices[i], i);
    }
    expect_ok(table->timeline_notify(timeline, &call, WAITED, note, &again), &call);
    release(timeline);
    for (uint64_t i = WAITED; i <= TIMES; i++) {
        expect_noted(&notices[i], i);
    }
    expect_noted(&again, WAITED);
    expect_noted(&twice, TIMES);
    wait_for_all();
    release(buffer);
}

// What cannot be promised is refused, and then nothing is called.
Test(queue, refuses_to_notify_without_memory)
{
    const tapml_backend *table = plugin_table(device);
    tapml_object *timeline = NULL;
    struct notice first = {0}, second = {0};
    tapml_call call = {0};

    expect_ok(table->timeline_new(plugin_device(device), &call, 0, &timeline), &call);
    signal_and_notify(timeline, 1, &first);
    expect_ok(table->queue_signal(plugin_queue(device), &call, (tapml_point){timeline, 2}), &call);
    plugin_refuse_memory(device, true);
    const tapml_status status = table->timeline_notify(timeline, &call, 2, note, &second);

    plugin_refuse_memory(device, false);
    wait_for_all();
    release(timeline);
    expect_noted(&first, 1);
    cr_expect(status == TAPML_OK || status == TAPML_NO_MEMORY, "%d", status);
    cr_expect_eq(atomic_load(&second.calls), status == TAPML_OK);
}

// A buffer that no device has.
Test(queue, too_large)
{
    tapml_object *buffer = NULL;
    tapml_call call = {0};
    const tapml_status status = plugin_table(device)->buffer_new(plugin_device(device), &call, 0,
                                                                 UINT64_C(1) << 50, &buffer);

    cr_expect_eq(status, TAPML_NO_MEMORY);
    cr_expect_neq(call.message[0], '\0');
}

Test(queue, unknown_device)
{
    tapml_object *other = NULL;
    tapml_call call = {0};

    cr_expect_eq(plugin_table(device)->open(plugin_root(device), &call, "no-such", &other),
                 TAPML_NOT_FOUND);
    cr_expect_neq(strstr(call.message, "no-such"), NULL);
}

// Launches belong to op calls: a fill is none.
Test(queue, counters)
{
    tapml_object *queue = plugin_queue(device);
    const tapml_counters *counters = queue->vt->interface_of(queue, TAPML_COUNTERS);
    const double values[] = {1, 2, 3};
    struct op_fixture fixture = {.op = &tapml_add, .output = 2};
    double sum[3];

    cr_assert_not_null(counters);
    tapml_object *buffer = new_buffer(64);
    tapml_call call = {0};

    expect_ok(plugin_table(device)->queue_fill(queue, &call, buffer, 0, 64, 1), &call);
    cr_expect_eq(counters->launches(queue), 0);
    fixture.arguments[0].tensor = op_fixture_row(TAPML_F32, 3, values);
    fixture.arguments[1].tensor = op_fixture_row(TAPML_F32, 3, values);
    fixture.arguments[2].tensor = op_fixture_row(TAPML_F32, 3, NULL);
    op_fixture_run(&fixture, device, sum);
    cr_expect_eq(counters->launches(queue), 1);
    wait_for_all();
    release(buffer);
}

// An op that nobody has is an answer, no failure; where it is a no, there is a reason.
Test(queue, unknown_op)
{
    const tapml_op op = {.hdr = TAPML_HDR(tapml_op), .name = "org.example.nothing", .version = 1};

    if (plugin_table(device)->supports != NULL) {
        const tapml_support support = plugin_supports(device, &op, NULL);

        cr_expect(support.grade != TAPML_SUPPORT_NO || support.reason[0] != '\0');
    }
}

// Tensors without elements: nothing to do, and nothing touched.
Test(queue, empty_tensors)
{
    struct op_fixture fixture = {.op = &tapml_silu, .output = 1};
    double nothing[1];

    fixture.arguments[0].tensor = op_fixture_rows(TAPML_F32, 0, 5, NULL);
    fixture.arguments[1].tensor = op_fixture_rows(TAPML_F32, 0, 5, NULL);
    op_fixture_run(&fixture, device, nothing);
    fixture = (struct op_fixture){.op = &tapml_rms_norm, .output = TAPML_RMS_NORM_Y};
    fixture.arguments[TAPML_RMS_NORM_X].tensor = op_fixture_rows(TAPML_F32, 0, 8, NULL);
    fixture.arguments[TAPML_RMS_NORM_Y].tensor = op_fixture_rows(TAPML_F32, 0, 8, NULL);
    op_fixture_run(&fixture, device, nothing);
}
