// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The handle of a store: one SQLite file (`run.tapmlrun`) with cases, tensors by content, calls,
// results and the steps of the offload. docs/store.md is its schema; the `sqlite3` shell reads it.
//
// A handle is one connection, opened by store/store_open.h; each table has a module of its own.
// A handle and what comes from it belong to one thread at a time. WAL lets a reader work beside a
// writer. A function that fails leaves the handle usable.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <sqlite3.h>

enum { STORE_VERSION = 11 };

struct store;

// Closes the connection: what was not committed is gone. NULL is allowed.
void store_close(struct store *store);

// The path that the store was opened by. Lives as long as the handle.
const char *store_path(const struct store *store);

// A transaction: what is not committed is as if it had never been written. TAPML_UNAVAILABLE if
// another process writes for longer than 10 s, or if the disk is full. Committing fails, as
// `mapping_check` does, after a mapped file was cut: its zeros are not to be kept.
tapml_status store_begin(struct store *store) STATUS_USED;
tapml_status store_commit(struct store *store) STATUS_USED;

// Whether a transaction is open.
int store_is_in_transaction(const struct store *store);

// All that is read until `store_rollback` is as it was at one moment.
tapml_status store_begin_to_read(struct store *store) STATUS_USED;

// Ends a transaction without its changes. Without a transaction it does nothing.
void store_rollback(struct store *store);

// -- For modules of this layer alone
// ---------------------------------------------------------------

struct pages_replacement;

struct store_connect_options {
    int flags; // SQLITE_OPEN_...
    const char
        *uri; // Opened instead of the path, with SQLITE_OPEN_URI among the flags; NULL: none.
    const struct pages_replacement *replacement; // Of damaged pages; NULL: none.
};

// Opens a connection to `path`. Its tables are not looked at.
tapml_status store_connect(const char *path,
                           const struct store_connect_options *options,
                           struct store **out_store) STATUS_USED;

// The connection. Lives as long as the handle.
sqlite3 *store_connection(struct store *store);

// Whether each page of the file has a checksum.
int store_has_sums(const struct store *store);

// Executes statements without results. `doing` is for messages: "writing a step".
tapml_status store_execute(struct store *store, const char *sql, const char *doing) STATUS_USED;

// Prepares a statement at its first use and keeps it, found by its text. The statement is reset and
// its bindings cleared. It belongs to the handle.
tapml_status
store_statement(struct store *store, const char *sql, sqlite3_stmt **out_statement) STATUS_USED;

// Reports `code` of SQLite with the path and `doing`: a full disk, a damaged page, a lock of
// another process and a lack of memory have messages of their own.
tapml_status store_fail(struct store *store, int code, const char *doing);

// Reports that the file is damaged, with the page if it is known.
tapml_status store_fail_damaged(const struct store *store, const char *doing);

// What modules of tables remember between calls. It lives as long as the handle.
struct store_memory {
    // Rows that this connection has written; `store_rollback` forgets them.
    char run[HASH_TEXT]; // The id in table `run`, or "".
    struct hash prompt;  // Has a row in table `prompt`,
    int has_prompt;      // if there is one.

    char *metadata;                 // The last answer of `metadata_get`.
    struct ZSTD_CCtx_s *compressor; // Of contents, made for the first one; or NULL.
};
struct store_memory *store_memory(struct store *store);
