// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_aside.h"
#include "plugin/registry.h"
#include "zoo_folder.h"

#include <string.h>

// Memory of the host needs no copies, and so no second queue. What a device with memory of its own
// does is tried by exec/ring on drivers.
Test(device_aside, is_nothing_of_host_memory)
{
    static const char *const names[] = {"good", NULL};
    struct ini ini;
    struct backend *backend = NULL;
    char bytes[16] = "aside";
    tapml_object *buffer = NULL;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_open(registry, "good", &backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_buffer_new(backend, sizeof(bytes), &buffer), TAPML_OK);
    for (enum backend_aside_kind kind = BACKEND_ASIDE_WRITE; kind <= BACKEND_ASIDE_JOIN; kind++) {
        struct backend_aside aside = {
            .kind = kind, .buffer = buffer, .source = bytes, .size = sizeof(bytes)};
        cr_expect_eq(backend_aside(backend, &aside), TAPML_UNIMPLEMENTED, "%d", (int)kind);
        cr_expect_str_eq(status_message(), "good: its queues do not wait for each other");
    }
    struct device *device = device_own(backend);
    cr_expect_null(device->aside.queue);
    cr_expect_eq(device_aside_gather(device), TAPML_OK);
    device_aside_close(device);
    backend_buffer_free(backend, buffer);
    backend_release(backend);
    registry_destroy(registry);
    ini_release(&ini);
}
