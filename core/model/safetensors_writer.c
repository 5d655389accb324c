// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/safetensors_writer.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"

#include <tapml/tensor.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A tensor's shape has 8 numbers at most of 20 digits, offsets are two; the rest is words.
enum { PREFIX = 8, ENTRY_BYTES = 320 };

struct safetensors_writer {
    FILE *file;
    char *path, *beside;
    uint64_t room, data_bytes;
    struct text header;
};

uint64_t safetensors_writer_room(const char *name)
{
    return ENTRY_BYTES + 6 * strlen(name); // An escaped byte takes six.
}

const char *safetensors_writer_type(uint32_t dtype)
{
    static const struct {
        uint32_t dtype;
        const char *type;
    } types[] = {{TAPML_F64, "F64"}, {TAPML_F32, "F32"}, {TAPML_F16, "F16"}, {TAPML_BF16, "BF16"},
                 {TAPML_I64, "I64"}, {TAPML_I32, "I32"}, {TAPML_U8, "U8"}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
        if (types[i].dtype == dtype) {
            return types[i].type;
        }
    }
    return NULL;
}

static tapml_status failed(const struct safetensors_writer *writer)
{
    char why[FILE_WHY_TEXT];
    const int error = errno;
    if (file_is_full(error, writer->path, why)) {
        return status_fail(TAPML_UNAVAILABLE, "%s: %s", writer->path, why);
    }
    return status_fail(TAPML_UNAVAILABLE, "cannot write '%s': %s", writer->path, strerror(error));
}

static tapml_status write_bytes(struct safetensors_writer *writer, const void *data, uint64_t bytes)
{
    return fwrite(data, 1, (size_t)bytes, writer->file) == bytes ? TAPML_OK : failed(writer);
}

// Something in the place of the header.
static tapml_status keep_room(struct safetensors_writer *writer)
{
    static const char empty[4096] = "";
    for (uint64_t left = PREFIX + writer->room; left > 0;) {
        const uint64_t part = left < sizeof(empty) ? left : sizeof(empty);
        TAPML_TRY(write_bytes(writer, empty, part));
        left -= part;
    }
    return TAPML_OK;
}

// Another name for a device or a pipe would replace it, and the header cannot be put before what
// has gone into it.
static tapml_status check_place(const char *path)
{
    struct stat about;
    TAPML_TRY(file_try_writing(path));
    return stat(path, &about) != 0 || S_ISREG(about.st_mode)
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s: expected a file to write, found a device or a pipe", path);
}

// As file_write names a file that is not whole: the process's number keeps two writers apart.
static tapml_status begin(struct safetensors_writer *writer, const char *path)
{
    enum { SUFFIX = 32 };
    const size_t size = strlen(path) + SUFFIX;
    TAPML_TRY(check_place(path));
    writer->path = alloc_text(path);
    char *beside = alloc_new(size);
    if (!writer->path || !beside) {
        alloc_free(beside);
        return status_no_memory();
    }
    (void)snprintf(beside, size, "%s.%ld.part", path, (long)getpid());
    const int descriptor =
        open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        alloc_free(beside); // It is not ours to remove.
        return failed(writer);
    }
    writer->beside = beside;
    writer->file = fdopen(descriptor, "wb");
    if (!writer->file) {
        const tapml_status status = failed(writer);
        (void)close(descriptor); // What failed is already known.
        return status;
    }
    return keep_room(writer);
}

tapml_status
safetensors_writer_open(const char *path, uint64_t room, struct safetensors_writer **out_writer)
{
    struct safetensors_writer *writer = alloc_new(sizeof(*writer));
    if (!writer) {
        return status_no_memory();
    }
    writer->room = (room + 2 + 7) / 8 * 8; // Braces; data begin at a multiple of 8.
    text_init(&writer->header);
    const tapml_status status = begin(writer, path);
    if (status != TAPML_OK) {
        safetensors_writer_drop(writer);
        return status;
    }
    *out_writer = writer;
    return TAPML_OK;
}

tapml_status safetensors_writer_add(struct safetensors_writer *writer,
                                    const struct safetensors_writer_tensor *tensor)
{
    struct text *header = &writer->header;
    ASSERT(tensor->rank <= TAPML_MAX_RANK);
    text_append(header, header->length > 0 ? "," : "{");
    text_append_json(header, tensor->name);
    text_format(header, ":{\"dtype\":\"%s\",\"shape\":[", tensor->type);
    for (uint32_t i = 0; i < tensor->rank; ++i) {
        text_format(header, "%s%" PRId64, i > 0 ? "," : "", tensor->shape[i]);
    }
    text_format(header, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", writer->data_bytes,
                writer->data_bytes + tensor->bytes);
    TAPML_TRY(text_status(header));
    writer->data_bytes += tensor->bytes;
    return tensor->bytes > 0 ? write_bytes(writer, tensor->data, tensor->bytes) : TAPML_OK;
}

static tapml_status write_header(struct safetensors_writer *writer)
{
    unsigned char prefix[PREFIX];
    struct text *header = &writer->header;
    text_append(header, header->length > 0 ? "}" : "{}");
    while (header->length < writer->room && !header->failed) {
        text_append(header, " ");
    }
    TAPML_TRY(text_status(header));
    ASSERT(header->length == writer->room); // Whoever opened it has counted the names.
    for (unsigned i = 0; i < PREFIX; ++i) {
        prefix[i] = (unsigned char)(writer->room >> (8 * i));
    }
    if (fseek(writer->file, 0, SEEK_SET) != 0) {
        return failed(writer);
    }
    TAPML_TRY(write_bytes(writer, prefix, PREFIX));
    return write_bytes(writer, header->data, header->length);
}

tapml_status safetensors_writer_end(struct safetensors_writer *writer, uint64_t *out_bytes)
{
    tapml_status status = write_header(writer);
    if (status == TAPML_OK) {
        FILE *file = writer->file;
        writer->file = NULL;
        status = fclose(file) == 0 ? file_move(writer->beside, writer->path) : failed(writer);
    }
    if (status == TAPML_OK) {
        *out_bytes = PREFIX + writer->room + writer->data_bytes;
        alloc_free(writer->beside);
        writer->beside = NULL;
    }
    safetensors_writer_drop(writer);
    return status;
}

void safetensors_writer_drop(struct safetensors_writer *writer)
{
    if (!writer) {
        return;
    }
    if (writer->file) {
        (void)fclose(writer->file);
    }
    if (writer->beside) {
        (void)remove(writer->beside);
    }
    text_release(&writer->header);
    alloc_free(writer->path);
    alloc_free(writer->beside);
    alloc_free(writer);
}
