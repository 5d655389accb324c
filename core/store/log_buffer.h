// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a connection writes to the log of its database, gathered into large writes: SQLite writes
// each page by two calls of the system, which take three times as long as one for several pages.
//
// What is gathered belongs to a transaction that is not committed. The frame that commits it (in
// SQLite's file format the one that names the size of the database) is written with all before it,
// by the call that brings it, which returns the failure. So whatever another connection or the next
// process may read is in the file.
//
// Other connections write to the log too, one at a time, so a transaction that ends otherwise has
// to drop what it has gathered before it gives up its lock.
//
// One thread. Codes are those of SQLite.
#pragma once

#include <sqlite3.h>

enum {
    LOG_BUFFER_BYTES = 0x1ffff, // SQLite writes no more in one call.
    LOG_BUFFER_FRAME_BYTES = 24 // Of the header of a frame.
};

// All zeros is an empty buffer.
struct log_buffer {
    unsigned char *bytes; // NULL before the first write.
    int count;
    sqlite3_int64 at;  // Of the first byte in the file.
    int is_committing; // The frame whose header was written last commits.
};

// Drops what is in the buffer: nothing of it is committed.
void log_buffer_drop(struct log_buffer *buffer);

// The same, and frees the memory.
void log_buffer_release(struct log_buffer *buffer);

// Writes to `file`, the log, now or later.
int log_buffer_write(
    struct log_buffer *buffer, sqlite3_file *file, const void *data, int size, sqlite3_int64 at);

// Writes what is in the buffer, which is empty then, also after a failure: that one is told to the
// transaction, which ends. Called before all else that is done with the file.
int log_buffer_flush(struct log_buffer *buffer, sqlite3_file *file);
