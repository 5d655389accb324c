// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/log_buffer.h"

#include "base/alloc.h"

#include <string.h>

// Of the header of a frame, in SQLite's file format: the size of the database in pages, in 4 bytes,
// if the frame commits, else 0.
enum { SIZE_AT = 4, SIZE_BYTES = 4 };

void log_buffer_drop(struct log_buffer *buffer)
{
    buffer->count = 0;
}

void log_buffer_release(struct log_buffer *buffer)
{
    alloc_free(buffer->bytes);
    *buffer = (struct log_buffer){.bytes = NULL};
}

int log_buffer_flush(struct log_buffer *buffer, sqlite3_file *file)
{
    const int count = buffer->count;
    const sqlite3_int64 at = buffer->at;
    buffer->count = 0;
    buffer->at += count;
    return count > 0 ? file->pMethods->xWrite(file, buffer->bytes, count, at) : SQLITE_OK;
}

// Whether bytes may be gathered: they follow what was written last. SQLite also changes what is in
// the log already, and nothing tells that such a change was the last one.
static int is_next(const struct log_buffer *buffer, int size, sqlite3_int64 at)
{
    return buffer->bytes && at == buffer->at + buffer->count && size <= LOG_BUFFER_BYTES;
}

static int write_through(
    struct log_buffer *buffer, sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
    const int code = log_buffer_flush(buffer, file);
    buffer->at = at + size;
    return code == SQLITE_OK ? file->pMethods->xWrite(file, data, size, at) : code;
}

static int append(struct log_buffer *buffer, sqlite3_file *file, const void *data, int size)
{
    const int fits = size <= LOG_BUFFER_BYTES - buffer->count;
    const int code = fits ? SQLITE_OK : log_buffer_flush(buffer, file);
    if (code == SQLITE_OK) {
        memcpy(buffer->bytes + buffer->count, data, (size_t)size);
        buffer->count += size;
    }
    return code;
}

static int commits(const unsigned char *header)
{
    static const unsigned char none[SIZE_BYTES];
    return memcmp(header + SIZE_AT, none, SIZE_BYTES) != 0;
}

int log_buffer_write(
    struct log_buffer *buffer, sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
    if (!buffer->bytes) {
        buffer->bytes = alloc_new(LOG_BUFFER_BYTES); // Without it all is written through.
    }
    const int code = is_next(buffer, size, at) ? append(buffer, file, data, size)
                                               : write_through(buffer, file, data, size, at);
    if (size == LOG_BUFFER_FRAME_BYTES) { // Nothing else in a log has this size.
        buffer->is_committing = commits(data);
        return code;
    }
    return code == SQLITE_OK && buffer->is_committing ? log_buffer_flush(buffer, file) : code;
}
