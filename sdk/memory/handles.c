// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include "object_new.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const tapml_handle_kind pointer_kind = {
    .hdr = TAPML_HDR(tapml_handle_kind),
    .id = TAPML_HANDLE_POINTER,
    .traits = TAPML_HANDLE_IMPORTS | TAPML_HANDLE_EXPORTS,
    .grain = 1,
};
static const tapml_handle_kind file_kind = {
    .hdr = TAPML_HDR(tapml_handle_kind),
    .id = TAPML_HANDLE_FILE,
    .traits = TAPML_HANDLE_IMPORTS | TAPML_HANDLE_EXPORTS,
    .grain = 1, // What lies in front of it on its page is mapped, too.
};
static const tapml_handle_kind *const handle_kinds[] = {&pointer_kind, &file_kind};

static tapml_status kinds(tapml_object *device,
                          tapml_call *call,
                          const tapml_handle_kind *const **out_list,
                          uint32_t *out_count)
{
    (void)device;
    (void)call;
    *out_list = handle_kinds;
    *out_count = sizeof(handle_kinds) / sizeof(*handle_kinds);
    return TAPML_OK;
}

static tapml_status refuse(const struct memory_object *object, tapml_call *call, const char *kind)
{
    return memory_fail(object, call, TAPML_UNIMPLEMENTED,
                       "handles of kind '%.100s', expected '" TAPML_HANDLE_POINTER
                       "' or '" TAPML_HANDLE_FILE "'",
                       kind);
}

// -- Mapped memory -----------------------------------------------------------------------------

// A mapping may end behind its file, where a look at it ends the process: the file is asked first.
static tapml_status check_file(const struct memory_object *object,
                               tapml_call *call,
                               int descriptor,
                               uint64_t offset,
                               uint64_t size)
{
    struct stat about;

    if (fstat(descriptor, &about) != 0) {
        return memory_fail(object, call, TAPML_INVALID, "descriptor %d: %s", descriptor,
                           strerror(errno));
    }
    const uint64_t bytes = about.st_size > 0 ? (uint64_t)about.st_size : 0;

    return size > 0 && offset <= bytes && size <= bytes - offset
               ? TAPML_OK
               : memory_fail(object, call, TAPML_INVALID,
                             "%" PRIu64 " bytes at %" PRIu64 " of a file of %" PRIu64, size, offset,
                             bytes);
}

// Makes a buffer that has the descriptor, which it closes: also after a failure.
static tapml_status map(const struct memory_object *device,
                        tapml_call *call,
                        const struct memory_mapping *mapping,
                        uint32_t access,
                        tapml_object **out_buffer)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t before = mapping->offset % page;
    const int protection = PROT_READ | ((access & TAPML_ACCESS_WRITE) != 0 ? PROT_WRITE : 0);
    tapml_object *buffer = NULL;
    tapml_status status = memory_object_new(device, call, 0, &buffer);

    if (status != TAPML_OK) {
        (void)close(mapping->descriptor);
        return status;
    }
    struct memory_object *own = memory_object_of(buffer);

    own->mapping = *mapping;
    own->mapping.bytes = (size_t)(before + mapping->size);
    own->mapping.memory = mmap(NULL, own->mapping.bytes, protection, MAP_SHARED,
                               mapping->descriptor, (off_t)(mapping->offset - before));
    if (own->mapping.memory == MAP_FAILED) {
        const int error = errno;

        own->mapping.memory = NULL;
        status = memory_fail(device, call,
                             error == ENOMEM   ? TAPML_NO_MEMORY
                             : error == EACCES ? TAPML_INVALID
                                               : TAPML_UNIMPLEMENTED,
                             "mmap: %s", strerror(error));
        buffer->vt->release(buffer);
        return status;
    }
    own->data = (unsigned char *)own->mapping.memory + before;
    *out_buffer = buffer;
    return TAPML_OK;
}

void memory_handles_release(struct memory_object *buffer)
{
    if (buffer->mapping.memory != NULL) {
        (void)munmap(buffer->mapping.memory, buffer->mapping.bytes);
    }
    if (buffer->mapping.size > 0) {
        (void)close(buffer->mapping.descriptor);
    }
}

// -- The interface -----------------------------------------------------------------------------

static tapml_status import_pointer(tapml_object *device,
                                   tapml_call *call,
                                   const tapml_handle *handle,
                                   uint32_t access,
                                   tapml_object **out_buffer)
{
    if (handle->pointer == NULL || handle->size == 0) {
        return memory_fail(memory_object_of(device), call, TAPML_INVALID,
                           "a handle of no memory, or of no bytes");
    }
    return memory_backend_table.buffer_wrap(device, call,
                                            (unsigned char *)handle->pointer + handle->offset,
                                            handle->size, access, out_buffer);
}

static tapml_status buffer_import(tapml_object *device,
                                  tapml_call *call,
                                  const tapml_handle *handle,
                                  uint32_t access,
                                  tapml_object **out_buffer)
{
    const struct memory_object *own = memory_object_of(device);

    if (strcmp(handle->kind, TAPML_HANDLE_POINTER) == 0) {
        return import_pointer(device, call, handle, access, out_buffer);
    }
    if (strcmp(handle->kind, TAPML_HANDLE_FILE) != 0) {
        return refuse(own, call, handle->kind);
    }
    const tapml_status status =
        handle->descriptor >= 0 && handle->descriptor <= INT32_MAX
            ? check_file(own, call, (int)handle->descriptor, handle->offset, handle->size)
            : memory_fail(own, call, TAPML_INVALID, "%" PRId64 " is no descriptor",
                          handle->descriptor);

    if (status != TAPML_OK) {
        return status;
    }
    const int descriptor = fcntl((int)handle->descriptor, F_DUPFD_CLOEXEC, 0);

    if (descriptor < 0) {
        return memory_fail(own, call, TAPML_NO_MEMORY, "no descriptor: %s", strerror(errno));
    }
    return map(own, call,
               &(struct memory_mapping){
                   .descriptor = descriptor, .offset = handle->offset, .size = handle->size},
               access, out_buffer);
}

static tapml_status buffer_new(tapml_object *device,
                               tapml_call *call,
                               const char *kind,
                               uint64_t size,
                               tapml_object **out_buffer)
{
    const struct memory_object *own = memory_object_of(device);

    if (strcmp(kind, TAPML_HANDLE_POINTER) == 0) {
        return memory_backend_table.buffer_new(device, call, 0, size, out_buffer);
    }
    if (strcmp(kind, TAPML_HANDLE_FILE) != 0) {
        return refuse(own, call, kind);
    }
    const int descriptor = size <= INT64_MAX ? memfd_create("tapml-buffer", MFD_CLOEXEC) : -1;

    if (descriptor < 0 || ftruncate(descriptor, (off_t)size) != 0) {
        const int error = size <= INT64_MAX ? errno : EFBIG;

        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return memory_fail(own, call, TAPML_NO_MEMORY, "no file in memory of %" PRIu64 " bytes: %s",
                           size, strerror(error));
    }
    return map(own, call, &(struct memory_mapping){.descriptor = descriptor, .size = size},
               TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, out_buffer);
}

static tapml_status
buffer_export(tapml_object *buffer, tapml_call *call, const char *kind, tapml_handle *out_handle)
{
    const struct memory_object *own = memory_object_of(buffer);
    const struct memory_mapping *mapping = &own->mapping;

    if (strcmp(kind, TAPML_HANDLE_POINTER) == 0) {
        out_handle->kind = TAPML_HANDLE_POINTER;
        out_handle->pointer = own->data;
        out_handle->descriptor = -1;
        out_handle->offset = 0;
        out_handle->size = own->bytes;
        return TAPML_OK;
    }
    if (strcmp(kind, TAPML_HANDLE_FILE) != 0) {
        return refuse(own, call, kind);
    }
    if (mapping->size == 0) {
        return memory_fail(own, call, TAPML_UNIMPLEMENTED,
                           "the buffer was not made as '" TAPML_HANDLE_FILE "'");
    }
    const int descriptor = fcntl(mapping->descriptor, F_DUPFD_CLOEXEC, 0);

    if (descriptor < 0) {
        return memory_fail(own, call, TAPML_NO_MEMORY, "no descriptor: %s", strerror(errno));
    }
    out_handle->kind = TAPML_HANDLE_FILE;
    out_handle->pointer = NULL;
    out_handle->descriptor = descriptor;
    out_handle->offset = mapping->offset;
    out_handle->size = mapping->size;
    return TAPML_OK;
}

const tapml_memory_handles memory_handles_table = {
    .hdr = TAPML_HDR(tapml_memory_handles),
    .kinds = kinds,
    .buffer_import = buffer_import,
    .buffer_new = buffer_new,
    .buffer_export = buffer_export,
};
