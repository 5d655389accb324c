// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_queue.h"

#include "base/clock.h"
#include "kit/kit_device.h"
#include "kit/kit_facade.h"
#include "kit/kit_subject.h"
#include "verify/driver_check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { LIMIT_S = 60, POINTS = 300, WORDS = 1 << 14, THREADS = 2, TURNS = 50 };

static const uint64_t TOO_LARGE = UINT64_C(1) << 60;
static const uint64_t SHORT_NS = UINT64_C(20000000), LONG_NS = UINT64_C(20000000000);
// A wait of 20 ms that lasts longer than this has not looked at the clock.
static const uint64_t LATE_NS = UINT64_C(5000000000);

// -- The driver's own checks -------------------------------------------------------------------

static void driver_works(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_facade facade;
    struct driver_result found;

    if (kit_facade_open(subject, io_result, &facade)) {
        const tapml_status status =
            driver_check_run(facade.backend, registry_catalogue(facade.registry),
                             (size_t)subject->number, subject->seed, &found);

        if (status != TAPML_OK) {
            kit_result_fail(io_result, "%s", status_message());
        } else if (found.outcome == DRIVER_FAILED) {
            kit_result_fail(io_result,
                            "trial %" PRIu64 " of seed %" PRIu64 ", %" PRIu64 " bytes at %" PRIu64
                            ": %s",
                            found.trials, subject->seed, found.size, found.offset, found.reason);
        } else if (found.outcome == DRIVER_SKIPPED) {
            kit_result_skip(io_result, "%s", found.reason);
        }
    }
    kit_facade_close(&facade);
}

// -- Buffers -----------------------------------------------------------------------------------

static void too_much_is_refused(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;
    tapml_object *buffer = NULL;

    if (kit_device_open(subject, io_result, &device)) {
        const tapml_status status = device.table->buffer_new(
            device.device, stand_in_call(device.host), 0, TOO_LARGE, &buffer);

        if (status == TAPML_OK) {
            kit_result_fail(io_result, "it gives a buffer of 2^60 bytes");
        } else if (status != TAPML_NO_MEMORY) {
            kit_result_fail(io_result, "it refuses a buffer of 2^60 bytes with '%s', expected '%s'",
                            status_name(status), status_name(TAPML_NO_MEMORY));
        }
        kit_device_drop(buffer);
        // And goes on.
        kit_device_drop(kit_device_buffer(&device, io_result, 4096));
    }
    kit_device_close(&device);
}

// -- Timelines ---------------------------------------------------------------------------------

static void expect_value(struct kit_device *device,
                         struct kit_result *io_result,
                         tapml_object *timeline,
                         uint64_t expected)
{
    uint64_t value = 0;

    if (kit_device_expect(
            device, io_result, "timeline_value",
            device->table->timeline_value(timeline, stand_in_call(device->host), &value)) &&
        value != expected) {
        kit_result_fail(io_result, "a timeline is at %" PRIu64 ", expected %" PRIu64, value,
                        expected);
    }
}

// What nobody signals is waited for as long as was asked.
static void expect_deadline(struct kit_device *device,
                            struct kit_result *io_result,
                            tapml_object *timeline,
                            uint64_t value,
                            uint64_t timeout_ns)
{
    const uint64_t begin = clock_now_ns();
    const tapml_status status =
        device->table->timeline_wait(timeline, stand_in_call(device->host), value, timeout_ns);
    const uint64_t spent_ns = clock_now_ns() - begin;

    if (status != TAPML_DEADLINE) {
        kit_result_fail(io_result,
                        "a wait for a value that nobody signals ends with '%s', expected '%s'",
                        status_name(status), status_name(TAPML_DEADLINE));
    } else if (spent_ns > LATE_NS) {
        kit_result_fail(io_result, "a wait of %" PRIu64 " ms lasts %" PRIu64 " ms",
                        timeout_ns / 1000000, spent_ns / 1000000);
    }
}

static int signal_value(struct kit_device *device,
                        struct kit_result *io_result,
                        tapml_object *timeline,
                        uint64_t value)
{
    const tapml_backend *table = device->table;

    return kit_device_expect(device, io_result, "queue_signal",
                             table->queue_signal(device->queue, stand_in_call(device->host),
                                                 (tapml_point){timeline, value})) &&
           (table->queue_flush == NULL ||
            kit_device_expect(device, io_result, "queue_flush",
                              table->queue_flush(device->queue, stand_in_call(device->host))));
}

static void timelines_count(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;
    tapml_object *timeline = NULL;

    if (kit_device_open(subject, io_result, &device) &&
        kit_device_expect(
            &device, io_result, "timeline_new",
            device.table->timeline_new(device.device, stand_in_call(device.host), 40, &timeline))) {
        expect_value(&device, io_result, timeline, 40);
        expect_deadline(&device, io_result, timeline, 41, SHORT_NS);
        expect_deadline(&device, io_result, timeline, 41, 0);
        for (uint64_t i = 0; kit_result_is_good(io_result) && i < POINTS; i++) {
            (void)signal_value(&device, io_result, timeline, 42 + i);
        }
        (void)kit_device_expect(&device, io_result, "timeline_wait",
                                device.table->timeline_wait(timeline, stand_in_call(device.host),
                                                            41 + POINTS, LONG_NS));
        expect_value(&device, io_result, timeline, 41 + POINTS);
    }
    kit_device_drop(timeline);
    kit_device_close(&device);
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

static void expect_noted(const struct notice *notice, uint64_t value, struct kit_result *io_result)
{
    const int calls = atomic_load(&notice->calls);

    if (calls != 1) {
        kit_result_fail(io_result,
                        "a wait for value %" PRIu64 " has returned, and who asked to be notified "
                        "of it was called %d times, expected once",
                        value, calls);
    } else if (atomic_load(&notice->status) != TAPML_OK) {
        kit_result_fail(io_result, "the notification of value %" PRIu64 " says '%s'", value,
                        status_name(atomic_load(&notice->status)));
    }
}

// Returns whether the device notifies at all.
static int ask_for(struct kit_device *device,
                   struct kit_result *io_result,
                   uint64_t value,
                   struct notice *notice)
{
    const tapml_status status = device->table->timeline_notify(
        device->timeline, stand_in_call(device->host), value, note, notice);

    if (status == TAPML_UNIMPLEMENTED) {
        kit_result_skip(io_result, "it does not notify on this device");
        return 0;
    }
    return kit_device_expect(device, io_result, "timeline_notify", status);
}

static void notifications_come_once(const struct kit_subject *subject, struct kit_result *io_result)
{
    static struct notice notices[POINTS + 1], late; // A notification may come late.
    struct kit_device device;

    late = (struct notice){.calls = 0};
    for (int i = 0; i <= POINTS; i++) {
        notices[i] = late;
    }
    if (kit_device_open(subject, io_result, &device)) {
        if (!TAPML_HAS_FN(tapml_backend, device.table, timeline_notify)) {
            kit_result_skip(io_result, "it has no timeline_notify");
        }
        for (uint64_t i = 1; kit_result_is_good(io_result) && i <= POINTS; i++) {
            if (!signal_value(&device, io_result, device.timeline, i) ||
                !ask_for(&device, io_result, i, &notices[i])) {
                break;
            }
        }
        if (kit_result_is_good(io_result) &&
            kit_device_expect(&device, io_result, "timeline_wait",
                              device.table->timeline_wait(
                                  device.timeline, stand_in_call(device.host), POINTS, LONG_NS))) {
            (void)ask_for(&device, io_result, 1, &late); // Of what is past.
            for (uint64_t i = 1; i <= POINTS; i++) {
                expect_noted(&notices[i], i, io_result);
            }
        }
    }
    kit_device_close(&device);
    if (kit_result_is_good(io_result)) {
        expect_noted(&late, 1, io_result);
    }
}

// -- Two queues --------------------------------------------------------------------------------

static int fill_and_hand_over(struct kit_device *device,
                              struct kit_result *io_result,
                              tapml_object *other,
                              tapml_object *buffer,
                              uint64_t value)
{
    const tapml_backend *table = device->table;
    const tapml_point point = {device->timeline, value};

    if (!kit_device_expect(device, io_result, "queue_fill",
                           table->queue_fill(device->queue, stand_in_call(device->host), buffer, 0,
                                             WORDS * 4, (uint32_t)value)) ||
        !signal_value(device, io_result, device->timeline, value)) {
        return 0;
    }
    const tapml_status status = table->queue_wait(other, stand_in_call(device->host), point);

    if (status == TAPML_UNIMPLEMENTED) {
        kit_result_skip(io_result, "its queues do not wait for this point");
        return 0;
    }
    return kit_device_expect(device, io_result, "queue_wait", status);
}

// What one queue writes, the other one reads behind its point.
static void queues_wait(const struct kit_subject *subject, struct kit_result *io_result)
{
    static uint32_t received[WORDS];
    struct kit_device device;
    tapml_object *other = NULL, *buffer = NULL;

    if (kit_device_open(subject, io_result, &device)) {
        if (!TAPML_HAS_FN(tapml_backend, device.table, queue_wait)) {
            kit_result_skip(io_result, "it has no queue_wait");
        } else if ((buffer = kit_device_buffer(&device, io_result, WORDS * 4)) != NULL &&
                   kit_device_expect(&device, io_result, "queue_new",
                                     device.table->queue_new(device.device,
                                                             stand_in_call(device.host), &other))) {
            for (uint64_t i = 1;
                 i < TURNS && fill_and_hand_over(&device, io_result, other, buffer, i); i++) {
            }
            tapml_object *own_queue = device.queue;

            device.queue = other; // The one that has waited reads.
            device.signalled = TURNS;
            if (kit_result_is_good(io_result) &&
                kit_device_expect(&device, io_result, "queue_read",
                                  device.table->queue_read(other, stand_in_call(device.host),
                                                           buffer, 0, received, WORDS * 4)) &&
                kit_device_wait(&device, io_result) &&
                (received[0] != TURNS - 1 || received[WORDS - 1] != TURNS - 1)) {
                kit_result_fail(io_result,
                                "a queue that waits for a point of another one reads %u, expected "
                                "%u: what was there before",
                                received[0], TURNS - 1);
            }
            device.queue = own_queue;
        }
    }
    kit_device_drop(other);
    kit_device_drop(buffer);
    kit_device_close(&device);
}

// -- Threads -----------------------------------------------------------------------------------

// A device of its own for each thread: their objects are apart, so they need not be serialised.
// What belongs to the component is called from one thread.
struct kit_session {
    struct kit_device device;
    struct kit_result result;
    uint32_t pattern;
    pthread_t thread;
    int has_thread;
};

static void work_in_turns(struct kit_session *session, tapml_object *buffer)
{
    static _Thread_local uint32_t received[WORDS];
    struct kit_device *device = &session->device;

    for (uint32_t i = 0; kit_result_is_good(&session->result) && i < TURNS; i++) {
        const uint32_t pattern = session->pattern + i;

        if (kit_device_expect(device, &session->result, "queue_fill",
                              device->table->queue_fill(device->queue, stand_in_call(device->host),
                                                        buffer, 0, WORDS * 4, pattern)) &&
            kit_device_expect(device, &session->result, "queue_read",
                              device->table->queue_read(device->queue, stand_in_call(device->host),
                                                        buffer, 0, received, WORDS * 4)) &&
            kit_device_wait(device, &session->result) &&
            (received[0] != pattern || received[WORDS - 1] != pattern)) {
            kit_result_fail(&session->result, "a thread reads %08x, expected its own %08x",
                            received[0], pattern);
        }
    }
}

static void *work(void *argument)
{
    struct kit_session *session = argument;
    tapml_object *buffer = kit_device_buffer(&session->device, &session->result, WORDS * 4);

    if (buffer != NULL) {
        work_in_turns(session, buffer);
        kit_device_drop(buffer);
    }
    return NULL;
}

static void take_result(const struct kit_session *session, struct kit_result *io_result)
{
    if (session->result.outcome == KIT_FAILED) {
        kit_result_fail(io_result, "%s", session->result.reason);
    } else if (session->result.outcome == KIT_SKIPPED) {
        kit_result_skip(io_result, "%s", session->result.reason);
    }
}

static void threads_are_apart(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_session sessions[THREADS] = {{.pattern = 0x10000u}, {.pattern = 0x20000u}};
    int is_open = 1;

    for (int i = 0; i < THREADS; i++) {
        is_open = is_open && kit_device_open(subject, io_result, &sessions[i].device);
    }
    for (int i = 0; is_open && i < THREADS; i++) {
        sessions[i].has_thread = pthread_create(&sessions[i].thread, NULL, work, &sessions[i]) == 0;
    }
    for (int i = 0; i < THREADS; i++) {
        if (sessions[i].has_thread) {
            (void)pthread_join(sessions[i].thread, NULL);
        }
        take_result(&sessions[i], io_result);
    }
    for (int i = 0; i < THREADS; i++) {
        kit_device_release(&sessions[i].device);
    }
    for (int i = 0; i < THREADS; i++) {
        kit_device_close(&sessions[i].device);
    }
}

// Of the driver's checks, in their order: one that passes is used by those behind it.
#define DRIVER_CHECK(id_, number_, about_)                                                         \
    {                                                                                              \
        .id = id_, .level = KIT_CONTRACT, .scope = KIT_OF_BACKEND, .about = about_,                \
        .limit_s = LIMIT_S, .run = driver_works, .number = number_, .ground = KIT_GROUND           \
    }

static const struct kit_check CHECKS[] = {
    {.id = "B-01",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "a buffer that is too large is no memory",
     .limit_s = LIMIT_S,
     .run = too_much_is_refused},
    DRIVER_CHECK("B-02", 0, "a write of any size at any offset arrives whole, and alone"),
    DRIVER_CHECK("B-03", 1, "a read of any size at any offset gives what is there"),
    DRIVER_CHECK("B-04", 2, "a fill of any size at any offset repeats its pattern there"),
    DRIVER_CHECK("B-05", 3, "a copy of any size between two buffers arrives whole, and alone"),
    DRIVER_CHECK("B-06", 4, "a state that is filled again has no old row"),
    DRIVER_CHECK("B-07", 5, "what the device shows of its memory is what was written"),
    DRIVER_CHECK("B-08", 6, "memory of the host is read and written where it lies"),
    DRIVER_CHECK("B-09", 7, "both ends of a large buffer are memory of their own"),
    DRIVER_CHECK("Q-01", 8, "writes, fills and reads happen in the order of the queue"),
    DRIVER_CHECK("Q-02", 9, "behind a point the work before it is done"),
    DRIVER_CHECK("Q-03", 10, "a launch sees what was queued before it"),
    DRIVER_CHECK("Q-04", 11, "the second of two launches has its own arguments"),
    {.id = "Q-05",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "timelines count, and waits end in time",
     .limit_s = LIMIT_S,
     .run = timelines_count},
    {.id = "Q-06",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "notifications come once, before a wait returns",
     .limit_s = LIMIT_S,
     .run = notifications_come_once},
    {.id = "Q-07",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "a queue waits for a point of another one",
     .limit_s = LIMIT_S,
     .run = queues_wait},
    {.id = "Q-08",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "threads with devices of their own are apart",
     .limit_s = LIMIT_S,
     .run = threads_are_apart},
    {.id = NULL},
};

const struct kit_check *kit_queue_checks(void)
{
    return CHECKS;
}
