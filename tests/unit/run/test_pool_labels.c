// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/backend.h"
#include "run/pool_labels.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct backend_info phone = {.component = "opencl",
                                          .plugin = "org.example.cl",
                                          .plugin_version = "2",
                                          .build_id = "3a01",
                                          .device = "0",
                                          .device_name = "Mali-G710",
                                          .driver = "OpenCL 3.0 v1.r38p1"};

static void expect_refused(const char *labels, const char *words)
{
    cr_assert_eq(pool_labels_check(labels), TAPML_INVALID, "%s", labels);
    cr_expect_not_null(strstr(status_message(), words), "%s", status_message());
}

static int is_met(const char *labels)
{
    cr_assert_eq(pool_labels_check(labels), TAPML_OK, "%s", status_message());
    return pool_labels_meet(labels, &phone) == TAPML_OK;
}

Test(pool_labels, a_member_has_all_of_them)
{
    cr_expect(is_met(""));
    cr_expect(is_met("device_name=*Mali*"));
    cr_expect(is_met("  device_name=Mali-G7?? \t component=opencl driver>=2.1 "));
    cr_expect_not(is_met("device_name=*Mali* component=vulkan"));
    cr_expect_not_null(strstr(status_message(), "expected component=vulkan, found 'opencl'"));
    cr_expect_not(is_met("driver>=3.1"));
    cr_expect_not_null(
        strstr(status_message(), "expected driver>=3.1, found 'OpenCL 3.0 v1.r38p1'"));
}

Test(pool_labels, what_is_none_is_named)
{
    expect_refused("device_name", "expected TAG=GLOB or TAG>=VERSION, found 'device_name'");
    expect_refused("device_name=", "found 'device_name='");
    expect_refused("divice=0", "did you mean 'device'?");
    expect_refused("op=silu", "expected a tag of devices, such as device_name, found 'op=silu'");
}
