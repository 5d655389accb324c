// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The files of a store as SQLite sees them: every page of the database ends with a checksum.
//
// SQLite itself notices pages that make no sense, and not a number that has become another one. So
// this puts a layer between it and the system's files (a VFS in its words): a page that is written
// to the database gets the XXH3 of its bytes and its number in its last 8 bytes, which SQLite
// leaves alone (`reserved space` in its file format, so that any sqlite3 reads the file), and a
// page that is read is compared. Frames of the log have SQLite's own checksums. A database without
// the reserved bytes is read as it is.
//
// It also gathers what goes to the log (store/log_buffer), and keeps what the system said of a
// failed write, which SQLite forgets.
#pragma once

#include "base/status.h"

#include <sqlite3.h>
#include <stdint.h>

enum { PAGES_SUM_BYTES = 8, PAGES_HEADER_BYTES = 100 };

struct pages;

// Links are not followed where the last part of a name is one, and a connection that only reads
// makes no file beside the database. One connection after the other may use it. The caller destroys
// it, after the last of them was closed.
tapml_status pages_create(struct pages **out_pages) STATUS_USED;
void pages_destroy(struct pages *pages);

// The name to open a connection with.
const char *pages_vfs(const struct pages *pages);

// Pages that are read from memory instead of a database that has lost them: of pages 1 to `count`
// in `bytes` (borrowed) those whose bit is set in `mask`. Page 1 must be one of them; the file then
// seems to have as many pages as it says. For connections that only read.
enum { PAGES_REPLACED_MAX = 64 };
struct pages_replacement {
    const unsigned char *bytes;
    int page_bytes;
    int count;
    uint64_t mask; // Bit 0 is page 1.
};
void pages_replace(struct pages *pages, const struct pages_replacement *replacement);

// What a look at all pages of a file finds.
struct pages_health {
    int64_t count; // Of pages that are or should be there.
    int page_bytes;
    int64_t right;                            // With a right checksum.
    int64_t bad;                              // Without, or cut off.
    int64_t first[8];                         // Of the bad ones.
    int64_t empty;                            // All zeros: never written, or lost.
    uint64_t mask;                            // Of the first 64: those that are bad or empty.
    int is_header_whole;                      // Page 1 is.
    unsigned char header[PAGES_HEADER_BYTES]; // Zeros where there is none.
};

// Compares the checksums of a file that no process writes, and that has no log beside it. If its
// header is lost, the size of its pages is the one by which a checksum is right.
tapml_status pages_check(const char *path, struct pages_health *out_health) STATUS_USED;

// Makes a database that is still empty have checksums.
tapml_status pages_add_sums(sqlite3 *connection) STATUS_USED;

// Whether the database that was opened last has checksums.
int pages_have_sums(const struct pages *pages);

// The first page that was found damaged, from 1; 0: none.
int64_t pages_damaged(const struct pages *pages);

// The errno of the last write that failed, or 0.
int pages_write_error(const struct pages *pages);
