// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A new store for each test, in a folder of its own, and what tests ask its tables.
#pragma once

#include "base/arena.h"
#include "harness/scratch.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#include <criterion/criterion.h>
#include <stdint.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct arena *arena;
static char path[2 * SCRATCH_PATH]; // Of the store.

static inline void make_store(void)
{
    scratch_make(&scratch);
    (void)snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a.tapmlrun"));
    MUST(store_open(path, 1, &store));
    arena = arena_create();
    cr_assert_not_null(arena);
}

static inline void remove_store(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

static inline void reopen(void)
{
    store_close(store);
    store = NULL;
    MUST(store_open(path, 0, &store));
}

static inline void execute(const char *sql)
{
    char *message = NULL;
    const int code = sqlite3_exec(store_connection(store), sql, NULL, NULL, &message);
    cr_assert_eq(code, SQLITE_OK, "%s: %s", sql, message);
}

static inline int64_t number_of(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK,
                 "%s: %s", sql, sqlite3_errmsg(store_connection(store)));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return number;
}

// Adds a case and returns its id.
static inline int64_t add(const struct carved_case *item)
{
    MUST(stored_case_add(store, item));
    return number_of("SELECT max(id) FROM \"case\"");
}
