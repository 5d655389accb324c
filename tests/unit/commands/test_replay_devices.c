// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/replay_devices.h"
#include "harness/scratch.h"
#include "run/recorded_on.h"
#include "run/setup.h"
#include "store/store.h"
#include "store/store_open.h"

#include <criterion/redirect.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct setup setup;
static struct store *store;
static char program[1024], seen[256], printed[4096];
static struct replay_devices_totals totals;

static void begin(void)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    const struct recorded_on gone = {"phone", "vulkan", "77", "a phone", "",
                                     "p",     "1",      "b",  "fail",    ""};
    struct options options;

    scratch_make(&scratch);
    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    MUST(options_parse(specs, 0, NULL, &options));
    MUST(setup_open(program, &options, NULL, &setup));
    MUST(store_open(scratch_path(&scratch, "pack.tapmlrun"), 1, &store));
    MUST(recorded_on_write(store, 0, &gone));
}

static void end(void)
{
    store_close(store);
    setup_close(&setup);
    scratch_remove(&scratch);
}

TestSuite(replay_devices, .init = begin, .fini = end, .timeout = 110);

// Fails on one device, finds nothing to do on another, cannot open a third.
static tapml_status replay(void *user, const char *backend, struct replay_device_result *out_result)
{
    strncat(seen, backend, 60);
    strncat(seen, " ", 2);
    if (strcmp(backend, "reference:f32") == 0) {
        return status_fail(*(tapml_status *)user, "the worker ended");
    }
    *out_result = strcmp(backend, "reference:f64") == 0
                      ? (struct replay_device_result){.bad = 2, .passed = 3}
                      : (struct replay_device_result){.others = 4};
    return TAPML_OK;
}

static tapml_status run(const char *first, tapml_status of_one)
{
    struct bundle_condition condition;

    MUST(bundle_tags_read_condition(first, &condition));
    cr_redirect_stdout();
    const tapml_status status =
        replay_devices_run(&(struct replay_devices_options){.setup = &setup,
                                                            .store = store,
                                                            .conditions = &condition,
                                                            .condition_count = 1,
                                                            .replay = replay,
                                                            .user = &of_one},
                           &totals);

    (void)fflush(stdout);
    printed[fread(printed, 1, sizeof(printed) - 1, cr_get_redirected_stdout())] = '\0';
    return status;
}

Test(replay_devices, each_is_named_with_its_verdict)
{
    MUST(run("component=reference", TAPML_UNAVAILABLE));
    cr_expect_not_null(strstr(seen, "reference:f64 "));
    cr_expect_not_null(strstr(seen, "reference:f32-blocked "));
    cr_expect_null(strstr(seen, "reference:f16-rounded "));
    cr_expect_not_null(strstr(printed, "\nreference:f16-rounded  not tried  computes less exactly"),
                       "%s", printed);
    cr_expect_not_null(strstr(printed, " wrong      2 failed, 3 right, 0 did not run; "), "%s",
                       printed);
    cr_expect_not_null(strstr(printed, " not judged 0 failed, 0 right, 4 did not run; "), "%s",
                       printed);
    cr_expect_not_null(strstr(printed, " not tried  the worker ended\n"), "%s", printed);
    cr_expect_not_null(strstr(printed, "recorded on 'phone' = vulkan:77 (a phone), which is not"),
                       "%s", printed);
    cr_expect_eq(totals.bad, 2);
    cr_expect_eq(totals.passed, 3);
    cr_expect_eq(totals.failed, 1);
}

Test(replay_devices, what_is_less_exact_on_purpose_is_taken_by_its_name)
{
    MUST(run("device=f16-rounded", TAPML_OK));
    cr_expect_str_eq(seen, "reference:f16-rounded ");
}

Test(replay_devices, a_signal_ends_it)
{
    cr_assert_eq(run("device=f32", TAPML_CANCELLED), TAPML_CANCELLED);
}

Test(replay_devices, no_device_is_a_failure)
{
    cr_assert_eq(run("device=nowhere", TAPML_OK), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "no installed device meets the conditions"));
    cr_assert_str_eq(seen, "");
}
