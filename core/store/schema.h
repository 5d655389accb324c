// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tables of a store, as docs/store.md describes them.
#pragma once

#include <sqlite3.h>

// "TapM": what `file` and the `sqlite3` shell find in the header.
enum { SCHEMA_APPLICATION_ID = 0x5461704d };

// The statements that make the tables in an empty file.
const char *schema_text(void);

// Whether a file has these tables and nothing else: no view, trigger, index, computed column or
// table of another make, all of which would run a stranger's code inside our statements. What
// SQLite itself adds for its own use is let pass. Returns SQLITE_OK, or what SQLite says.
int schema_compare(sqlite3 *connection, int *out_is_same);
