// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/page_cache.h"

#include <stdio.h>

enum { KIB = 1024, SQL_TEXT = 64 };

tapml_status page_cache_keep(struct store *store, uint64_t bytes)
{
    char sql[SQL_TEXT];
    if (bytes == 0) {
        return TAPML_OK;
    }
    (void)snprintf(sql, sizeof(sql), "PRAGMA cache_size = -%llu", (unsigned long long)bytes / KIB);
    return store_execute(store, sql, "setting what it keeps");
}

static uint64_t ask(struct store *store, const char *pragma)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_int64 value = 0;
    if (sqlite3_prepare_v2(store_connection(store), pragma, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        value = sqlite3_column_int64(statement, 0);
    }
    (void)sqlite3_finalize(statement); // Its failure is that of the step.
    return value > 0 ? (uint64_t)value : 0;
}

uint64_t page_cache_all(struct store *store)
{
    return ask(store, "PRAGMA page_count") * ask(store, "PRAGMA page_size");
}
