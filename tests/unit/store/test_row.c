// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/metadata.h"
#include "store/row.h"
#include "store/store.h"
#include "store/store_open.h"

#include <math.h>

static struct scratch scratch;
static struct store *store;

static void begin(void)
{
    scratch_make(&scratch);
    cr_assert_eq(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store), TAPML_OK);
}

static void end(void)
{
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(row, .init = begin, .fini = end);

Test(row, values_come_back_as_they_went)
{
    const struct hash hash = {.high = 0x0102030405060708, .low = 0xf1f2f3f4f5f6f7f8};
    struct hash hash_again = {0, 0};
    struct row row;
    int has = 0;
    uint64_t bytes = 9;
    cr_assert_eq(row_begin(store, "SELECT ?, ?, ?, ?, hex(?), ?, ?", "testing", &row), TAPML_OK);
    row_put_text(&row, "wörd");
    row_put_i64(&row, INT64_MIN);
    row_put_f64(&row, 0.1);
    row_put_bytes(&row, NULL, 0);
    row_put_hash(&row, hash);
    row_put_hash(&row, hash);
    row_put_null(&row);
    cr_assert_eq(row_next(&row, &has), TAPML_OK);
    cr_assert(has);
    cr_assert_str_eq(row_text(&row, 0), "wörd");
    cr_assert_eq(row_i64(&row, 1), INT64_MIN);
    cr_assert_eq(row_f64(&row, 2), 0.1);
    (void)row_bytes(&row, 3, &bytes);
    cr_assert_eq(bytes, 0);
    cr_assert_not(row_is_null(&row, 3));
    cr_assert_str_eq(row_text(&row, 4), "0102030405060708F1F2F3F4F5F6F7F8");
    cr_assert(row_hash(&row, 5, &hash_again));
    cr_assert(hash_equal(hash, hash_again));
    cr_assert(row_is_null(&row, 6));
    cr_assert_not(row_hash(&row, 0, &hash_again), "a word is no hash");
    cr_assert_eq(row_next(&row, &has), TAPML_OK);
    cr_assert_not(has);
}

Test(row, nan_is_null_and_back)
{
    struct row row;
    int has = 0;
    cr_assert_eq(row_begin(store, "SELECT ?, ?", "testing", &row), TAPML_OK);
    row_put_f64(&row, NAN);
    row_put_f64(&row, INFINITY);
    cr_assert_eq(row_next(&row, &has), TAPML_OK);
    cr_assert(row_is_null(&row, 0));
    cr_assert(isnan(row_f64(&row, 0)));
    cr_assert(isinf(row_f64(&row, 1)));
    cr_assert_str_eq(row_text(&row, 0), "");
    row_end(&row);
}

Test(row, failure_says_what_was_done)
{
    struct row row;
    cr_assert_eq(row_begin(store, "INSERT INTO metadata VALUES (?, ?)", "writing metadata", &row),
                 TAPML_OK);
    row_put_text(&row, "name");
    row_put_null(&row);
    cr_assert_neq(row_run(&row), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "writing metadata"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "a.tapmlrun"), "%s", status_message());
}

Test(row, too_many_values_fail)
{
    struct row row;
    cr_assert_eq(row_begin(store, "SELECT 1 WHERE 1 = ?", "testing", &row), TAPML_OK);
    row_put_i64(&row, 1);
    row_put_i64(&row, 1);
    cr_assert_neq(row_run(&row), TAPML_OK);
}

Test(row, statement_is_reused)
{
    for (int i = 0; i < 100; i++) {
        struct row row;
        cr_assert_eq(row_begin(store,
                               "INSERT INTO metadata VALUES (?, 'x')"
                               " ON CONFLICT (name) DO NOTHING",
                               "testing", &row),
                     TAPML_OK);
        row_put_text(&row, i % 2 ? "a" : "b");
        cr_assert_eq(row_run(&row), TAPML_OK);
    }
    cr_assert_str_eq(metadata_get(store, "a"), "x");
}

Test(row, unknown_table_is_named)
{
    struct row row;
    cr_assert_neq(row_begin(store, "SELECT 1 FROM nowhere", "testing", &row), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "nowhere"), "%s", status_message());
}

Test(row, a_text_is_kept_once)
{
    struct arena *arena = arena_create();
    struct row row;
    int has = 0;
    cr_assert_eq(
        row_begin(store, "SELECT 'abc', 'ab', NULL, 'a' || char(0) || 'b', 12", "testing", &row),
        TAPML_OK);
    cr_assert_eq(row_next(&row, &has), TAPML_OK);
    const char *first = row_keep(&row, 0, NULL, arena);
    cr_expect_str_eq(first, "abc");
    cr_expect_eq(row_keep(&row, 0, first, arena), first);
    cr_expect_str_eq(row_keep(&row, 1, first, arena), "ab", "the begin of what is likely");
    cr_expect_str_eq(row_keep(&row, 0, "ab", arena), "abc");
    cr_expect_str_eq(row_keep(&row, 2, first, arena), "");
    cr_expect_str_eq(row_keep(&row, 3, "a", arena), "a", "it ends where a text does");
    cr_expect_str_eq(row_keep(&row, 4, "", arena), "12");
    row_end(&row);
    arena_destroy(arena);
}
