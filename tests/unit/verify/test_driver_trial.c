// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plain.h"
#include "verify/driver_trial.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct backend *backend;
static struct driver_result result;
static struct driver_trial trial;

static void begin(void)
{
    backend = plain_create();
    result = (struct driver_result){.outcome = DRIVER_PASSED};
    MUST(driver_trial_open(backend, NULL, 1, &result, &trial));
}

static void end(void)
{
    driver_trial_close(&trial);
    backend_release(backend);
}

TestSuite(driver_trial, .init = begin, .fini = end);

static void expect_window(uint64_t offset, uint64_t size, uint64_t first, uint64_t bytes)
{
    const struct driver_window window = driver_trial_window(&trial, offset, size);
    cr_expect_eq(window.begin, first);
    cr_expect_eq(window.size, bytes);
}

Test(driver_trial, a_window_is_whole_and_wider_than_its_transfer)
{
    expect_window(0, 4, 0, 128);
    expect_window(68, 4, 0, 192);
    expect_window(128, 64, 64, 192);
    expect_window(60, 8, 0, 192);
    expect_window(DRIVER_TRIAL_BYTES - 4, 4, DRIVER_TRIAL_BYTES - 128, 128);
}

Test(driver_trial, the_first_byte_that_differs_is_named)
{
    const struct driver_window window = driver_trial_window(&trial, 64, 8);
    driver_trial_begin(&trial, 64, 8);
    MUST(driver_trial_prepare(&trial, window));
    MUST(driver_trial_look(&trial, window, "a fill"));
    cr_expect_not(driver_trial_is_over(&trial), "%s", result.reason);
    trial.expected[70] = 0x10;
    trial.expected[71] = 0x20;
    ((unsigned char *)plain_bytes(trial.buffer))[70] = 0x11;
    ((unsigned char *)plain_bytes(trial.buffer))[71] = 0x21;
    MUST(driver_trial_look(&trial, window, "a fill"));
    cr_expect(driver_trial_is_over(&trial));
    cr_expect_eq(result.outcome, DRIVER_FAILED);
    cr_expect_str_eq(result.reason,
                     "after a fill of 8 bytes at 64, byte 70 is 0x11, expected 0x10; "
                     "2 of 192 bytes differ");
}

Test(driver_trial, what_ends_a_check_first_counts)
{
    driver_trial_skip(&trial, "there is no %s", "op");
    driver_trial_fail(&trial, "wrong");
    cr_expect_eq(result.outcome, DRIVER_SKIPPED);
    cr_expect_str_eq(result.reason, "there is no op");
}

Test(driver_trial, a_seed_draws_the_same_bytes)
{
    struct driver_result other_result = {.outcome = DRIVER_PASSED};
    struct driver_trial other;
    MUST(driver_trial_open(backend, NULL, 1, &other_result, &other));
    driver_trial_draw(&trial, trial.given, 4096);
    driver_trial_draw(&other, other.given, 4096);
    cr_expect_arr_eq(trial.given, other.given, 4096);
    driver_trial_close(&other);
}
