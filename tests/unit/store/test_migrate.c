// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store and a bundle of each earlier version lie in tests/data/stores.
#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "harness/scratch.h"
#include "store/case.h"
#include "store/case_key.h"
#include "store/metadata.h"
#include "store/migrate.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

enum { STORE_BYTES_MAX = 1 << 20 };

static struct scratch scratch;
static char path[2 * SCRATCH_PATH];
static char *whole;
static size_t whole_bytes;

static void copy_store(const char *name)
{
    alloc_free(whole);
    cr_assert_eq(file_read(scratch_source(name), STORE_BYTES_MAX, &whole, &whole_bytes), TAPML_OK);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(whole, 1, whole_bytes, file), whole_bytes);
    cr_assert_eq(fclose(file), 0);
}

static void begin(void)
{
    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a.tapmlrun"));
    copy_store("tests/data/stores/version-2/run.tapmlrun");
}

static void end(void)
{
    alloc_free(whole);
    scratch_remove(&scratch);
}

TestSuite(migrate, .init = begin, .fini = end);

static int is_untouched(void)
{
    char *now = NULL;
    size_t bytes = 0;
    cr_assert_eq(file_read(path, STORE_BYTES_MAX, &now, &bytes), TAPML_OK);
    const int is_same = bytes == whole_bytes && memcmp(now, whole, bytes) == 0;
    alloc_free(now);
    return is_same;
}

static int64_t number_of(struct store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK,
                 "%s: %s", sql, sqlite3_errmsg(store_connection(store)));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

// What the store says, whichever way it was brought to this version.
static void expect_whole(struct store *store)
{
    int64_t *ids = NULL;
    size_t count = 0;
    cr_expect_str_eq(metadata_get(store, "source"), "reference");
    cr_expect_eq(number_of(store, "SELECT count(*) FROM run"), 1);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM call"), 80);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM prompt JOIN run ON run = id"), 1);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM result JOIN run ON run = id"), 80);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM result JOIN output_error"
                                  " USING (target, case_id) WHERE outcome = 'ran' AND class = ''"
                                  " AND margin > 1 AND reason LIKE 'y%'"),
                 4);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM result WHERE implementation LIKE"
                                  " 'org.tapml.cpu 0.1.0 dff42eaf%' AND device = 'reference:f64'"
                                  " AND driver = 'double inside, float at the borders, '"
                                  " AND options = ''"),
                 80);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM element JOIN result"
                                  " USING (target, case_id)"),
                 32);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM \"case\" WHERE length(key) = 17"
                                  " AND substr(key, 1, 1) = x'01'"),
                 80);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM metadata WHERE name LIKE 'target%'"), 0);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM target WHERE position = 0"
                                  " AND backend = 'reference:f64' AND goal LIKE '* -> %'"
                                  " AND identity LIKE '%org.tapml.cpu%' AND given_up = ''"),
                 1);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM blame WHERE kind = 'alone'"
                                  " AND evidence = 'case'"),
                 number_of(store, "SELECT count(*) FROM blame"));
    cr_expect_gt(number_of(store, "SELECT count(*) FROM blame"), 0);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM offload WHERE finished_s > 0 AND agrees"),
                 1);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM step WHERE verdict IN"
                                  " ('taken back', 'accused', 'departs', 'watched')"),
                 0);
    cr_expect_gt(number_of(store, "SELECT count(*) FROM step WHERE verdict = 'judged'"), 0);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM instance"),
                 number_of(store, "SELECT count(DISTINCT instance) FROM \"case\""));
    cr_assert_eq(stored_case_ids(store, &ids, &count), TAPML_OK);
    cr_assert_eq(count, 80);
    for (size_t i = 0; i < count; i++) {
        struct carved_case item;
        struct arena *arena = arena_create();
        cr_expect_eq(stored_case_load(store, ids[i], arena, &item), TAPML_OK, "%s",
                     status_message());
        arena_destroy(arena);
    }
    alloc_free(ids);
}

Test(migrate, an_old_store_is_read_and_not_touched)
{
    struct store *store = NULL;
    cr_assert_eq(store_open_to_read(path, &store), TAPML_OK, "%s", status_message());
    expect_whole(store);
    cr_expect_eq(number_of(store, "PRAGMA main.user_version"), 2);
    store_close(store);
    cr_expect(is_untouched());
}

Test(migrate, an_old_store_that_is_written_is_upgraded_once)
{
    struct store *store = NULL;
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    expect_whole(store);
    cr_expect_eq(number_of(store, "PRAGMA user_version"), STORE_VERSION);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM temp.sqlite_schema"), 0);
    const int64_t key = number_of(store, "SELECT hex(key) FROM \"case\" WHERE id = 7");
    store_close(store);
    cr_assert_eq(store_open_to_read(path, &store), TAPML_OK, "%s", status_message());
    expect_whole(store);
    cr_expect_eq(number_of(store, "SELECT hex(key) FROM \"case\" WHERE id = 7"), key);
    store_close(store);
}

// Version 3 differs from later ones in what it kept of results alone.
static void expect_results_of_3(struct store *store)
{
    cr_expect_eq(number_of(store, "SELECT count(*) FROM result JOIN output_error"
                                  " USING (target, case_id) WHERE outcome = 'ran' AND class = ''"
                                  " AND position = 0 AND param <> '' AND oracle <> ''"),
                 number_of(store, "SELECT count(*) FROM result"
                                  " WHERE outcome = 'ran' AND length(oracle) > 0"));
    cr_expect_eq(number_of(store, "SELECT count(*) FROM result JOIN output_error"
                                  " USING (target, case_id) WHERE margin > 1 AND reason LIKE 'y%'"
                                  " AND beyond > 0"),
                 4);
}

static void expect_whole_of(int64_t version, struct store *store)
{
    cr_expect_eq(number_of(store, "SELECT count(*) FROM result JOIN run ON run = id"), 80);
    if (version == 3) {
        expect_results_of_3(store);
    }
    cr_expect_eq(number_of(store, "SELECT count(*) FROM element"), 32);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM derived"), version == 3 ? 488 : 520);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM forecast"), 0);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM blame"), 2);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM offload WHERE finished_s > 0"), 1);
}

static void read_and_upgrade(int64_t version)
{
    struct store *store = NULL;
    char name[64];
    (void)snprintf(name, sizeof(name), "tests/data/stores/version-%d/run.tapmlrun", (int)version);
    copy_store(name);
    cr_assert_eq(store_open_to_read(path, &store), TAPML_OK, "%s", status_message());
    expect_whole_of(version, store);
    cr_expect_eq(number_of(store, "PRAGMA main.user_version"), version);
    store_close(store);
    cr_expect(is_untouched());
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    expect_whole_of(version, store);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM judged WHERE verdict = 'fail'"), 4);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    store_close(store);
    cr_assert_eq(store_open_to_read(path, &store), TAPML_OK, "%s", status_message());
    expect_whole_of(version, store);
    store_close(store);
}

Test(migrate, stores_of_versions_from_3_on_are_read_and_upgraded)
{
    read_and_upgrade(3);
    read_and_upgrade(4);
    read_and_upgrade(5);
    read_and_upgrade(6);
    read_and_upgrade(7);
    read_and_upgrade(8);
    read_and_upgrade(9);
}

// Version 6 had no measures of plugins, and all else.
Test(migrate, a_store_gets_a_table_for_measures)
{
    struct store *store = NULL;
    copy_store("tests/data/stores/version-6/run.tapmlrun");
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    cr_expect_gt(number_of(store, "SELECT count(cosine) FROM output_error"), 0);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM measure"), 0);
    store_close(store);
}

// Features of a store that lacks them are measured when they are needed first.
Test(migrate, a_store_gets_an_empty_table_for_features)
{
    struct store *store = NULL;
    copy_store("tests/data/stores/version-7/run.tapmlrun");
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    cr_expect_eq(number_of(store, "SELECT count(*) FROM feature"), 0);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM \"case\""), 80);
    store_close(store);
}

// Nobody has watched it yet.
Test(migrate, a_store_gets_empty_tables_for_what_is_watched_and_tried)
{
    struct store *store = NULL;
    copy_store("tests/data/stores/version-8/run.tapmlrun");
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    cr_expect_eq(number_of(store, "SELECT count(*) FROM feature"), 80);
    cr_expect_eq(number_of(store, "SELECT (SELECT count(*) FROM look) +"
                                  " (SELECT count(*) FROM watched) +"
                                  " (SELECT count(*) FROM turned) +"
                                  " (SELECT count(*) FROM looked) +"
                                  " (SELECT count(*) FROM trial) +"
                                  " (SELECT count(*) FROM invariance)"),
                 0);
    store_close(store);
}

// What earlier starts have cost nobody knows.
Test(migrate, a_store_gets_an_empty_table_for_what_places_cost)
{
    struct store *store = NULL;
    copy_store("tests/data/stores/version-9/run.tapmlrun");
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    cr_expect_eq(number_of(store, "SELECT count(*) FROM usage"), 0);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM feature"), 80);
    store_close(store);
}

// What first cases took was not kept: it counts as nothing.
Test(migrate, what_places_cost_is_kept)
{
    struct store *store = NULL;
    copy_store("tests/data/stores/version-10/run.tapmlrun");
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    cr_expect_eq(number_of(store, "SELECT count(*) FROM usage"), 2);
    cr_expect_eq(number_of(store, "SELECT cases FROM usage WHERE place = 'gpu'"), 80);
    cr_expect_eq(number_of(store, "SELECT sum(firsts + firsts_ns) FROM usage"), 0);
    store_close(store);
}

// Errors of versions 4 and 5 keep all that they had, and have no cosine.
Test(migrate, errors_get_a_cosine_that_is_not_known)
{
    struct store *store = NULL;
    copy_store("tests/data/stores/version-5/run.tapmlrun");
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    cr_expect_gt(number_of(store, "SELECT count(*) FROM output_error"), 0);
    cr_expect_eq(number_of(store, "SELECT count(cosine) FROM output_error"), 0);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM output_error WHERE class <> ''"
                                  " AND nmse IS NOT NULL AND margin IS NULL"),
                 number_of(store, "SELECT count(*) FROM output_error"));
    store_close(store);
}

Test(migrate, keys_are_those_that_this_version_computes)
{
    struct store *store = NULL;
    cr_assert_eq(store_open(path, 1, &store), TAPML_OK, "%s", status_message());
    cr_assert_eq(sqlite3_exec(store_connection(store),
                              "CREATE TEMP TABLE old AS SELECT id, key FROM \"case\"", NULL, NULL,
                              NULL),
                 SQLITE_OK);
    cr_assert_eq(case_key_write_all(store), TAPML_OK);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM \"case\" JOIN old USING (id, key)"), 80);
    store_close(store);
}

Test(migrate, an_old_bundle_is_read)
{
    struct store *store = NULL;
    copy_store("tests/data/stores/version-2/FAULT-1.tapmlrun");
    cr_assert_eq(store_open_to_read(path, &store), TAPML_OK, "%s", status_message());
    cr_expect_str_eq(metadata_get(store, "bundle.instance"), "layers.0/mlp/silu");
    cr_expect_eq(number_of(store, "SELECT count(*) FROM \"case\""), 1);
    store_close(store);
    cr_expect(is_untouched());
}

// What a host never wrote is refused before anything is changed.
Test(migrate, an_old_store_of_another_make_is_refused)
{
    static const char *const wrong[] = {
        "CREATE TABLE stranger (x)",
        "CREATE TRIGGER t AFTER INSERT ON fact BEGIN DELETE FROM fact; END",
        "PRAGMA foreign_keys = 0; DELETE FROM prompt",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct store *store = NULL;
        sqlite3 *other = NULL;
        copy_store("tests/data/stores/version-2/run.tapmlrun");
        cr_assert_eq(sqlite3_open(path, &other), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(other, wrong[i], NULL, NULL, NULL), SQLITE_OK);
        cr_assert_eq(sqlite3_close(other), SQLITE_OK);
        cr_expect_eq(store_open(path, 1, &store), TAPML_INVALID, "%s", wrong[i]);
        cr_assert_eq(sqlite3_open(path, &other), SQLITE_OK);
        cr_expect_eq(sqlite3_exec(other, "SELECT * FROM fact", NULL, NULL, NULL), SQLITE_OK);
        cr_assert_eq(sqlite3_close(other), SQLITE_OK);
    }
}
