// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "store/pages.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

enum { PAGE = 4096, ROWS = 500 };

static struct scratch scratch;
static const char *path;

static void setup(void)
{
    scratch_make(&scratch);
    path = scratch_path(&scratch, "x.db");
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(pages, .init = setup, .fini = teardown);

static int run(sqlite3 *connection, const char *sql)
{
    return sqlite3_exec(connection, sql, NULL, NULL, NULL);
}

static sqlite3 *open_by(const char *vfs)
{
    sqlite3 *connection = NULL;
    cr_assert_eq(
        sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs),
        SQLITE_OK);
    return connection;
}

// A database of several pages, written partly before its log and partly through it.
static void fill(struct pages *pages)
{
    char sql[128];
    sqlite3 *connection = open_by(pages_vfs(pages));
    cr_assert_eq(pages_add_sums(connection), TAPML_OK, "%s", status_message());
    cr_assert_eq(run(connection, "CREATE TABLE t (x INTEGER PRIMARY KEY, y TEXT)"), SQLITE_OK);
    cr_assert_eq(run(connection, "PRAGMA journal_mode = WAL; BEGIN"), SQLITE_OK);
    for (int i = 0; i < ROWS; i++) {
        (void)snprintf(sql, sizeof(sql), "INSERT INTO t VALUES (%d, printf('%%060d', %d))", i, i);
        cr_assert_eq(run(connection, sql), SQLITE_OK);
    }
    cr_assert_eq(run(connection, "COMMIT"), SQLITE_OK);
    cr_assert_eq(sqlite3_close(connection), SQLITE_OK);
}

// The code of reading it all, and the sum of it.
static int read_all(const char *vfs, int64_t *out_sum)
{
    sqlite3 *connection = open_by(vfs);
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(connection, "SELECT sum(x), sum(y + 0) FROM t", -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        *out_sum = code == SQLITE_ROW ? sqlite3_column_int64(statement, 1) : 0;
    }
    (void)sqlite3_finalize(statement);
    cr_assert_eq(sqlite3_close(connection), SQLITE_OK);
    return code & 0xff;
}

static void flip(off_t at)
{
    unsigned char byte = 0;
    const int file = open(path, O_RDWR);
    cr_assert_eq(pread(file, &byte, 1, at), 1);
    byte ^= 1;
    cr_assert_eq(pwrite(file, &byte, 1, at), 1);
    cr_assert_eq(close(file), 0);
}

Test(pages, what_is_written_is_read_by_anyone)
{
    struct pages *pages = NULL;
    int64_t sum = 0;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    cr_assert_eq(read_all(pages_vfs(pages), &sum), SQLITE_ROW);
    cr_assert_eq(sum, ROWS * (ROWS - 1) / 2);
    cr_assert_eq(read_all(NULL, &sum), SQLITE_ROW); // Without checksums in mind.
    cr_assert_eq(sum, ROWS * (ROWS - 1) / 2);
    cr_assert_eq(pages_damaged(pages), 0);
    cr_assert(pages_have_sums(pages));
    pages_destroy(pages);
}

Test(pages, a_flipped_bit_anywhere_is_found)
{
    struct stat about;
    struct pages *pages = NULL;
    int64_t sum = 0;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    pages_destroy(pages);
    cr_assert_eq(stat(path, &about), 0);
    cr_assert_gt(about.st_size, 4 * PAGE);
    for (off_t at = 2 * PAGE + 3; at < about.st_size; at += 997) {
        cr_assert_eq(pages_create(&pages), TAPML_OK);
        flip(at);
        cr_assert_eq(read_all(pages_vfs(pages), &sum), SQLITE_IOERR, "at %lld", (long long)at);
        cr_assert_eq(pages_damaged(pages), at / PAGE + 1);
        flip(at);
        pages_destroy(pages);
    }
}

Test(pages, a_page_in_another_place_is_found)
{
    char page[PAGE];
    struct pages *pages = NULL;
    int64_t sum = 0;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    const int file = open(path, O_RDWR);
    cr_assert_eq(pread(file, page, PAGE, 3 * PAGE), PAGE);
    cr_assert_eq(pwrite(file, page, PAGE, 4 * PAGE), PAGE);
    cr_assert_eq(close(file), 0);
    cr_assert_eq(read_all(pages_vfs(pages), &sum), SQLITE_IOERR);
    cr_assert_eq(pages_damaged(pages), 5);
    pages_destroy(pages);
}

Test(pages, a_file_that_lost_its_end_is_found)
{
    struct stat about;
    struct pages *pages = NULL;
    int64_t sum = 0;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    cr_assert_eq(stat(path, &about), 0);
    cr_assert_eq(truncate(path, about.st_size - PAGE / 2), 0);
    cr_assert_neq(read_all(pages_vfs(pages), &sum), SQLITE_ROW);
    pages_destroy(pages);
}

Test(pages, a_database_without_checksums_is_read)
{
    struct pages *pages = NULL;
    int64_t sum = 0;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    sqlite3 *connection = open_by(NULL);
    cr_assert_eq(run(connection, "CREATE TABLE t (x, y); INSERT INTO t VALUES (1, '7')"),
                 SQLITE_OK);
    cr_assert_eq(sqlite3_close(connection), SQLITE_OK);
    cr_assert_eq(read_all(pages_vfs(pages), &sum), SQLITE_ROW);
    cr_assert_eq(sum, 7);
    cr_assert(!pages_have_sums(pages));
    pages_destroy(pages);
}

// As the shell does, which opens a store after its host was killed.
Test(pages, a_log_that_another_program_wrote_back_is_no_damage)
{
    struct pages *pages = NULL;
    int64_t sum = 0;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    sqlite3 *connection = open_by(pages_vfs(pages));
    sqlite3 *other = open_by(NULL);
    cr_assert_eq(run(connection, "UPDATE t SET y = y + 1"), SQLITE_OK);
    cr_assert_eq(run(other, "SELECT count(*) FROM t"), SQLITE_OK);
    cr_assert_eq(sqlite3_close(connection), SQLITE_OK);
    cr_assert_eq(sqlite3_close(other), SQLITE_OK); // The last one writes the log back.
    cr_assert_eq(read_all(pages_vfs(pages), &sum), SQLITE_ROW);
    cr_assert_eq(sum, ROWS * (ROWS + 1) / 2);
    pages_destroy(pages);
}

Test(pages, what_another_program_changed_is_damage)
{
    struct pages *pages = NULL;
    int64_t sum = 0;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    sqlite3 *other = open_by(NULL);
    cr_assert_eq(run(other, "UPDATE t SET y = 7 WHERE x = 300"), SQLITE_OK);
    cr_assert_eq(sqlite3_close(other), SQLITE_OK);
    cr_assert_eq(read_all(pages_vfs(pages), &sum), SQLITE_IOERR);
    pages_destroy(pages);
}

Test(pages, what_the_system_said_of_a_write_is_kept)
{
    struct pages *pages = NULL;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    cr_assert_eq(pages_write_error(pages), 0);
    sqlite3 *connection = open_by(pages_vfs(pages));
    const struct rlimit limit = {.rlim_cur = 5000, .rlim_max = RLIM_INFINITY};
    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_assert_eq(run(connection, "UPDATE t SET y = 'z'") & 0xff, SQLITE_IOERR);
    cr_assert_eq(pages_write_error(pages), EFBIG);
    (void)sqlite3_close(connection);
    pages_destroy(pages);
}

Test(pages, a_look_at_all_of_them_finds_what_is_corrupted_or_gone)
{
    struct pages *pages = NULL;
    struct pages_health health;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    pages_destroy(pages);
    cr_assert_eq(pages_check(path, &health), TAPML_OK, "%s", status_message());
    const int64_t count = health.count;
    cr_assert_gt(count, 8);
    cr_assert_eq(health.right, count);
    cr_assert_eq(health.bad, 0);
    cr_assert_eq(health.mask, 0);
    cr_assert(health.is_header_whole);
    cr_assert_eq(health.page_bytes, PAGE);
    flip(3 * PAGE + 77);
    flip(5 * PAGE + 77);
    cr_assert_eq(truncate(path, (count - 1) * PAGE + 9), 0);
    cr_assert_eq(pages_check(path, &health), TAPML_OK);
    cr_assert_eq(health.count, count);
    cr_assert_eq(health.bad, 3);
    cr_assert_eq(health.first[0], 4);
    cr_assert_eq(health.first[1], 6);
    cr_assert_eq(health.first[2], count);
    cr_assert_eq(health.mask & 0x3f, 0x28);
    flip(40);
    cr_assert_eq(pages_check(path, &health), TAPML_OK);
    cr_assert_eq(health.bad, 4);
    cr_assert_not(health.is_header_whole);
    cr_assert_eq(truncate(path, 0), 0);
    cr_assert_eq(pages_check(path, &health), TAPML_OK);
    cr_assert_eq(health.count, 0);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(pages_check(path, &health), TAPML_INVALID);
}

Test(pages, replacements_stand_in_for_pages_that_are_lost)
{
    static unsigned char replacement[PAGE];
    struct pages *pages = NULL;
    int64_t sum = 0, again = 0;
    cr_assert_eq(pages_create(&pages), TAPML_OK);
    fill(pages);
    cr_assert_eq(read_all(pages_vfs(pages), &sum), SQLITE_ROW);
    FILE *file = fopen(path, "rb");
    cr_assert_eq(fread(replacement, 1, PAGE, file), PAGE);
    cr_assert_eq(fclose(file), 0);
    flip(18);
    flip(1000);
    cr_assert_neq(read_all(pages_vfs(pages), &again), SQLITE_ROW);
    pages_replace(pages, &(struct pages_replacement){
                             .bytes = replacement, .page_bytes = PAGE, .count = 1, .mask = 1});
    cr_assert_eq(read_all(pages_vfs(pages), &again), SQLITE_ROW);
    cr_assert_eq(again, sum);
    pages_destroy(pages);
}
