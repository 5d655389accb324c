// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_threads.h"

#include "kit/kit_device.h"
#include "kit/kit_subject.h"
#include "kit/kit_walk.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

enum { LIMIT_S = 60, STEPS = 200, THREADS = 8, ROUNDS = 2000 };

// -- What the plugin calls ---------------------------------------------------------------------

// A walk is enough calls for a thread that the plugin has to show; whether it is right, Z-01 says.
static void host_is_called_by_its_caller(const struct kit_subject *subject,
                                         struct kit_result *io_result)
{
    struct kit_result walked = {.outcome = KIT_PASSED};
    struct kit_device device;

    if (kit_device_open(subject, io_result, &device)) {
        (void)kit_walk(&device, &walked, subject->seed, STEPS);
        kit_device_release(&device);
        const uint64_t foreign = stand_in_foreign_calls(device.host);

        if (foreign > 0) {
            kit_result_fail(io_result,
                            "%" PRIu64 " calls of parallel_for come from a thread of its own: only "
                            "[any] functions of the host may be called there",
                            foreign);
        }
    }
    kit_device_close(&device);
}

// -- What is called from any thread ------------------------------------------------------------

static const char *const ids[] = {TAPML_KIND_BACKEND,
                                  TAPML_COUNTERS,
                                  TAPML_IDENTITY,
                                  TAPML_LIMITS,
                                  TAPML_ARITHMETIC,
                                  TAPML_MEMORY_HANDLES,
                                  "org.example.no-such-interface/1"};
enum { IDS = sizeof(ids) / sizeof(*ids) };

// What one thread is told of an object.
struct interface_asking {
    tapml_object *object;
    const void *const *expected; // One for each id.
    pthread_t thread;
    int has_thread;
    _Atomic int wrong; // The number of the id, from 1, of which something else was told.
};

static void *ask_often(void *argument)
{
    struct interface_asking *asking = argument;

    for (int i = 0; i < ROUNDS * IDS && atomic_load(&asking->wrong) == 0; i++) {
        const int which = i % IDS;

        if (asking->object->vt->interface_of(asking->object, ids[which]) !=
            asking->expected[which]) {
            atomic_store(&asking->wrong, which + 1);
        }
    }
    return NULL;
}

static void ask_from_all(tapml_object *object, const char *what, struct kit_result *io_result)
{
    const void *expected[IDS];
    struct interface_asking askings[THREADS] = {{.object = NULL}};

    for (int i = 0; i < IDS; i++) {
        expected[i] = object->vt->interface_of(object, ids[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        askings[i].object = object;
        askings[i].expected = expected;
        askings[i].has_thread =
            pthread_create(&askings[i].thread, NULL, ask_often, &askings[i]) == 0;
    }
    for (int i = 0; i < THREADS; i++) {
        if (askings[i].has_thread) {
            (void)pthread_join(askings[i].thread, NULL);
        }
        const int wrong = atomic_load(&askings[i].wrong);

        if (wrong > 0) {
            kit_result_fail(
                io_result, "interface_of of a %s gives another '%s' to another thread: it is [any]",
                what, ids[wrong - 1]);
        }
    }
}

static void interfaces_are_alike(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;

    if (kit_device_open(subject, io_result, &device)) {
        ask_from_all(device.root, "root", io_result);
        ask_from_all(device.device, "device", io_result);
        ask_from_all(device.queue, "queue", io_result);
    }
    kit_device_close(&device);
}

static const struct kit_check CHECKS[] = {
    {.id = "T-01",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "threads of its own call no [object] function of the host",
     .limit_s = LIMIT_S,
     .run = host_is_called_by_its_caller},
    {.id = "T-02",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "an object has the same interfaces for all threads",
     .limit_s = LIMIT_S,
     .run = interfaces_are_alike},
    {.id = NULL},
};

const struct kit_check *kit_threads_checks(void)
{
    return CHECKS;
}
