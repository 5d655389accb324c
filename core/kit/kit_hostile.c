// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_hostile.h"

#include "base/clock.h"
#include "base/ini.h"
#include "kit/kit_device.h"
#include "kit/kit_subject.h"
#include "kit/kit_walk.h"
#include "kit/process_usage.h"

#include <inttypes.h>
#include <string.h>

enum {
    LIMIT_S = 120,
    REFUSALS_MAX = 400, // Allocations, each of which is the first to be refused, as many as go into
    REFUSALS_S = 20,    // seconds.
    WALK_STEPS = 2000,
    SOAK_STEPS = 300,
    WARM_LEAST = 3, // Rounds: the first ones give the allocator the memory that it keeps.
    GROWTH_BYTES = 1 << 20
};

static const uint64_t SECOND_NS = UINT64_C(1000000000);

// -- Memory that runs out ----------------------------------------------------------------------

// Opens, and moves some bytes.
static void
use(const struct kit_subject *subject, struct kit_device *device, struct kit_result *io_result)
{
    const int is_backend = strcmp(subject->descriptor->kind, TAPML_KIND_BACKEND) == 0;

    if (!kit_device_expect(device, io_result, "probe", stand_in_probe(device->host)) ||
        !kit_device_enter(subject, io_result, device) || !is_backend ||
        !kit_device_open_device(subject, io_result, device)) {
        return;
    }
    (void)kit_walk(device, io_result, subject->seed, 8);
}

// Whether allocation `n` was asked for.
static int refuse_one(const struct kit_subject *subject, uint64_t n, struct kit_result *io_result)
{
    struct kit_result found = {.outcome = KIT_PASSED};
    struct kit_device device = {.host = NULL};

    if (kit_subject_host(subject, &device.host) != TAPML_OK) {
        kit_result_skip(io_result, "%s", status_message());
        return 0;
    }
    stand_in_refuse(device.host, n);
    use(subject, &device, &found);
    const int is_reached = stand_in_memory(device.host).count + 1 >= n;

    stand_in_refuse(device.host, 0);
    kit_device_release(&device);
    stand_in_shut(device.host);
    const struct stand_in_memory memory = stand_in_memory(device.host);

    if (found.outcome == KIT_FAILED && strstr(found.reason, KIT_DEVICE_NO_MESSAGE) != NULL) {
        kit_result_fail(io_result, "where allocation %" PRIu64 " is refused, %s", n, found.reason);
    }
    if (memory.live > 0) {
        kit_result_fail(io_result,
                        "where allocation %" PRIu64 " is refused, it keeps %" PRIu64
                        " of the others, %" PRIu64 " bytes",
                        n, memory.live, memory.live_bytes);
    }
    // Nothing was refused any more, and it cannot be opened all the same.
    if (found.outcome == KIT_SKIPPED && !is_reached && kit_result_is_good(io_result)) {
        *io_result = found;
        kit_result_lack_device(io_result);
    }
    kit_device_close(&device);
    return is_reached && found.outcome != KIT_PASSED;
}

static void memory_may_run_out(const struct kit_subject *subject, struct kit_result *io_result)
{
    const uint64_t end = clock_now_ns() + REFUSALS_S * SECOND_NS;
    int goes_on = 1;

    for (uint64_t n = 1; goes_on && n <= REFUSALS_MAX && clock_now_ns() < end; n++) {
        goes_on = refuse_one(subject, n, io_result) && kit_result_is_good(io_result);
    }
}

// -- Drivers that are not there ----------------------------------------------------------------

// In a process where each library that the manifest says is opened by name is a file that is none.
static void drivers_may_be_missing(const struct kit_subject *subject, struct kit_result *io_result)
{
    const struct ini *ini = &subject->manifest.ini;
    const struct manifest_component *component = kit_subject_component(subject);
    struct kit_result found = {.outcome = KIT_PASSED};
    struct kit_device device;

    if (ini_get(ini, "plugin", "dlopen") == NULL &&
        (component == NULL || ini_get(ini, component->section, "dlopen") == NULL)) {
        kit_result_skip(io_result, "it opens no library by name: its manifest has no 'dlopen'");
        return;
    }
    (void)kit_device_open_root(subject, &found, &device); // Without a driver it may work, too.
    kit_device_close(&device);
    if (found.outcome == KIT_FAILED) {
        kit_result_fail(io_result, "without its libraries %s, and not 'unavailable'", found.reason);
    }
}

// -- Walks -------------------------------------------------------------------------------------

static void any_order_is_right(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;

    if (kit_device_open(subject, io_result, &device)) {
        (void)kit_walk(&device, io_result, subject->seed, WALK_STEPS);
    }
    kit_device_close(&device);
}

// One opening, and calls on it, of another seed each time.
static int
soak_once(const struct kit_subject *subject, struct kit_result *io_result, uint64_t round)
{
    struct kit_device device;
    const int is_right = kit_device_open(subject, io_result, &device) &&
                         kit_walk(&device, io_result, subject->seed + round, SOAK_STEPS);

    kit_device_close(&device);
    return is_right;
}

// The first half is a warm-up.
static void it_lasts(const struct kit_subject *subject, struct kit_result *io_result)
{
    const uint64_t begin = clock_now_ns(), half = subject->soak_s * SECOND_NS / 2;
    struct process_usage before;
    uint64_t rounds = 0, warm = 0;

    for (; clock_now_ns() - begin < half || warm < WARM_LEAST; warm++) {
        if (!soak_once(subject, io_result, warm)) {
            return;
        }
    }
    if (process_usage_read(&before) != TAPML_OK) {
        kit_result_skip(io_result, "%s", status_message());
        return;
    }
    for (; rounds < 2 || clock_now_ns() - begin < 2 * half; rounds++) {
        if (!soak_once(subject, io_result, warm + rounds)) {
            return;
        }
    }
    // A sanitizer keeps what was freed.
    kit_device_expect_no_growth(&before, rounds, TAPML_SANITIZER == 0u ? GROWTH_BYTES : UINT64_MAX,
                                io_result);
}

// -- The table ---------------------------------------------------------------------------------

static const struct kit_check CHECKS[] = {
    {.id = "X-01",
     .level = KIT_HOSTILE,
     .scope = KIT_OF_COMPONENT,
     .about = "memory may run out at each allocation: it says so, and keeps nothing",
     .limit_s = LIMIT_S,
     .run = memory_may_run_out},
    {.id = "X-02",
     .level = KIT_HOSTILE,
     .scope = KIT_OF_COMPONENT,
     .about = "without its driver it is unavailable, with a sentence",
     .limit_s = LIMIT_S,
     .run = drivers_may_be_missing,
     .hides_drivers = 1},
    {.id = "Z-01",
     .level = KIT_HOSTILE,
     .scope = KIT_OF_BACKEND,
     .about = "buffers hold what was written, in any order of legal calls",
     .limit_s = LIMIT_S,
     .run = any_order_is_right},
    {.id = "P-01",
     .level = KIT_SOAK,
     .scope = KIT_OF_BACKEND,
     .about = "it goes on as it began, for as long as --soak says",
     .limit_s = LIMIT_S, // And what is asked for.
     .run = it_lasts},
    {.id = NULL},
};

const struct kit_check *kit_hostile_checks(void)
{
    return CHECKS;
}
