// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/driver_check.h"

#include "base/assert.h"
#include "exec/persist.h"
#include "verify/driver_memory.h"
#include "verify/driver_queue.h"

#include <stdio.h>

struct driver_check {
    const char *name, *about;
    tapml_status (*run)(struct driver_trial *trial);
};

static const struct driver_check CHECKS[] = {
    {"write", "a write of any size at any offset arrives whole, and alone", driver_memory_write},
    {"read", "a read of any size at any offset gives what is there", driver_memory_read},
    {"fill", "a fill of any size at any offset repeats its pattern there", driver_memory_fill},
    {"copy", "a copy of any size between two buffers arrives whole, and alone", driver_memory_copy},
    {"reset", "a state that is filled again has no old row", driver_memory_reset},
    {"map", "what the device shows of its memory is what was written", driver_memory_map},
    {"wrap", "memory of the host is read and written where it lies", driver_memory_wrap},
    {"large", "both ends of a large buffer are memory of their own", driver_memory_large},
    {"order", "writes, fills and reads happen in the order of the queue", driver_queue_order},
    {"points", "behind a point the work before it is done", driver_queue_points},
    {"launch", "a launch sees what was queued before it", driver_queue_launch},
    {"arguments", "the second of two launches has its own arguments", driver_queue_arguments},
};

enum { CHECK_COUNT = sizeof(CHECKS) / sizeof(*CHECKS) };

size_t driver_check_count(void)
{
    return CHECK_COUNT;
}

const char *driver_check_name(size_t index)
{
    ASSERT(index < CHECK_COUNT);
    return CHECKS[index].name;
}

const char *driver_check_about(size_t index)
{
    ASSERT(index < CHECK_COUNT);
    return CHECKS[index].about;
}

struct backend *driver_check_backend(const struct place *place)
{
    if (place->links[PLACE_TIMED] && !place->links[PLACE_OBSERVERS]) {
        return place->links[PLACE_TIMED]; // Which observers are below of.
    }
    for (int kind = PLACE_FAULTS; kind >= 0; kind--) {
        if (place->links[kind]) {
            return place->links[kind];
        }
    }
    return place->backend; // Something else owns it.
}

// A device that refuses, or fails, what every driver has to do is as wrong as one that does
// something else.
static tapml_status take_failure(struct driver_trial *trial, tapml_status status)
{
    if (status == TAPML_OK || status_ends_all(status)) {
        return status;
    }
    driver_trial_fail(trial, "%s", status_message());
    return TAPML_OK;
}

tapml_status driver_check_run(struct backend *backend,
                              const struct catalogue *catalogue,
                              size_t index,
                              uint64_t seed,
                              struct driver_result *out_result)
{
    struct driver_trial trial;
    ASSERT(index < CHECK_COUNT);
    *out_result = (struct driver_result){.outcome = DRIVER_PASSED};
    TAPML_TRY(driver_trial_open(backend, catalogue, seed + index, out_result, &trial));
    tapml_status status =
        driver_trial_is_over(&trial) ? TAPML_OK : take_failure(&trial, CHECKS[index].run(&trial));
    const tapml_status waited = backend_wait(backend); // Before the memory of the trial goes.
    if (status == TAPML_OK) {
        status = take_failure(&trial, waited);
    }
    driver_trial_close(&trial);
    return status;
}

// A failure that somebody else has brought about says nothing about the driver.
static tapml_status run_alone(struct backend *backend,
                              const struct catalogue *catalogue,
                              size_t index,
                              uint64_t seed,
                              struct driver_result *out_result)
{
    struct persist persist;
    tapml_status status = TAPML_OK, judged = TAPML_OK;
    persist_begin(&persist, backend);
    do {
        status = judged = driver_check_run(backend, catalogue, index, seed, out_result);
        // A worker that dies while it is asked what it supports makes a skip of it.
        if (status == TAPML_OK && out_result->outcome != DRIVER_PASSED) {
            judged = status_fail(TAPML_INTERNAL, "%s", out_result->reason);
        }
    } while (persist_again(&persist, &judged));
    return status_ends_all(judged) ? judged : status;
}

tapml_status driver_check_all(struct backend *backend,
                              const struct catalogue *catalogue,
                              uint64_t seed,
                              struct driver_summary *out_summary)
{
    struct driver_summary summary = {.passed = 0};
    for (size_t i = 0; i < CHECK_COUNT && !summary.is_wrong; i++) {
        struct driver_result result;
        TAPML_TRY(run_alone(backend, catalogue, i, seed, &result));
        summary.trials += result.trials;
        summary.passed += result.outcome == DRIVER_PASSED;
        summary.skipped += result.outcome == DRIVER_SKIPPED;
        if (result.outcome == DRIVER_FAILED) {
            summary.is_wrong = 1;
            summary.failed = i;
            summary.failure = result;
        }
    }
    *out_summary = summary;
    return TAPML_OK;
}
