// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tables of a store, as docs/store.md describes them.
#pragma once

#include "store/schema_tables.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

// "TapM": what `file` and the `sqlite3` shell find in the header.
enum { SCHEMA_APPLICATION_ID = 0x5461704d };

// The table of that name in this version, or NULL.
const struct schema_table *schema_find(const char *name);

// The tables that a store of `version` lacks since they were added later, and begin empty: by
// index, NULL past the last.
const char *schema_added(int64_t version, size_t index);

// The statement that makes the view `judged`, which no module reads: it is for a person at a shell.
const char *schema_view(void);

// Makes all tables of a version behind OLD_TABLES_LAST, and the view, in an empty file. Returns
// SQLITE_OK, or what SQLite says.
int schema_make(sqlite3 *connection, int64_t version);

// Compares the tables of a file with those of a version that can be read, up to STORE_VERSION. They
// differ if there is a view, trigger, index, computed column or table of another make, all of which
// would run a stranger's code inside the statements of the host. What SQLite adds for its own use
// counts for nothing. Returns SQLITE_OK, or what SQLite says.
int schema_compare(sqlite3 *connection, int64_t version, int *out_is_same);
