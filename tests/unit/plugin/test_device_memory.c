// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_memory.h"

#include <criterion/criterion.h>
#include <string.h>

// A device with a table and handles that a test sets.
static struct {
    tapml_object base;
    const tapml_memory_handles *handles;
} device;
static tapml_handle_kind kind;
static const tapml_handle_kind *const kinds[] = {&kind};
static tapml_handle imported;
static tapml_object made;
static uint32_t last_access;

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_MEMORY_HANDLES) == 0 ? device.handles : NULL;
}

static const tapml_object_vt vt = {.hdr = TAPML_HDR(tapml_object_vt), .interface_of = interface_of};

static tapml_status list_kinds(tapml_object *object,
                               tapml_call *call,
                               const tapml_handle_kind *const **out_list,
                               uint32_t *out_count)
{
    *out_list = kinds;
    *out_count = 1;
    return TAPML_OK;
}

static tapml_status import_buffer(tapml_object *object,
                                  tapml_call *call,
                                  const tapml_handle *handle,
                                  uint32_t access,
                                  tapml_object **out_buffer)
{
    imported = *handle;
    last_access = access;
    *out_buffer = &made;
    return TAPML_OK;
}

static tapml_status wrap(tapml_object *object,
                         tapml_call *call,
                         void *memory,
                         uint64_t size,
                         uint32_t access,
                         tapml_object **out_buffer)
{
    return TAPML_NO_MEMORY;
}

static tapml_memory_handles handles;
static tapml_backend table;

static void setup(void)
{
    kind = (tapml_handle_kind){.hdr = TAPML_HDR(tapml_handle_kind),
                               .id = TAPML_HANDLE_POINTER,
                               .traits = TAPML_HANDLE_IMPORTS,
                               .grain = 64};
    handles = (tapml_memory_handles){.hdr = TAPML_HDR(tapml_memory_handles),
                                     .kinds = list_kinds,
                                     .buffer_import = import_buffer};
    table = (tapml_backend){.hdr = TAPML_HDR(tapml_backend)};
    device.base.vt = &vt;
    device.handles = &handles;
}

TestSuite(device_memory, .init = setup);

static struct device_memory find(void)
{
    return device_memory_find(&table, &device.base, NULL, 0);
}

Test(device_memory, a_device_that_imports_pointers_does_so)
{
    static unsigned char memory[64];
    const struct device_memory found = find();
    tapml_object *buffer = NULL;

    cr_assert_eq(device_memory_wrap(&found, NULL, memory, 64, TAPML_ACCESS_READ, &buffer),
                 TAPML_OK);
    cr_expect_eq(buffer, &made);
    cr_expect_str_eq(imported.kind, TAPML_HANDLE_POINTER);
    cr_expect_eq(imported.pointer, (void *)memory);
    cr_expect_eq(imported.descriptor, -1);
    cr_expect_eq(imported.size, 64u);
    cr_expect_eq(last_access, TAPML_ACCESS_READ);
}

Test(device_memory, a_device_of_host_memory_wraps)
{
    static unsigned char memory[64];
    const struct device_memory found = device_memory_find(&table, &device.base, NULL, 1);
    tapml_object *buffer = NULL;

    table.buffer_wrap = wrap;
    cr_expect_null(found.handles);
    cr_expect_eq(device_memory_wrap(&found, NULL, memory, 64, TAPML_ACCESS_READ, &buffer),
                 TAPML_NO_MEMORY);
}

static void expect_nothing(const char *why)
{
    const struct device_memory found = find();
    tapml_object *buffer = NULL;

    cr_expect_null(found.handles, "%s", why);
    cr_expect_eq(device_memory_wrap(&found, NULL, &device, 64, TAPML_ACCESS_READ, &buffer),
                 TAPML_UNIMPLEMENTED, "%s", why);
}

Test(device_memory, what_imports_no_pointers_is_left_alone)
{
    kind.traits = TAPML_HANDLE_EXPORTS;
    expect_nothing("exports alone");
    kind.traits = TAPML_HANDLE_IMPORTS;
    kind.id = TAPML_HANDLE_FILE;
    expect_nothing("files alone");
    kind.id = NULL;
    expect_nothing("no id");
    kind.id = TAPML_HANDLE_POINTER;
    kind.grain = 0;
    expect_nothing("no grain");
    kind.grain = 48;
    expect_nothing("a grain that pages do not have");
    kind.grain = 1 << 20;
    expect_nothing("a grain larger than pages");
    kind.grain = 64;
    kind.hdr.struct_size = 16;
    expect_nothing("too short a kind");
    kind.hdr.struct_size = sizeof(kind);
    handles.buffer_import = NULL;
    expect_nothing("no function");
    device.handles = NULL;
    expect_nothing("no interface");
}
