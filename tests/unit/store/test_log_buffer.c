// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// By SQLite itself, which uses the buffer through the files of a store (store/pages).
#include "../../harness/scratch.h"
#include "store/log_buffer.h"
#include "store/pages.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { FEW_ROWS = 20, MANY_ROWS = 400 }; // Each row takes a page; many fill the buffer some times.

static struct scratch scratch;
static struct pages *pages;
static sqlite3 *connection;

static int run(sqlite3 *database, const char *sql)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) & 0xff;
}

static int64_t number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(database));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(database));
    const int64_t value = sqlite3_column_int64(statement, 0);
    cr_assert_eq(sqlite3_finalize(statement), SQLITE_OK);
    return value;
}

static void setup(void)
{
    scratch_make(&scratch);
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    cr_assert_eq(sqlite3_open_v2(scratch_path(&scratch, "x.db"), &connection,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, pages_vfs(pages)),
                 SQLITE_OK);
    cr_assert_eq(pages_add_sums(connection), TAPML_OK, "%s", status_message());
    cr_assert_eq(run(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                                 "PRAGMA wal_autocheckpoint = 0;"
                                 "CREATE TABLE t (x INTEGER PRIMARY KEY, y TEXT);"),
                 SQLITE_OK);
}

static void teardown(void)
{
    (void)sqlite3_close(connection);
    pages_destroy(pages);
    scratch_remove(&scratch);
}

TestSuite(log_buffer, .init = setup, .fini = teardown);

static void insert(int begin, int count)
{
    char sql[256];
    (void)snprintf(sql, sizeof(sql),
                   "WITH RECURSIVE n (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                   " INSERT INTO t SELECT i, printf('%%03000d', i) FROM n",
                   begin, begin + count - 1);
    cr_assert_eq(run(connection, sql), SQLITE_OK, "%s", sqlite3_errmsg(connection));
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    FILE *source = fopen(scratch_path(&scratch, from), "rb");
    FILE *copy = fopen(scratch_path(&scratch, to), "wb");
    cr_assert(source && copy);
    for (size_t size = fread(bytes, 1, sizeof(bytes), source); size > 0;
         size = fread(bytes, 1, sizeof(bytes), source)) {
        cr_assert_eq(fwrite(bytes, 1, size, copy), size);
    }
    cr_assert_eq(fclose(source) + fclose(copy), 0);
}

// What the files say that would be left if the process were killed now, to a program that knows
// nothing of the buffer.
static int64_t left(const char *sql)
{
    sqlite3 *database = NULL;
    copy_file("x.db", "y.db");
    copy_file("x.db-wal", "y.db-wal");
    cr_assert_eq(sqlite3_open(scratch_path(&scratch, "y.db"), &database), SQLITE_OK);
    cr_assert_eq(number(database, "SELECT count(*) FROM pragma_integrity_check"
                                  " WHERE integrity_check = 'ok'"),
                 1);
    const int64_t value = number(database, sql);
    cr_assert_eq(sqlite3_close(database), SQLITE_OK);
    return value;
}

static off_t log_bytes(void)
{
    struct stat about;
    cr_assert_eq(stat(scratch_path(&scratch, "x.db-wal"), &about), 0);
    return about.st_size;
}

// Makes SQLite write pages to the log before their transaction ends.
static void use_little_memory(void)
{
    cr_assert_eq(run(connection, "PRAGMA cache_size = 4; PRAGMA cache_spill = 4"), SQLITE_OK);
}

static int spilled(void)
{
    int now = 0, most = 0;
    cr_assert_eq(sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_SPILL, &now, &most, 0),
                 SQLITE_OK);
    return now;
}

Test(log_buffer, what_is_committed_is_in_the_file)
{
    for (int i = 0; i < 4; i++) {
        insert(i * FEW_ROWS, FEW_ROWS);
        cr_assert_eq(left("SELECT count(*) FROM t"), (i + 1) * FEW_ROWS);
    }
    insert(4 * FEW_ROWS, MANY_ROWS);
    cr_assert_eq(left("SELECT sum(y + 0) = sum(x) FROM t"), 1);
    cr_assert_eq(left("SELECT count(*) FROM t"), 4 * FEW_ROWS + MANY_ROWS);
    cr_assert_eq(run(connection, "PRAGMA wal_checkpoint(PASSIVE)"), SQLITE_OK);
    insert(1000, FEW_ROWS); // From the begin of the log again.
    cr_assert_eq(left("SELECT count(*) FROM t"), 5 * FEW_ROWS + MANY_ROWS);
}

Test(log_buffer, pages_of_a_transaction_are_gathered)
{
    use_little_memory();
    insert(0, 1);
    const off_t before = log_bytes();
    cr_assert_eq(run(connection, "BEGIN"), SQLITE_OK);
    insert(1, FEW_ROWS);
    cr_assert_gt(spilled(), 0);
    cr_assert_eq(log_bytes(), before, "%lld bytes were written already",
                 (long long)(log_bytes() - before));
    cr_assert_eq(number(connection, "SELECT sum(y + 0) FROM t"), FEW_ROWS * (FEW_ROWS + 1) / 2);
    cr_assert_eq(left("SELECT count(*) FROM t"), 1);
    cr_assert_eq(run(connection, "COMMIT"), SQLITE_OK);
    cr_assert_gt(log_bytes(), before);
    cr_assert_eq(left("SELECT count(*) FROM t"), 1 + FEW_ROWS);
}

// SQLite writes such pages over those in the log, and the checksums of all frames behind them anew.
Test(log_buffer, pages_that_change_again_are_in_the_file)
{
    use_little_memory();
    insert(0, MANY_ROWS);
    cr_assert_eq(run(connection, "BEGIN"), SQLITE_OK);
    for (int i = 1; i <= 3; i++) {
        cr_assert_eq(run(connection, "UPDATE t SET y = printf('%03000d', y + 1)"), SQLITE_OK);
        cr_assert_eq(number(connection, "SELECT min(y - x) = max(y - x) FROM t"), 1);
    }
    cr_assert_eq(run(connection, "COMMIT"), SQLITE_OK);
    cr_assert_gt(spilled(), MANY_ROWS);
    cr_assert_eq(left("SELECT sum(y - x) FROM t"), 3 * MANY_ROWS);
}

Test(log_buffer, what_is_rolled_back_is_gone)
{
    use_little_memory();
    insert(0, FEW_ROWS);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(run(connection, "BEGIN"), SQLITE_OK);
        insert(1000, i * MANY_ROWS / 2 + FEW_ROWS);
        cr_assert_eq(run(connection, "ROLLBACK"), SQLITE_OK);
        insert((i + 1) * FEW_ROWS, FEW_ROWS);
        cr_assert_eq(left("SELECT count(*) FROM t"), (i + 2) * FEW_ROWS);
        cr_assert_eq(left("SELECT sum(y + 0) = sum(x) FROM t"), 1);
    }
}

Test(log_buffer, what_is_rolled_back_overwrites_nothing_of_others)
{
    sqlite3 *other = NULL;
    use_little_memory();
    insert(0, FEW_ROWS);
    cr_assert_eq(sqlite3_open(scratch_path(&scratch, "x.db"), &other), SQLITE_OK);
    // So that to roll back reads nothing of the log, for which the buffer would be written.
    cr_assert_eq(run(connection, "PRAGMA wal_checkpoint(PASSIVE)"), SQLITE_OK);
    cr_assert_eq(run(connection, "BEGIN"), SQLITE_OK);
    insert(1000, FEW_ROWS);
    cr_assert_gt(spilled(), 0);
    cr_assert_eq(run(connection, "ROLLBACK"), SQLITE_OK);
    cr_assert_eq(run(other, "UPDATE t SET y = printf('%03000d', y + 1)"), SQLITE_OK);
    cr_assert_eq(number(connection, "SELECT sum(y - x) FROM t"), FEW_ROWS);
    insert(FEW_ROWS, FEW_ROWS);
    cr_assert_eq(left("SELECT sum(y - x) FROM t"), FEW_ROWS);
    cr_assert_eq(left("SELECT count(*) FROM t"), 2 * FEW_ROWS);
    cr_assert_eq(sqlite3_close(other), SQLITE_OK);
}

Test(log_buffer, a_commit_that_does_not_fit_fails)
{
    insert(0, FEW_ROWS);
    const off_t size = log_bytes();
    for (off_t room = 4000; room < 200000; room *= 7) {
        const struct rlimit limit = {.rlim_cur = (rlim_t)(size + room), .rlim_max = RLIM_INFINITY};
        (void)signal(SIGXFSZ, SIG_IGN);
        cr_assert_eq(run(connection, "BEGIN"), SQLITE_OK);
        insert(1000, MANY_ROWS);
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        cr_assert_neq(run(connection, "COMMIT"), SQLITE_OK, "with %lld bytes", (long long)room);
        cr_assert_neq(pages_write_error(pages), 0);
        (void)run(connection, "ROLLBACK");
        const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
        cr_assert_eq(left("SELECT count(*) FROM t"), FEW_ROWS);
    }
    insert(1000, MANY_ROWS);
    cr_assert_eq(left("SELECT count(*) FROM t"), FEW_ROWS + MANY_ROWS);
}
