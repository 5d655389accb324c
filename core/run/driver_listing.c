// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/driver_listing.h"

#include <inttypes.h>
#include <stdio.h>

void driver_listing_begin(const struct backend *backend, uint64_t seed)
{
    const struct backend_info *info = backend_info(backend);

    (void)printf("%s:%s (%s)%s%s, seed %" PRIu64 "\n%-10s %-8s %5s\n", info->component,
                 info->device, info->device_name, info->driver[0] != '\0' ? ", driver " : "",
                 info->driver, seed, "check", "outcome", "trials");
}

void driver_listing_check(size_t index, const struct driver_result *result)
{
    static const char *const outcomes[] = {
        [DRIVER_PASSED] = "pass", [DRIVER_FAILED] = "FAIL", [DRIVER_SKIPPED] = "skipped"};
    const int is_pass = result->outcome == DRIVER_PASSED;

    (void)printf("%-10s %-8s %5" PRIu64 "  %s\n", driver_check_name(index),
                 outcomes[result->outcome], result->trials,
                 is_pass ? driver_check_about(index) : result->reason);
}
