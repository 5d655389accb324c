// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_state.h"
#include "zoo_folder.h"

#include <string.h>

static struct ini ini;
static struct registry *registry;
static struct backend *backend;

static void setup(void)
{
    const char *const names[] = {"good", NULL};
    registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_open(registry, "good:first", &backend), TAPML_OK, "%s", status_message());
}

static void teardown(void)
{
    backend_release(backend);
    registry_destroy(registry);
    ini_release(&ini);
}

TestSuite(device_state, .init = setup, .fini = teardown);

Test(device_state, a_loss_is_told_at_each_later_use)
{
    struct device *device = device_own(backend);
    cr_assert_eq(device_state_begin(device), TAPML_OK);
    cr_assert_eq(device_state_finish(device, TAPML_DEVICE_LOST, "queue_read"), TAPML_DEVICE_LOST);
    cr_assert_not_null(strstr(status_message(), "queue_read"), "%s", status_message());
    cr_assert(device->is_lost);
    cr_assert_eq(device_state_begin(device), TAPML_DEVICE_LOST);
    cr_assert_not_null(strstr(status_message(), "queue_read"), "%s", status_message());
}

Test(device_state, work_is_noted_until_it_is_waited_for)
{
    struct device *device = device_own(backend);
    device_state_note_work(device);
    cr_assert(device->has_pending && device->has_unmarked);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_assert_not(device->has_pending || device->has_unmarked);
}
