// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// libtapml-carve as another program uses it: by its header alone. What it wrote is read by SQLite.
#include "harness/scratch.h"

#include <pthread.h>
#include <sqlite3.h>
#include <tapml-carve.h>

static struct scratch scratch;
static char path[2 * SCRATCH_PATH];
static tapml_carve_store *store;

static void begin(void)
{
    scratch_make(&scratch);
    (void)snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "x.tapmlrun"));
    cr_assert_eq(tapml_carve_open(path, "a model", &store), 0, "%s", tapml_carve_error(NULL));
}

static void end(void)
{
    tapml_carve_close(store);
    scratch_remove(&scratch);
}

TestSuite(tapml_carve, .init = begin, .fini = end);

#define MUST(call_) cr_assert_eq((call_), 0, "%s", tapml_carve_error(store))

static void refused(int32_t status, const char *sentence)
{
    cr_assert_neq(status, 0);
    cr_assert_not_null(strstr(tapml_carve_error(store), sentence), "'%s' lacks '%s'",
                       tapml_carve_error(store), sentence);
}

// The one number or text that a query gives, as text.
static const char *query(const char *sql)
{
    static char text[512];
    sqlite3 *connection = NULL;
    sqlite3_stmt *statement = NULL;

    cr_assert_eq(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), SQLITE_OK, "%s: %s",
                 sql, sqlite3_errmsg(connection));
    const int has = sqlite3_step(statement) == SQLITE_ROW;
    const char *found = has ? (const char *)sqlite3_column_text(statement, 0) : NULL;

    (void)snprintf(text, sizeof(text), "%s", found != NULL ? found : "nothing");
    sqlite3_finalize(statement);
    sqlite3_close(connection);
    return text;
}

static const int64_t shape[] = {2, 2};
static const float x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8}, z[] = {9, 10, 11, 12};

static tapml_carve_call *begin_silu(const char *instance, const float *in, const float *out)
{
    tapml_carve_call *call = NULL;

    MUST(tapml_carve_begin(store, "tapml.silu", 1, instance, "a prompt", 0, 0, &call));
    MUST(tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f32", 2, shape, NULL, in));
    MUST(tapml_carve_argument(call, 1, TAPML_CARVE_AFTER, "f32", 2, shape, NULL, out));
    return call;
}

Test(tapml_carve, a_step_is_there_whole_after_its_commit_and_knows_who_computed_what)
{
    tapml_carve_call *call = begin_silu("a/one", x, y);

    MUST(tapml_carve_line(call, "model.py:31"));
    MUST(tapml_carve_end(call, 77));
    MUST(tapml_carve_end(begin_silu("a/two", y, z), 0));
    cr_assert_str_eq(query("SELECT count(*) FROM \"case\""), "0", "before the commit");
    MUST(tapml_carve_commit(store));
    cr_assert_str_eq(query("SELECT count(*) FROM \"case\""), "2");
    cr_assert_str_eq(query("SELECT origin FROM argument JOIN \"case\" ON id = case_id"
                           " WHERE instance = 'a/two' AND param = 'x'"),
                     "a/one");
    cr_assert_str_eq(query("SELECT time_ns FROM call WHERE instance = 'a/one'"), "77");
    cr_assert_str_eq(query("SELECT text FROM prompt"), "a prompt");
    cr_assert_str_eq(query("SELECT value FROM metadata WHERE name = 'source.line.a/one'"),
                     "model.py:31");
}

Test(tapml_carve, what_is_not_committed_is_gone)
{
    MUST(tapml_carve_end(begin_silu("a/one", x, y), 0));
    MUST(tapml_carve_commit(store));
    MUST(tapml_carve_end(begin_silu("a/two", x, y), 0));
    tapml_carve_close(store);
    store = NULL;
    cr_assert_str_eq(query("SELECT count(*) FROM call"), "1");
}

Test(tapml_carve, a_call_that_does_not_fit_leaves_its_step_as_it_is)
{
    tapml_carve_call *call = NULL;

    MUST(tapml_carve_end(begin_silu("a/one", x, y), 0));
    MUST(tapml_carve_begin(store, "tapml.silu", 1, "a/two", "a prompt", 0, 0, &call));
    MUST(tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f32", 2, shape, NULL, x));
    refused(tapml_carve_end(call, 0), "'a/two' (tapml.silu): parameter 'y'");
    MUST(tapml_carve_commit(store));
    cr_assert_str_eq(query("SELECT group_concat(instance) FROM call"), "a/one");
}

Test(tapml_carve, only_what_adds_something_is_kept)
{
    static const float larger[] = {50, 60, 70, 80};
    tapml_carve_call *call = NULL;

    for (int64_t step = 0; step < 3; step++) {
        MUST(tapml_carve_begin(store, "tapml.silu", 1, "a", "a prompt", 1 + step, 0, &call));
        MUST(tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f32", 2, shape, NULL, x));
        MUST(tapml_carve_argument(call, 1, TAPML_CARVE_AFTER, "f32", 2, shape, NULL,
                                  step < 2 ? y : larger));
        MUST(tapml_carve_end(call, 0));
        MUST(tapml_carve_commit(store));
    }
    cr_assert_str_eq(query("SELECT group_concat(step) FROM call"), "1,2,3");
    cr_assert_str_eq(query("SELECT group_concat(step) FROM \"case\""), "1,3");
    cr_assert_str_eq(query("SELECT DISTINCT phase FROM call"), "decode");
}

static void end_norm(const char *instance, const float *weight)
{
    tapml_carve_call *call = NULL;
    uint32_t position = 9;

    MUST(tapml_carve_begin(store, "tapml.rms_norm", 1, instance, "p", 0, 0, &call));
    MUST(tapml_carve_position(store, "tapml.rms_norm", 1, "weight", &position));
    cr_assert_eq(position, 1u);
    MUST(tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f32", 2, shape, NULL, x));
    MUST(tapml_carve_weight(call, position, "norm.weight", "f32", 1, shape, NULL, weight));
    MUST(tapml_carve_real(call, 2, 1e-5));
    MUST(tapml_carve_integer(call, 3, 0));
    MUST(tapml_carve_argument(call, 4, TAPML_CARVE_AFTER, "f32", 2, shape, NULL, y));
    MUST(tapml_carve_end(call, 0));
}

Test(tapml_carve, a_weight_is_kept_once_or_left_in_its_checkpoint)
{
    end_norm("a", x);
    end_norm("b", x);
    MUST(tapml_carve_commit(store));
    cr_assert_str_eq(query("SELECT count(*) FROM weight"), "1");
    cr_assert_str_eq(query("SELECT count(*) FROM tensor JOIN weight USING (key)"), "1");
    tapml_carve_close(store);
    (void)snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "elsewhere.tapmlrun"));
    MUST(tapml_carve_open(path, "a model", &store));
    MUST(tapml_carve_weights_in(store, "/where/it/is"));
    end_norm("a", x);
    MUST(tapml_carve_commit(store));
    cr_assert_str_eq(query("SELECT count(*) FROM tensor JOIN weight USING (key)"), "0");
    cr_assert_str_eq(query("SELECT value FROM metadata WHERE name = 'model.path'"), "/where/it/is");
}

Test(tapml_carve, a_store_is_of_one_model)
{
    tapml_carve_store *other = NULL;

    refused(tapml_carve_open(path, "another", &other), "holds cases of model 'a model'");
    cr_assert_null(other);
    refused(tapml_carve_open("/nowhere/x.tapmlrun", "a", &other), "/nowhere/x.tapmlrun");
    refused(tapml_carve_open(NULL, "a", &other), "a path");
    refused(tapml_carve_open(scratch_source("README.md"), "a", &other), "README.md");
}

Test(tapml_carve, what_cannot_be_is_refused)
{
    tapml_carve_call *call = NULL;
    uint32_t position = 0;

    refused(tapml_carve_begin(store, "tapml.nothing", 1, "a", "p", 0, 0, &call),
            "no operator 'tapml.nothing' of version 1");
    refused(tapml_carve_begin(store, "tapml.silu", 1, "a b", "p", 0, 0, &call), "'a b' cannot be");
    refused(tapml_carve_begin(store, "tapml.silu", 1, "a", "p", -1, 0, &call), "a step");
    refused(tapml_carve_position(store, "tapml.silu", 1, "z", &position), "no parameter 'z'");
    refused(tapml_carve_describe(store, "colour", "red"), "'colour' is no key");
    MUST(tapml_carve_describe(store, "device", "a device"));
    MUST(tapml_carve_begin(store, "tapml.silu", 1, "a", "p", 0, 0, &call));
    refused(tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f31", 2, shape, NULL, x),
            "found type 'f31'");
    refused(tapml_carve_argument(call, 0, 7, "f32", 2, shape, NULL, x), "moment 7");
    refused(tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f32", 99, shape, NULL, x),
            "99 axes");
    refused(tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f32", 2, shape, NULL, NULL),
            "no data");
    refused(tapml_carve_weight(call, 0, "", "f32", 2, shape, NULL, x), "has a name");
    tapml_carve_drop(call);
    tapml_carve_drop(NULL);
    tapml_carve_close(NULL);
}

Test(tapml_carve, an_opaque_operator_is_never_taken_for_another)
{
    tapml_carve_call *call = NULL;

    MUST(tapml_carve_begin(store, "tapml.silu", 0, "a", "p", 0, 0, &call));
    MUST(tapml_carve_argument(call, 0, TAPML_CARVE_AFTER, "f32", 2, shape, NULL, x));
    MUST(tapml_carve_end(call, 0));
    MUST(tapml_carve_commit(store));
    cr_assert_str_eq(query("SELECT op FROM \"case\""), "opaque.tapml.silu");
}

enum { THREADS = 4, CALLS = 50 };

static void *carve_many(void *user)
{
    for (int i = 0; i < CALLS; i++) {
        char instance[32];

        (void)snprintf(instance, sizeof(instance), "t%d/%d", *(int *)user, i);
        MUST(tapml_carve_end(begin_silu(instance, x, y), 0));
    }
    return NULL;
}

Test(tapml_carve, threads_carve_calls_of_their_own)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        cr_assert_eq(pthread_create(&threads[i], NULL, carve_many, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    MUST(tapml_carve_commit(store));
    cr_assert_str_eq(query("SELECT count(*) FROM \"case\""), "200");
}
