// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/content.h"
#include "store/row.h"
#include "store/store.h"
#include "store/store_open.h"

#include <tapml/tensor.h>

static struct scratch scratch;
static struct store *store;
static struct arena *arena;

static void begin(void)
{
    scratch_make(&scratch);
    cr_assert_eq(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store), TAPML_OK);
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(content, .init = begin, .fini = end);

static int64_t count_of(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static void execute(const char *sql)
{
    cr_assert_eq(sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), SQLITE_OK);
}

Test(content, comes_back)
{
    const int64_t shape[] = {2, 3};
    const struct content content = {TAPML_F32, 2, shape};
    const float values[] = {1, 2, 3, 4, 5, -0.0f};
    const void *again = NULL;
    struct hash key;
    cr_assert_eq(content_put(store, &content, values, &key), TAPML_OK);
    cr_assert_eq(content_get(store, key, &content, arena, &again), TAPML_OK);
    cr_assert_arr_eq(again, values, sizeof(values));
}

Test(content, is_kept_once)
{
    const int64_t shape[] = {4};
    const struct content content = {TAPML_I32, 1, shape};
    const int32_t values[] = {1, 2, 3, 4};
    struct hash keys[2];
    cr_assert_eq(content_put(store, &content, values, &keys[0]), TAPML_OK);
    cr_assert_eq(content_put(store, &content, values, &keys[1]), TAPML_OK);
    cr_assert(hash_equal(keys[0], keys[1]));
    cr_assert_eq(count_of("SELECT count(*) FROM tensor"), 1);
}

Test(content, type_and_shape_are_part_of_the_key)
{
    const int32_t values[] = {1, 2, 3, 4};
    const int64_t flat[] = {4};
    const int64_t square[] = {2, 2};
    const struct content kinds[] = {
        {TAPML_I32, 1, flat}, {TAPML_F32, 1, flat}, {TAPML_I32, 2, square}};
    struct hash keys[3];
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(content_put(store, &kinds[i], values, &keys[i]), TAPML_OK);
    }
    cr_assert_not(hash_equal(keys[0], keys[1]));
    cr_assert_not(hash_equal(keys[0], keys[2]));
    cr_assert_eq(count_of("SELECT count(DISTINCT shape || dtype) FROM tensor"), 3);
}

Test(content, key_is_what_the_documentation_says)
{
    const int64_t shape[] = {2};
    const struct content content = {TAPML_I32, 1, shape};
    const int32_t values[] = {7, 8};
    unsigned char all[6 + sizeof(values)];
    struct hash key;
    memcpy(all, "i32[2]", 6);
    memcpy(all + 6, values, sizeof(values));
    cr_assert_eq(content_key(&content, values, &key), TAPML_OK);
    cr_assert(hash_equal(key, hash_bytes(all, sizeof(all))));
}

// Of `count` values.
static void put_zeros_and_noise(int64_t count)
{
    static int32_t values[100000];
    const int64_t shape[] = {count};
    const struct content content = {TAPML_I32, 1, shape};
    struct hash zeros;
    struct hash noise;
    const void *again = NULL;
    memset(values, 0, sizeof(values));
    cr_assert_eq(content_put(store, &content, values, &zeros), TAPML_OK);
    cr_assert_eq(content_get(store, zeros, &content, arena, &again), TAPML_OK);
    cr_assert_arr_eq(again, values, (size_t)count * sizeof(*values));
    cr_assert_eq(count_of("SELECT encoding = 'zstd' AND length(bytes) < 100 FROM tensor"), 1);
    uint64_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        values[i] = (int32_t)(state >> 33);
    }
    cr_assert_eq(content_put(store, &content, values, &noise), TAPML_OK);
    cr_assert_eq(count_of("SELECT count(*) FROM tensor WHERE encoding = 'raw'"), 1);
    cr_assert_eq(content_get(store, noise, &content, arena, &again), TAPML_OK);
    cr_assert_arr_eq(again, values, (size_t)count * sizeof(*values));
}

Test(content, zeros_are_compressed_and_noise_is_not)
{
    put_zeros_and_noise(4096);
}

Test(content, the_same_of_what_is_tried_by_pieces)
{
    put_zeros_and_noise(99999);
}

Test(content, no_elements_and_no_axes)
{
    const int64_t none[] = {0, 5};
    const struct content empty = {TAPML_F32, 2, none};
    const struct content scalar = {TAPML_F32, 0, NULL};
    const float value = 5;
    const void *again = NULL;
    struct hash key;
    cr_assert_eq(content_put(store, &empty, "", &key), TAPML_OK);
    cr_assert_eq(content_get(store, key, &empty, arena, &again), TAPML_OK);
    cr_assert_not_null(again);
    cr_assert_eq(content_put(store, &scalar, &value, &key), TAPML_OK);
    cr_assert_eq(content_get(store, key, &scalar, arena, &again), TAPML_OK);
    cr_assert_arr_eq(again, &value, sizeof(value));
}

// What `sql` makes of the row is found when it is read.
static void expect_damage(const char *sql, const char *message)
{
    enum { COUNT = 1024 };
    static const int32_t VALUES[COUNT];
    const int64_t shape[] = {COUNT};
    const struct content content = {TAPML_I32, 1, shape};
    const void *again = NULL;
    struct hash key;
    execute("DELETE FROM tensor");
    cr_assert_eq(content_put(store, &content, VALUES, &key), TAPML_OK);
    execute(sql);
    cr_expect_eq(content_get(store, key, &content, arena, &again), TAPML_INVALID, "%s", sql);
    cr_expect_not_null(strstr(status_message(), message), "%s: %s", sql, status_message());
}

Test(content, damage_is_found)
{
    expect_damage("UPDATE tensor SET shape = '[1023]'", "shape");
    expect_damage("UPDATE tensor SET shape = '[1024,1]'", "shape");
    expect_damage("UPDATE tensor SET shape = 'none'", "no list");
    expect_damage("UPDATE tensor SET dtype = 'f32'", "type");
    expect_damage("UPDATE tensor SET dtype = ''", "type");
    expect_damage("UPDATE tensor SET bytes = x''", "bytes");
    expect_damage("UPDATE tensor SET bytes = x'28b52ffd'", "bytes");
    expect_damage("UPDATE tensor SET bytes = zeroblob(4096)", "bytes");
    expect_damage("UPDATE tensor SET encoding = 'raw'", "bytes");
    expect_damage("UPDATE tensor SET encoding = 'raw', bytes = randomblob(4096)", "hash");
}

Test(content, huge_claims_cost_nothing)
{
    const int64_t shape[] = {INT64_C(1) << 40};
    const struct content content = {TAPML_F64, 1, shape};
    const struct hash key = {1, 2};
    const void *again = NULL;
    execute("INSERT INTO tensor VALUES (x'00000000000000010000000000000002', 'f64',"
            " '[1099511627776]', 'raw', x'00')");
    cr_assert_eq(content_get(store, key, &content, arena, &again), TAPML_INVALID);
    // A frame header that claims eight terabytes.
    execute("UPDATE tensor SET encoding = 'zstd', bytes = x'28b52ffde0' || x'0000000000080000'");
    cr_assert_eq(content_get(store, key, &content, arena, &again), TAPML_INVALID);
}

Test(content, absent_is_not_found)
{
    const struct content content = {TAPML_F32, 0, NULL};
    const void *again = NULL;
    cr_assert_eq(content_get(store, (struct hash){1, 2}, &content, arena, &again), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "00000000000000010000000000000002"));
}

// A kilobyte that says it is a megabyte, ten thousand times over.
Test(content, a_small_file_does_not_fill_the_memory, .timeout = 60)
{
    enum { COUNT = 8 << 20, TIMES_MAX = 200 };
    const int64_t shape[] = {COUNT};
    const struct content content = {TAPML_U8, 1, shape};
    unsigned char *zeros = alloc_new(COUNT);
    const void *again = NULL;
    struct hash key;
    int times = 0;
    cr_assert_not_null(zeros);
    cr_assert_eq(content_put(store, &content, zeros, &key), TAPML_OK);
    alloc_free(zeros);
    while (times < TIMES_MAX && content_get(store, key, &content, arena, &again) == TAPML_OK) {
        times++;
    }
    cr_assert_geq(times, 32, "%d", times); // 256 MiB are taken of any file.
    cr_assert_lt(times, TIMES_MAX);
    cr_assert_not_null(strstr(status_message(), "too many for a file"), "%s", status_message());
}
