// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Rows in memory (store/query_rows.h) as a table of SQLite, that is a virtual one: they stay where
// they are, and no value is copied before an answer needs it.
//
// The first column of a view says by convention which run a row is of, and all rows that are added
// at once are mostly of one. A condition that it is equal to something passes over the others.
//
// SQLite makes no index of its own over virtual tables. So a condition that columns are equal to
// those of another table, as a join has it, is met by a hash table over these columns
// (store/query_lists.h), of one run where the run is known, which is made when it is asked for the
// first time. SQLite compares again what is found, so that it may be too much and never too little.
//
// A table belongs to one thread, that of its connection.
#pragma once

#include "base/status.h"
#include "store/query_rows.h"

struct query_table;
struct sqlite3;

// Makes a table with the name and columns of a view, which has no rows yet. `view` and `budget`
// outlive it. The caller destroys it behind the connection. TAPML_NO_MEMORY.
tapml_status query_table_create(struct sqlite3 *connection,
                                const struct query_view *view,
                                struct query_rows_budget *budget,
                                struct query_table **out_table) STATUS_USED;
void query_table_destroy(struct query_table *table); // NULL is allowed.

// Adds rows behind those that there are, and takes them over, also where it fails. No statement
// reads the table at the same time.
tapml_status query_table_add(struct query_table *table, struct query_rows *rows) STATUS_USED;
