// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "verify/canary.h"
#include "verify/fault.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;
static struct canary *canary;
static char sentence[CANARY_SENTENCE];

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f32");
}

static void end(void)
{
    canary_destroy(canary);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(canary, .init = begin, .fini = end, .timeout = 300);

static tapml_status create(struct backend *on)
{
    return canary_create(on, registry_catalogue(plugins.registry), &canary);
}

static enum canary_state check(void)
{
    enum canary_state state = CANARY_WELL;

    MUST(canary_check(canary, &state, sentence));
    return state;
}

// A busy machine may be slow.
static int is_sick(void)
{
    return check() == CANARY_SICK;
}

// A device on which the calls of silu of one instance go wrong from one of them on.
static struct fault *plant(const char *instance, const char *words, int64_t from_call)
{
    struct fault_rule rule = {.name = "fault.1",
                              .op = "silu",
                              .instance = instance,
                              .words = words,
                              .from_call = from_call,
                              .probability = 1,
                              .seed = 1};
    struct fault *fault = NULL;

    MUST(fault_rule_parse(&rule));
    MUST(fault_create(backend, &rule, 1, &fault));
    MUST(create(fault_backend(fault)));
    return fault;
}

enum { CALLS = CANARY_CALLS * CANARY_TRIES };

Test(canary, finds_a_well_device_well)
{
    MUST(create(backend));
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(is_sick(), 0, "%s", sentence);
        cr_assert(canary_is_there(canary));
    }
    canary_destroy(NULL);
}

Test(canary, finds_other_bits)
{
    struct fault *fault = plant("canary", "scale 1.5", CALLS + 3);

    cr_assert_eq(is_sick(), 0, "%s", sentence);
    cr_assert_eq(is_sick(), 1);
    cr_assert_not_null(strstr(sentence, "8 calls of tapml.silu with the same input, gives other "
                                        "bits than at first"),
                       "%s", sentence);
    backend_release(fault_backend(fault));
}

// It may be wrong all the time: that is for others to find.
Test(canary, finds_nothing_where_nothing_changes)
{
    struct fault *fault = plant("canary", "scale 1.5", 1);

    cr_assert_eq(is_sick(), 0, "%s", sentence);
    cr_assert_eq(is_sick(), 0, "%s", sentence);
    backend_release(fault_backend(fault));
}

Test(canary, is_not_struck_by_the_faults_of_ops)
{
    struct fault *fault = plant("*", "scale 1.5", 5);

    cr_assert_eq(is_sick(), 0, "%s", sentence);
    cr_assert_eq(is_sick(), 0, "%s", sentence);
    backend_release(fault_backend(fault));
}

enum { DELAY_MS = 200, ATTEMPTS = 5 };

// A device that takes 1.6 s from the second check on. Where the first check has taken so long that
// this is not slow, the machine is busy: then nothing is found, and it is tried again.
static int finds_throttling(void)
{
    struct fault *fault = plant("canary", "delay 200", CALLS + 1);

    cr_assert_eq(is_sick(), 0, "%s", sentence);
    const int can_be_found =
        canary_slow_ns(canary) < (uint64_t)CANARY_CALLS * DELAY_MS * UINT64_C(1000000);

    if (can_be_found) {
        cr_assert_eq(check(), CANARY_SLOW);
        cr_assert_not_null(strstr(sentence, "throttles"), "%s", sentence);
    }
    canary_destroy(canary);
    canary = NULL;
    backend_release(fault_backend(fault));
    return can_be_found;
}

Test(canary, finds_a_device_that_throttles)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (finds_throttling()) {
            return;
        }
    }
    cr_skip_test("this machine is too busy for a canary of %d s", CANARY_CALLS * DELAY_MS / 1000);
}

Test(canary, knows_what_an_earlier_process_has_seen)
{
    MUST(create(backend));
    cr_assert_eq(is_sick(), 0);
    const struct hash bits = canary_bits(canary);

    canary_destroy(canary);
    MUST(create(backend));
    canary_expect(canary, bits);
    cr_assert_eq(is_sick(), 0, "%s", sentence);
    cr_assert(hash_equal(bits, canary_bits(canary)));
    canary_destroy(canary);
    MUST(create(backend));
    canary_expect(canary, (struct hash){1, 2});
    cr_assert_eq(is_sick(), 1);
    cr_assert(canary_is_right(canary), "it was the earlier one that was sick");
    canary_accept(canary);
    cr_assert_eq(is_sick(), 0, "%s", sentence);
    cr_assert(hash_equal(bits, canary_bits(canary)));
}

Test(canary, tells_right_from_wrong)
{
    struct fault *fault = plant("canary", "scale 1.01", 1);

    cr_assert_eq(is_sick(), 0, "%s", sentence);
    cr_assert(!canary_is_right(canary));
    backend_release(fault_backend(fault));
}

Test(canary, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(create(backend));
}
