// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plugin_fixture.h"
#include "verify/round_trip.h"

#include <criterion/criterion.h>

static struct plugin_fixture plugins;

static void begin(void)
{
    plugin_fixture_open(&plugins);
}

static void end(void)
{
    plugin_fixture_close(&plugins);
}

TestSuite(round_trip, .init = begin, .fini = end);

Test(round_trip, a_wait_takes_some_time)
{
    struct backend *backend = plugin_fixture_backend(&plugins, "reference:f32");
    const uint64_t time_ns = round_trip_measure(backend);
    cr_expect_gt(time_ns, 0u);
    cr_expect_lt(time_ns, 1000000000u);
    backend_release(backend);
}
