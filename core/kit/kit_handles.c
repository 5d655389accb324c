// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_handles.h"

#include "kit/kit_device.h"
#include "kit/kit_subject.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LIMIT_S = 60,
    REGION_BYTES = 1 << 18,
    BEGIN_BYTES = 1 << 16, // Where the memory of a handle begins in the region,
    SIZE_BYTES = 1 << 16,  // and how much it is: whole pages of every machine.
    WRITTEN = 0x5a
};

static const char UNKNOWN[] = "org.example.no-such-kind/1";

// A file in memory that this process sees, too, with a byte of its own at each place.
struct handle_region {
    int descriptor;
    unsigned char *memory; // NULL: there is none.
};

struct trial {
    struct kit_device device;
    const tapml_memory_handles *handles;
    struct kit_result *result;
};

static unsigned char byte_at(size_t place)
{
    return (unsigned char)(place * 7 + (place >> 8));
}

static int open_region(struct trial *trial, struct handle_region *out_region)
{
    struct handle_region region = {.descriptor = memfd_create("tapml-check", MFD_CLOEXEC)};

    if (region.descriptor >= 0 && ftruncate(region.descriptor, REGION_BYTES) == 0) {
        void *memory =
            mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, region.descriptor, 0);

        region.memory = memory != MAP_FAILED ? memory : NULL;
    }
    if (region.memory == NULL) {
        kit_result_skip(trial->result, "there is no file in memory: %s", strerror(errno));
    }
    for (size_t i = 0; region.memory != NULL && i < REGION_BYTES; i++) {
        region.memory[i] = byte_at(i);
    }
    *out_region = region;
    return region.memory != NULL;
}

static void close_region(struct handle_region *region)
{
    if (region->memory != NULL) {
        (void)munmap(region->memory, REGION_BYTES);
    }
    if (region->descriptor >= 0) {
        (void)close(region->descriptor);
    }
}

static tapml_call *call_of(struct trial *trial)
{
    return stand_in_call(trial->device.host);
}

// -- What the device has -----------------------------------------------------------------------

static int open_trial(const struct kit_subject *subject, struct trial *trial)
{
    if (!kit_device_open(subject, trial->result, &trial->device)) {
        return 0;
    }
    trial->handles =
        trial->device.device->vt->interface_of(trial->device.device, TAPML_MEMORY_HANDLES);
    if (trial->handles == NULL) {
        kit_result_skip(trial->result, "the device has no '%s'", TAPML_MEMORY_HANDLES);
    } else if (!TAPML_HAS_FN(tapml_memory_handles, trial->handles, kinds) ||
               !TAPML_HAS_FN(tapml_memory_handles, trial->handles, buffer_import) ||
               !TAPML_HAS_FN(tapml_memory_handles, trial->handles, buffer_new) ||
               !TAPML_HAS_FN(tapml_memory_handles, trial->handles, buffer_export)) {
        kit_result_fail(trial->result, "its table of '%s' has holes", TAPML_MEMORY_HANDLES);
    }
    return kit_result_is_good(trial->result);
}

static void see_kind(const tapml_handle_kind *kind, struct kit_result *io_result)
{
    if (!TAPML_HAS(tapml_handle_kind, kind, grain) || kind->id == NULL) {
        kit_result_fail(io_result, "a kind of handles is described by too short a struct, or has "
                                   "no id");
    } else if (kind->traits == 0) {
        kit_result_fail(io_result, "handles of kind '%s' are neither imported nor exported",
                        kind->id);
    } else if (kind->grain == 0 || (kind->grain & (kind->grain - 1)) != 0) {
        kit_result_fail(io_result, "the grain of kind '%s' is %" PRIu64 ", expected a power of two",
                        kind->id, kind->grain);
    }
}

// The kind of this id, if the device has it with the trait, or NULL.
static const tapml_handle_kind *find_kind(struct trial *trial, const char *id, uint32_t trait)
{
    const tapml_handle_kind *const *list = NULL, *found = NULL;
    uint32_t count = 0;

    if (!kit_device_expect(
            &trial->device, trial->result, "kinds",
            trial->handles->kinds(trial->device.device, call_of(trial), &list, &count))) {
        return NULL;
    }
    for (uint32_t i = 0; i < count && kit_result_is_good(trial->result); i++) {
        see_kind(list[i], trial->result);
        if (kit_result_is_good(trial->result) && strcmp(list[i]->id, id) == 0 &&
            (list[i]->traits & trait) != 0) {
            found = list[i];
        }
    }
    return found;
}

// -- Buffers -----------------------------------------------------------------------------------

// Whether the buffer has what is at `memory`.
static void
expect_read(struct trial *trial, tapml_object *buffer, const unsigned char *memory, const char *id)
{
    static unsigned char found[SIZE_BYTES];

    memset(found, 0, sizeof(found));
    if (kit_device_expect(&trial->device, trial->result, "queue_read",
                          trial->device.table->queue_read(trial->device.queue, call_of(trial),
                                                          buffer, 0, found, SIZE_BYTES)) &&
        kit_device_wait(&trial->device, trial->result) && memcmp(found, memory, SIZE_BYTES) != 0) {
        kit_result_fail(trial->result, "a buffer does not have what is in the memory of its '%s'",
                        id);
    }
}

// Fills the second half of the buffer, which has to be seen at `memory`, and nothing else.
static void
expect_write(struct trial *trial, tapml_object *buffer, const unsigned char *memory, const char *id)
{
    enum { HALF = SIZE_BYTES / 2 };
    static unsigned char expected[SIZE_BYTES];

    memcpy(expected, memory, SIZE_BYTES);
    memset(expected + HALF, WRITTEN, HALF);
    if (kit_device_expect(&trial->device, trial->result, "queue_fill",
                          trial->device.table->queue_fill(trial->device.queue, call_of(trial),
                                                          buffer, HALF, HALF,
                                                          WRITTEN * 0x01010101u)) &&
        kit_device_wait(&trial->device, trial->result) &&
        memcmp(expected, memory, SIZE_BYTES) != 0) {
        kit_result_fail(trial->result,
                        "what a queue has written to a buffer is not in the memory of its '%s'",
                        id);
    }
}

// -- Imports -----------------------------------------------------------------------------------

static void expect_neighbours(const struct handle_region *region, struct kit_result *io_result)
{
    for (size_t i = 0; i < REGION_BYTES; i++) {
        if ((i < BEGIN_BYTES || i >= BEGIN_BYTES + SIZE_BYTES) && region->memory[i] != byte_at(i)) {
            kit_result_fail(io_result, "byte %zu beside the memory of a handle was written", i);
            return;
        }
    }
}

static tapml_handle handle_of(const struct handle_region *region, const char *id)
{
    const int is_file = strcmp(id, TAPML_HANDLE_FILE) == 0;

    return (tapml_handle){.hdr = TAPML_HDR(tapml_handle),
                          .kind = id,
                          .pointer = is_file ? NULL : region->memory,
                          .descriptor = is_file ? region->descriptor : -1,
                          .offset = BEGIN_BYTES,
                          .size = SIZE_BYTES};
}

static tapml_status
import_handle(struct trial *trial, const tapml_handle *handle, tapml_object **out)
{
    return trial->handles->buffer_import(trial->device.device, call_of(trial), handle,
                                         TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, out);
}

// Of a descriptor the importer has one of its own: the caller's is there, and may go.
static void drop_descriptor(struct handle_region *region, struct kit_result *io_result)
{
    if (fcntl(region->descriptor, F_GETFD) < 0) {
        kit_result_fail(io_result, "an import closes the descriptor of its caller");
    } else {
        (void)close(region->descriptor);
    }
    region->descriptor = -1;
}

static void import_kind(struct trial *trial, const char *id)
{
    struct handle_region region;
    tapml_object *buffer = NULL;

    if (open_region(trial, &region)) {
        const tapml_handle handle = handle_of(&region, id);
        const tapml_status status = import_handle(trial, &handle, &buffer);

        // A driver may refuse some memory; then there is nothing to be seen.
        if (status != TAPML_UNIMPLEMENTED &&
            kit_device_expect(&trial->device, trial->result, "buffer_import", status)) {
            drop_descriptor(&region, trial->result);
            expect_read(trial, buffer, region.memory + BEGIN_BYTES, id);
            expect_write(trial, buffer, region.memory + BEGIN_BYTES, id);
            expect_neighbours(&region, trial->result);
        }
    }
    kit_device_drop(buffer);
    close_region(&region);
}

// A mapping behind the end of its file ends the process when it is touched.
static void refuse_short_file(struct trial *trial)
{
    struct handle_region region;
    tapml_object *buffer = NULL;

    if (open_region(trial, &region)) {
        tapml_handle handle = handle_of(&region, TAPML_HANDLE_FILE);

        handle.size = REGION_BYTES;
        const tapml_status status = import_handle(trial, &handle, &buffer);

        if (status != TAPML_INVALID) {
            kit_result_fail(trial->result,
                            "an import of more bytes than its file has ends with '%s', expected "
                            "'%s'",
                            status_name(status), status_name(TAPML_INVALID));
        }
    }
    kit_device_drop(buffer);
    close_region(&region);
}

static void refuse_unknown(struct trial *trial)
{
    const tapml_handle handle = {
        .hdr = TAPML_HDR(tapml_handle), .kind = UNKNOWN, .descriptor = -1, .size = SIZE_BYTES};
    tapml_object *buffer = NULL;
    const tapml_status status = import_handle(trial, &handle, &buffer);

    if (status != TAPML_UNIMPLEMENTED) {
        kit_result_fail(trial->result, "a handle of unknown kind ends with '%s', expected '%s'",
                        status_name(status), status_name(TAPML_UNIMPLEMENTED));
    }
    kit_device_drop(buffer);
}

static void memory_is_imported(const struct kit_subject *subject, struct kit_result *io_result)
{
    static const char *const ids[] = {TAPML_HANDLE_POINTER, TAPML_HANDLE_FILE};
    struct trial trial = {.result = io_result};

    if (open_trial(subject, &trial)) {
        refuse_unknown(&trial);
        for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
            if (find_kind(&trial, ids[i], TAPML_HANDLE_IMPORTS) != NULL) {
                import_kind(&trial, ids[i]);
            }
        }
        if (find_kind(&trial, TAPML_HANDLE_FILE, TAPML_HANDLE_IMPORTS) != NULL) {
            refuse_short_file(&trial);
        }
    }
    kit_device_close(&trial.device);
}

// -- Exports -----------------------------------------------------------------------------------

static int
export_handle(struct trial *trial, tapml_object *buffer, const char *id, tapml_handle *out)
{
    *out = (tapml_handle){.hdr = TAPML_HDR(tapml_handle), .descriptor = -1};
    if (!kit_device_expect(&trial->device, trial->result, "buffer_export",
                           trial->handles->buffer_export(buffer, call_of(trial), id, out))) {
        return 0;
    }
    const int is_file = strcmp(id, TAPML_HANDLE_FILE) == 0;

    if (out->size < SIZE_BYTES || out->kind == NULL || strcmp(out->kind, id) != 0 ||
        (is_file ? out->descriptor < 0 : out->pointer == NULL)) {
        kit_result_fail(trial->result, "a handle of kind '%s' of a buffer of %d bytes is not whole",
                        id, SIZE_BYTES);
        return 0;
    }
    return 1;
}

static void see_pointer(struct trial *trial, tapml_object *buffer)
{
    tapml_handle handle;

    if (export_handle(trial, buffer, TAPML_HANDLE_POINTER, &handle)) {
        unsigned char *memory = (unsigned char *)handle.pointer + handle.offset;

        memset(memory, 1, SIZE_BYTES);
        expect_read(trial, buffer, memory, TAPML_HANDLE_POINTER);
        expect_write(trial, buffer, memory, TAPML_HANDLE_POINTER);
    }
}

// Two exports are two descriptors; the memory outlives them and the buffer.
static void see_file(struct trial *trial, tapml_object **io_buffer)
{
    tapml_handle first = {.descriptor = -1}, second = {.descriptor = -1};
    void *memory = MAP_FAILED;

    if (export_handle(trial, *io_buffer, TAPML_HANDLE_FILE, &first) &&
        export_handle(trial, *io_buffer, TAPML_HANDLE_FILE, &second)) {
        if (first.descriptor == second.descriptor) {
            kit_result_fail(trial->result, "two exports give the same descriptor, which two "
                                           "callers close");
            second.descriptor = -1;
        }
        if ((fcntl((int)first.descriptor, F_GETFD) & FD_CLOEXEC) == 0) {
            kit_result_fail(trial->result, "the descriptor of an export is not closed by exec");
        }
        memory = mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)first.descriptor,
                      (off_t)first.offset);
        if (memory == MAP_FAILED) {
            kit_result_fail(trial->result, "what is exported as a file cannot be mapped: %s",
                            strerror(errno));
        }
    }
    if (first.descriptor >= 0) {
        (void)close((int)first.descriptor);
    }
    if (second.descriptor >= 0) {
        (void)close((int)second.descriptor);
    }
    if (memory != MAP_FAILED && kit_result_is_good(trial->result)) {
        memset(memory, 1, SIZE_BYTES);
        expect_read(trial, *io_buffer, memory, TAPML_HANDLE_FILE);
        expect_write(trial, *io_buffer, memory, TAPML_HANDLE_FILE);
        kit_device_drop(*io_buffer);
        *io_buffer = NULL;
        if (((const unsigned char *)memory)[SIZE_BYTES - 1] != WRITTEN) {
            kit_result_fail(trial->result, "the memory of a file goes with its buffer");
        }
    }
    if (memory != MAP_FAILED) {
        (void)munmap(memory, SIZE_BYTES);
    }
}

static void export_kind(struct trial *trial, const char *id)
{
    tapml_object *buffer = NULL;

    if (find_kind(trial, id, TAPML_HANDLE_EXPORTS) != NULL &&
        kit_device_expect(&trial->device, trial->result, "buffer_new",
                          trial->handles->buffer_new(trial->device.device, call_of(trial), id,
                                                     SIZE_BYTES, &buffer))) {
        if (strcmp(id, TAPML_HANDLE_FILE) == 0) {
            see_file(trial, &buffer);
        } else {
            see_pointer(trial, buffer);
        }
    }
    kit_device_drop(buffer);
}

static void memory_is_exported(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct trial trial = {.result = io_result};

    if (open_trial(subject, &trial)) {
        if (find_kind(&trial, TAPML_HANDLE_POINTER, TAPML_HANDLE_EXPORTS) == NULL &&
            find_kind(&trial, TAPML_HANDLE_FILE, TAPML_HANDLE_EXPORTS) == NULL) {
            kit_result_skip(io_result, "it exports neither pointers nor files");
        }
        export_kind(&trial, TAPML_HANDLE_POINTER);
        export_kind(&trial, TAPML_HANDLE_FILE);
    }
    kit_device_close(&trial.device);
}

static const struct kit_check CHECKS[] = {
    {.id = "B-10",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "a buffer over a handle is its memory, and the descriptor stays the caller's",
     .limit_s = LIMIT_S,
     .run = memory_is_imported},
    {.id = "B-11",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "a handle of a buffer is its memory, and each descriptor has one owner",
     .limit_s = LIMIT_S,
     .run = memory_is_exported},
    {.id = NULL},
};

const struct kit_check *kit_handles_checks(void)
{
    return CHECKS;
}
