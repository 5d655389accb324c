// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_buffers.h"
#include "zoo_folder.h"

#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct ini ini;
static struct registry *registry;
static struct backend *device;

static void setup(void)
{
    const char *const names[] = {"good", NULL};
    registry = zoo_registry(names, NULL, &ini);
    MUST(registry_open(registry, "good:first", &device));
}

static void teardown(void)
{
    backend_release(device);
    registry_destroy(registry);
    ini_release(&ini);
}

TestSuite(device_buffers, .init = setup, .fini = teardown);

Test(device_buffers, what_is_written_is_read)
{
    static const unsigned char written[16] = "0123456789abcde";
    unsigned char found[16] = "";
    tapml_object *buffer = NULL;
    MUST(device_buffers_new(device, 32, &buffer));
    MUST(device_buffers_fill(device, buffer, 0, 32, 0));
    MUST(device_buffers_write(device, buffer, 16, written, 16));
    MUST(device_buffers_read(device, buffer, 16, found, 16));
    MUST(backend_wait(device));
    cr_assert_arr_eq(found, written, 16);
    device_buffers_free(device, buffer);
}

Test(device_buffers, memory_of_the_host_is_used_where_it_lies)
{
    static uint32_t memory[4] = {1, 2, 3, 4};
    tapml_object *buffer = NULL;
    MUST(device_buffers_wrap(device, memory, sizeof(memory), TAPML_ACCESS_READ | TAPML_ACCESS_WRITE,
                             &buffer));
    MUST(device_buffers_fill(device, buffer, 4, 8, 7));
    MUST(backend_wait(device));
    cr_assert_eq(memory[0], 1);
    cr_assert_eq(memory[1], 7);
    cr_assert_eq(memory[2], 7);
    cr_assert_eq(memory[3], 4);
    device_buffers_free(device, buffer);
}
