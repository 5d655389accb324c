// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of sins.h with tapml.memory_handles/1: pointers that are imported, files that are
// exported.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 16 };

// The one file that can be exported, and where it is mapped.
static struct {
    int descriptor;
    void *memory;
} zoo_file = {.descriptor = -1};

static const tapml_handle_kind zoo_kinds[] = {
    {TAPML_HDR(tapml_handle_kind), TAPML_HANDLE_POINTER, TAPML_HANDLE_IMPORTS, 0, 4},
    {TAPML_HDR(tapml_handle_kind), TAPML_HANDLE_FILE, TAPML_HANDLE_EXPORTS, 0, 4096}};
static const tapml_handle_kind *const zoo_kind_list[] = {&zoo_kinds[0], &zoo_kinds[1]};

static tapml_status list_kinds(tapml_object *device,
                               tapml_call *call,
                               const tapml_handle_kind *const **out_list,
                               uint32_t *out_count)
{
    *out_list = zoo_kind_list;
    *out_count = 2;
    return TAPML_OK;
}

static tapml_status import_pointer(tapml_object *device,
                                   tapml_call *call,
                                   const tapml_handle *handle,
                                   uint32_t access,
                                   tapml_object **out_buffer)
{
    if (strcmp(handle->kind, TAPML_HANDLE_POINTER) != 0) {
        return fail(own(device), call, TAPML_UNIMPLEMENTED, "pointers alone are imported");
    }
    unsigned char *begin = (unsigned char *)handle->pointer + handle->offset;
#if defined(SIN_IMPORTS_A_COPY)
    const tapml_status status = buffer_new(device, call, 0, handle->size, out_buffer);
    if (status == TAPML_OK) {
        memcpy(own(*out_buffer)->data, begin, handle->size);
    }
    return status;
#else
    return buffer_wrap(device, call, begin, handle->size, access, out_buffer);
#endif
}

static tapml_status buffer_of_file(tapml_object *device,
                                   tapml_call *call,
                                   const char *kind,
                                   uint64_t size,
                                   tapml_object **out_buffer)
{
    if (zoo_file.descriptor < 0) {
        zoo_file.descriptor = memfd_create("zoo", MFD_CLOEXEC);
        zoo_file.memory =
            ftruncate(zoo_file.descriptor, FILE_BYTES) == 0
                ? mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, zoo_file.descriptor, 0)
                : NULL;
    }
    return buffer_wrap(device, call, zoo_file.memory, size, 0, out_buffer);
}

static tapml_status
export_file(tapml_object *buffer, tapml_call *call, const char *kind, tapml_handle *out_handle)
{
    out_handle->kind = TAPML_HANDLE_FILE;
    out_handle->size = FILE_BYTES;
#if defined(SIN_LENDS_ITS_DESCRIPTOR)
    out_handle->descriptor = zoo_file.descriptor;
#else
    out_handle->descriptor = fcntl(zoo_file.descriptor, F_DUPFD_CLOEXEC, 0);
#endif
    return TAPML_OK;
}

static const tapml_memory_handles zoo_handles = {.hdr = TAPML_HDR(tapml_memory_handles),
                                                 .kinds = list_kinds,
                                                 .buffer_import = import_pointer,
                                                 .buffer_new = buffer_of_file,
                                                 .buffer_export = export_file};
#define ZOO_INTERFACE(id) (strcmp(id, TAPML_MEMORY_HANDLES) == 0 ? &zoo_handles : NULL)
