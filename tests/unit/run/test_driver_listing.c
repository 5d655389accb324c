// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/plugin_fixture.h"
#include "run/driver_listing.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>

Test(driver_listing, a_device_has_a_line_and_each_check_one, .init = cr_redirect_stdout)
{
    const struct driver_result failed = {
        .outcome = DRIVER_FAILED, .trials = 2, .reason = "byte 0 is wrong"};
    const struct driver_result passed = {.outcome = DRIVER_PASSED, .trials = 16};
    struct plugin_fixture plugins;

    plugin_fixture_open(&plugins);
    struct backend *backend = plugin_fixture_backend(&plugins, "reference:f32");
    const char *name = backend_info(backend)->device_name;
    char expected[512];

    driver_listing_begin(backend, 7);
    driver_listing_check(0, &passed);
    driver_listing_check(2, &failed);
    (void)fflush(stdout);
    (void)snprintf(expected, sizeof(expected),
                   "reference:f32 (%s), seed 7\ncheck      outcome  trials\n"
                   "write      pass        16  %s\nfill       FAIL         2  byte 0 is wrong\n",
                   name, driver_check_about(0));
    cr_assert_stdout_eq_str(expected);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}
