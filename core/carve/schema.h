// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tables of a store, as docs/store.md describes them.
#pragma once

// "TapM": what `file` and the `sqlite3` shell find in the header.
enum { SCHEMA_APPLICATION_ID = 0x5461704d };

// The statements that make the tables in an empty file.
const char *schema_text(void);
