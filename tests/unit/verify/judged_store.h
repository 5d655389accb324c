// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store with cases of three ops, and a device of the reference that judges them.
#pragma once

#include "harness/cases.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "store/case.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "verify/verdicts.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static char path[2 * SCRATCH_PATH];
static struct plugin_fixture plugins;
static struct store *store;
static struct backend *exact;

static inline void judged_store_begin(void)
{
    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a.tapmlrun"));
    MUST(store_open(path, 1, &store));
    plugin_fixture_open(&plugins);
    exact = plugin_fixture_backend(&plugins, "reference:f64");
}

static inline void judged_store_end(void)
{
    backend_release(exact);
    plugin_fixture_close(&plugins);
    store_close(store);
    scratch_remove(&scratch);
}

static inline struct verdict_options options_for(struct backend *target)
{
    return (struct verdict_options){
        .registry = plugins.registry, .store = store, .target = "gpu", .backend = target};
}

static inline struct verdict_list judge(const struct verdict_options *options)
{
    struct verdict_list list;
    MUST(verdicts_make(options, &list));
    return list;
}

static inline int64_t number_of(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static inline void add_silu(const char *instance, int64_t step, float error)
{
    struct cases_silu made;
    cases_make_silu(&made, instance, step);
    made.y[4] += error;
    MUST(stored_case_add(store, &made.item));
}

static inline void add_norm(const char *instance, int64_t step, float error)
{
    struct cases_norm made;
    cases_make_norm(&made, instance, step);
    made.arguments[1].before = made.weight;
    made.y[5] += error;
    MUST(stored_case_add(store, &made.item));
}

static inline void add_append(const char *instance, int64_t step, float error)
{
    struct cases_append made;
    cases_make_append(&made, instance, step);
    made.after[16 * CASES_HEADS * CASES_HEAD + 5] += error;
    MUST(stored_case_add(store, &made.item));
}

static inline void execute(const char *sql)
{
    cr_assert_eq(sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), SQLITE_OK, "%s: %s",
                 sql, sqlite3_errmsg(store_connection(store)));
}
