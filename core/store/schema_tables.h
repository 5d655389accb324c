// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The statements that make the tables of a store of this version. What they mean says
// docs/store.md.
#pragma once

#include <stddef.h>

// A table with the statements that make it.
struct schema_table {
    const char *name;    // In SQL: with quotes where it is a word of SQL.
    const char *table;   // One statement, which begins "CREATE TABLE ".
    const char *indices; // Statements, or NULL.
};

// The tables, each behind those that it refers to; NULL past the last. [any]
const struct schema_table *schema_tables_at(size_t index);
