// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/cases.h"
#include "harness/scratch.h"
#include "store/case.h"
#include "store/case_key.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/weight.h"

static struct scratch scratch;
static struct store *store;
static struct cases_silu silu;

static void begin(void)
{
    scratch_make(&scratch);
    cr_assert_eq(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store), TAPML_OK);
    cases_make_silu(&silu, "layers.0/silu", 4);
}

static void end(void)
{
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(case_key, .init = begin, .fini = end);

static int64_t number_of(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

// How many different keys the cases have.
static int64_t keys(void)
{
    return number_of("SELECT count(DISTINCT key) FROM \"case\"");
}

static void add(void)
{
    cr_assert_eq(stored_case_add(store, &silu.item), TAPML_OK, "%s", status_message());
}

Test(case_key, labels_do_not_count)
{
    add();
    cr_assert_eq(number_of("SELECT length(key) FROM \"case\""), CASE_KEY_BYTES);
    silu.item.instance = "layers.1/silu";
    add();
    silu.item.step = 3;
    silu.item.phase = "decode";
    silu.item.tokens = 9;
    add();
    silu.item.prompt.low++;
    silu.item.shape_class = "another";
    silu.item.arguments[0].origin = "another";
    add();
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 4);
    cr_assert_eq(keys(), 1);
}

Test(case_key, what_goes_in_and_comes_out_counts)
{
    add();
    silu.item.part++;
    silu.x[2] += 1;
    add();
    cr_expect_eq(keys(), 2);
    silu.item.part++;
    silu.y[0] += 1;
    add();
    cr_expect_eq(keys(), 3);
    silu.item.part++;
    silu.item.op_version++;
    add();
    cr_expect_eq(keys(), 4);
    silu.item.part++;
    silu.item.op_name = "tapml.tanh";
    add();
    cr_expect_eq(keys(), 5);
}

// Every column of an argument that says what it is, but for the name of its base value.
Test(case_key, each_column_of_an_argument_counts)
{
    static const char *const changes[] = {
        "param = 'z'",      "kind = 'inout'",  "effects = 'weight'", "i = 4",
        "d = 0.5",          "dtype = 'f16'",   "shape = '[2,2]'",    "stride = '[2]'",
        "offset_bytes = 8", "base_bytes = 99", "region_begin = 1",   "region_end = 2",
        "kept_begin = 1",   "kept_end = 2",    "before = NULL",      "after = before",
    };
    add();
    const int64_t id = number_of("SELECT id FROM \"case\"");
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        char sql[200];
        snprintf(sql, sizeof(sql),
                 "SAVEPOINT s; CREATE TEMP TABLE old AS SELECT key FROM \"case\";"
                 "UPDATE argument SET %s WHERE position = 0",
                 changes[i]);
        cr_assert_eq(sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), SQLITE_OK);
        cr_assert_eq(case_key_write(store, id), TAPML_OK, "%s", status_message());
        cr_expect_eq(number_of("SELECT count(*) FROM \"case\" JOIN old USING (key)"), 0, "%s",
                     changes[i]);
        cr_assert_eq(
            sqlite3_exec(store_connection(store), "ROLLBACK TO s; RELEASE s", NULL, NULL, NULL),
            SQLITE_OK);
    }
}

// A weight counts by its bytes, under whatever name the checkpoint has them.
Test(case_key, a_weight_counts_by_its_key)
{
    static const float one[10] = {1, 2, 3, 4};
    static const float other[10] = {1, 2, 3, 5};
    struct case_argument *weight = &silu.item.arguments[0];
    weight->effects = TAPML_E_WEIGHT;
    weight->before = NULL;
    weight->content_bytes = weight->base_bytes;
    cr_assert_eq(weight_add(store, "a", TAPML_F32, one, sizeof(one)), TAPML_OK);
    cr_assert_eq(weight_add(store, "b", TAPML_F32, one, sizeof(one)), TAPML_OK);
    cr_assert_eq(weight_add(store, "c", TAPML_F32, other, sizeof(other)), TAPML_OK);
    weight->origin = "a";
    add();
    silu.item.part++;
    weight->origin = "b";
    add();
    cr_expect_eq(keys(), 1);
    silu.item.part++;
    weight->origin = "c";
    add();
    cr_expect_eq(keys(), 2);
}
