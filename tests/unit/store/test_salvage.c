// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/sanitized.h"
#include "harness/scratch.h"
#include "store/metadata.h"
#include "store/salvage.h"
#include "store/store.h"
#include "store/store_open.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PROMPTS = 6, CALLS = 30 };

// A store with rows of all tables: each call of each prompt has statistics and a case of two
// arguments, a page, contents of its own, and a result.
static const char ROWS[] =
    "BEGIN;"
    "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 59)"
    "  INSERT INTO metadata SELECT printf('about.%02d', x), hex(zeroblob(50)) FROM n;"
    "INSERT INTO metadata VALUES ('source', 'here');"
    "INSERT INTO run VALUES ('r', 'host', 'machine', 1);"
    "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 5)"
    "  INSERT INTO prompt SELECT printf('%032x', x), x, 'text', '[1]', '[2]', 'r' FROM n;"
    "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 179)"
    "  INSERT INTO call (instance, prompt, step, part, phase, shape_class, time_ns, kept)"
    "    SELECT printf('layers.%d/op', x % 30), printf('%032x', x / 30), 0, 0, 'prefill', 'x=[4]',"
    "      1000 + x, 1 FROM n;"
    "INSERT INTO statistic SELECT id, 'y', id, id, id, 1, 0, 0 FROM call;"
    "INSERT INTO weight VALUES ('w', 'f32', 4, x'00');"
    "INSERT INTO \"case\" SELECT id, x'01', instance, 'tapml.silu', 1, phase, shape_class, prompt,"
    "  step, part, 4, 'r' FROM call;"
    "INSERT INTO tensor SELECT printf('%016d', id), 'f32', '[4]', 'raw',"
    "  zeroblob(CASE WHEN id % 7 THEN 16 ELSE 9000 END) FROM call;"
    "INSERT INTO argument (case_id, position, param, kind, effects, origin, before)"
    "  SELECT id, 0, 'x', 'in', '', '', printf('%016d', id) FROM call;"
    "INSERT INTO argument (case_id, position, param, kind, effects, origin)"
    "  SELECT id, 1, 'w', 'in', 'weight', 'w' FROM call;"
    "INSERT INTO page SELECT id, 0, 'before', 0, printf('%016d', id) FROM call;"
    "INSERT INTO result SELECT 'gpu', id, 'ran', '', 1, 'i', 'd', 'v', '', 'q', NULL, "
    "NULL,"
    "  'r' FROM call;"
    "UPDATE result SET beyond = 1, elements = 4 WHERE case_id % 4 = 0;"
    "INSERT INTO output_error (target, case_id, position, param, class, ulp)"
    "  SELECT target, case_id, 0, 'y', 'elementwise', iif(beyond IS NULL, 0.5, 2) FROM result;"
    "INSERT INTO element SELECT target, case_id, 0, 'y', '[0]', 1, 2, 1 FROM result"
    "  WHERE beyond IS NOT NULL;"
    "INSERT INTO blame VALUES ('gpu', 'a', 'alone', 2, 'why', 'case', 1, '', '', 1, 1);"
    "INSERT INTO target (name, position, backend, activations, faults, goal, needs_all, identity)"
    "  VALUES ('gpu', 0, 'x', 'f32', '', '', 0, '1');"
    "INSERT INTO offload VALUES ('gpu', 1, 1, 0, '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
    "INSERT INTO timing VALUES ('gpu', 'tapml.silu', 1, 1, 1);"
    "INSERT INTO \"limit\" VALUES ('tapml.silu', 1, 'x=[4]', 'y', '', 1, 1, 1, 'q');"
    "INSERT INTO step (target, step, verdict, reason, plan, time_ns, written_s)"
    "  SELECT 'gpu', 'move ' || id, 'kept', '', hex(zeroblob(200)), 1, 1 FROM call LIMIT 30;"
    "COMMIT";

static const char *const needed[] = {"source", NULL};
static struct scratch scratch;
static char path[2 * SCRATCH_PATH], other[2 * SCRATCH_PATH], original[2 * SCRATCH_PATH];
static char *whole;
static size_t whole_bytes;

static void keep(const char *name, const char *data, size_t size)
{
    FILE *file = fopen(name, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(data, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

static void make(int page_bytes)
{
    struct store *store = NULL;
    cr_assert_eq(store_open_sized(path, page_bytes, &store), TAPML_OK, "%s", status_message());
    char *message = NULL;
    sqlite3_exec(store_connection(store), ROWS, NULL, NULL, &message);
    cr_assert_null(message, "%s", message);
    store_close(store);
    alloc_free(whole);
    cr_assert_eq(file_read(path, 1 << 24, &whole, &whole_bytes), TAPML_OK);
    keep(original, whole, whole_bytes);
}

// With small pages, so that there are many, as stores were made before.
static void begin(void)
{
    scratch_make(&scratch);
    snprintf(original, sizeof(original), "%s", scratch_path(&scratch, "original"));
    snprintf(other, sizeof(other), "%s", scratch_path(&scratch, "a.tapmlrun.damaged"));
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a.tapmlrun"));
    make(PAGE);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(salvage, .init = begin, .fini = end);

static void clean(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", ".damaged", ".damaged-2", ".salvaged"};
    char name[3 * SCRATCH_PATH];
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        snprintf(name, sizeof(name), "%s%s", path, ends[i]);
        (void)unlink(name);
    }
}

static tapml_status salvage(struct text *told)
{
    text_init(told);
    return salvage_run(path, needed, told);
}

static int64_t number_of(struct store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK,
                 "%s", sql);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

// What is in the new store is in the original one, and all of each prompt is there.
static int64_t check_new(void)
{
    static const char *const tables[] = {"metadata", "prompt", "tensor",    "weight", "\"case\"",
                                         "page",     "call",   "statistic", "result", "\"limit\"",
                                         "argument", "step",   "element",   "blame",  "timing",
                                         "target",   "offload"};
    struct store *store = NULL;
    char sql[3 * SCRATCH_PATH];
    cr_assert_eq(store_open(path, 0, &store), TAPML_OK, "%s", status_message());
    snprintf(sql, sizeof(sql), "ATTACH '%s' AS old", original);
    cr_assert_eq(sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM old.%s)",
                 tables[i], tables[i]);
        cr_expect_eq(number_of(store, sql), 0, "other rows in %s", tables[i]);
    }
    // Of a run whose row is lost the id is left.
    cr_expect_eq(number_of(store, "SELECT count(*) FROM main.run WHERE id NOT IN"
                                  " (SELECT id FROM old.run)"),
                 0);
    const int64_t prompts = number_of(store, "SELECT count(*) FROM main.prompt");
    cr_expect_eq(number_of(store, "SELECT count(*) FROM main.call"), prompts * CALLS);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM main.\"case\""), prompts * CALLS);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM main.statistic"), prompts * CALLS);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM main.argument"), prompts * CALLS * 2);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM main.page"), prompts * CALLS);
    cr_expect_eq(number_of(store, "SELECT count(*) FROM main.element"),
                 number_of(store, "SELECT count(*) FROM main.result WHERE beyond = 1"));
    cr_expect_eq(number_of(store, "SELECT count(*) FROM main.output_error"),
                 number_of(store, "SELECT count(*) FROM main.result"));
    cr_expect_eq(number_of(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    cr_expect_eq(number_of(store, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    store_close(store);
    return prompts;
}

static void expect_file(const char *name, const char *data, size_t size)
{
    char *found = NULL;
    size_t found_bytes = 0;
    cr_assert_eq(file_read(name, 1 << 24, &found, &found_bytes), TAPML_OK, "%s", status_message());
    cr_expect(found_bytes == size && memcmp(found, data, size) == 0, "%s is another file", name);
    alloc_free(found);
}

// Gives how many prompts are kept of a store of these bytes; -1: it was refused, and not touched.
static int64_t prompts_kept(const char *data, size_t size)
{
    struct text told;
    clean();
    keep(path, data, size);
    const tapml_status status = salvage(&told);
    if (status != TAPML_OK) {
        cr_expect_eq(status, TAPML_INVALID);
        cr_expect_not_null(strstr(status_message(), "cannot be salvaged"), "%s", status_message());
        expect_file(path, data, size);
        cr_expect_not(file_exists(other));
        text_release(&told);
        return -1;
    }
    cr_assert_not_null(strstr(told.data, "was damaged in "), "nothing was told");
    expect_file(other, data, size);
    text_release(&told);
    return check_new();
}

Test(salvage, leaves_a_whole_store_alone)
{
    struct text told;
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    cr_expect_eq(told.length, 0);
    expect_file(path, whole, whole_bytes);
    cr_expect_not(file_exists(other));
    text_release(&told);
    clean();
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    cr_expect_not(file_exists(path));
    text_release(&told);
}

// Reads as the shell of SQLite does, again and again: each time a log and what is shared for it are
// there for a moment.
static void read_for_ever(void)
{
    for (;;) {
        sqlite3 *connection = NULL;
        (void)sqlite3_open(path, &connection);
        (void)sqlite3_exec(connection, "SELECT count(*) FROM metadata", NULL, NULL, NULL);
        (void)sqlite3_close(connection);
        (void)usleep(1000);
    }
}

// A page without a checksum, as the shell of SQLite leaves it, is looked at by SQLite. That another
// process reads meanwhile is no damage.
Test(salvage, leaves_a_store_alone_that_others_read)
{
    enum { SUM_BYTES = 8, TIMES = 100 };
    memset(whole + 3 * PAGE - SUM_BYTES, 0, SUM_BYTES);
    keep(path, whole, whole_bytes);
    const pid_t reader = fork();
    if (reader == 0) {
        read_for_ever();
    }
    for (int i = 0; i < TIMES; i++) {
        struct text told;
        const tapml_status status = salvage(&told);
        cr_expect(status == TAPML_OK || status == TAPML_UNAVAILABLE, "%s", status_message());
        cr_assert_eq(told.length, 0, "%s", told.data);
        text_release(&told);
    }
    cr_expect_eq(kill(reader, SIGKILL), 0);
    cr_expect_eq(waitpid(reader, NULL, 0), reader);
    cr_expect_not(file_exists(other));
}

Test(salvage, keeps_what_is_whole_whichever_page_is_corrupted)
{
    int64_t kept = 0;
    int64_t tried = 0;
    int refused = 0;
    const size_t count = whole_bytes / PAGE;
    for (size_t page = 0; page < count; page += page < 12 ? 1 : 9 * SANITIZED_STEP(3)) {
        const size_t at = page * PAGE + 17 + page * 31 % 4000;
        whole[at] = (char)(whole[at] ^ 8);
        const int64_t prompts = prompts_kept(whole, whole_bytes);
        whole[at] = (char)(whole[at] ^ 8);
        kept += prompts > 0 ? prompts : 0;
        refused += prompts < 0;
        tried++;
    }
    cr_expect_leq(refused, 2, "%d refused", refused); // The needed: their root and one leaf.
    cr_expect_gt(kept, tried * PROMPTS / 2, "%lld kept of %lld", (long long)kept,
                 (long long)tried * PROMPTS);
}

Test(salvage, keeps_what_is_whole_however_much_is_cut_off)
{
    enum { CUT = 15001 * SANITIZED_STEP(3) };
    int64_t least = PROMPTS;
    for (size_t size = whole_bytes - 1; size > 0; size = size > CUT ? size - CUT : size / 2) {
        const int64_t prompts = prompts_kept(whole, size);
        cr_expect_lt(prompts, PROMPTS + 1);
        least = prompts < least ? prompts : least;
    }
    cr_expect_eq(least, -1);
    cr_expect_geq(prompts_kept(whole, whole_bytes - PAGE), PROMPTS - 2);
}

Test(salvage, reads_between_two_corrupted_pages)
{
    int64_t kept = 0;
    int tried = 0;
    for (size_t page = 30; page + 25 < whole_bytes / PAGE; page += 9 * SANITIZED_STEP(3)) {
        whole[page * PAGE + 100] ^= 1;
        whole[(page + 20) * PAGE + 100] ^= 1;
        const int64_t prompts = prompts_kept(whole, whole_bytes);
        whole[page * PAGE + 100] ^= 1;
        whole[(page + 20) * PAGE + 100] ^= 1;
        kept += prompts > 0 ? prompts : 0;
        tried++;
    }
    cr_expect_gt(kept, tried * PROMPTS / 3, "%lld of %d", (long long)kept, tried * PROMPTS);
}

static int64_t page_bytes_of(const char *name)
{
    struct store *store = NULL;
    cr_assert_eq(store_open(name, 0, &store), TAPML_OK, "%s", status_message());
    const int64_t bytes = number_of(store, "PRAGMA page_size");
    store_close(store);
    return bytes;
}

// Without its header nothing says how large they are.
Test(salvage, takes_pages_of_any_size)
{
    for (int size = 512; size <= 65536; size *= 2 * SANITIZED_STEP(4)) {
        clean();
        make(size);
        cr_expect_eq(page_bytes_of(path), size);
        whole[40] ^= 1;
        cr_expect_eq(prompts_kept(whole, whole_bytes), PROMPTS, "header of pages of %d", size);
        cr_expect_eq(page_bytes_of(path), size);
        whole[40] ^= 1;
        whole[16] ^= 1; // The size itself.
        cr_expect_eq(prompts_kept(whole, whole_bytes), PROMPTS, "size of pages of %d", size);
        whole[16] ^= 1;
        memset(whole, 0, (size_t)size);
        cr_expect_eq(prompts_kept(whole, whole_bytes), PROMPTS, "first page of %d", size);
    }
}

Test(salvage, keeps_what_is_whole_of_large_pages)
{
    clean();
    make(STORE_OPEN_PAGE_BYTES);
    int64_t kept = 0;
    int refused = 0;
    for (size_t page = 0; page < whole_bytes / STORE_OPEN_PAGE_BYTES;
         page += 2 * SANITIZED_STEP(3)) {
        const size_t at = page * STORE_OPEN_PAGE_BYTES + 17 + page * 31 % 4000;
        whole[at] ^= 8;
        const int64_t prompts = prompts_kept(whole, whole_bytes);
        whole[at] ^= 8;
        kept += prompts > 0 ? prompts : 0;
        refused += prompts < 0;
    }
    cr_expect_leq(refused, 1, "%d refused", refused); // The needed.
    cr_expect_gt(kept, PROMPTS);
}

Test(salvage, goes_on_where_it_was_killed)
{
    struct text told;
    char name[3 * SCRATCH_PATH];
    // While the new store was made: it starts over.
    snprintf(name, sizeof(name), "%s.salvage", path);
    keep(name, "half", 4);
    whole[PAGE * 20 + 9] ^= 1;
    keep(path, whole, whole_bytes);
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    cr_expect_gt(told.length, 0);
    cr_expect_not(file_exists(name));
    text_release(&told);
    const int64_t prompts = check_new();
    // When it was made, before the old one was moved away; with its log, and without.
    snprintf(name, sizeof(name), "%s.salvaged", path);
    cr_assert_eq(rename(path, name), 0);
    cr_assert_eq(rename(other, path), 0);
    char log[3 * SCRATCH_PATH];
    snprintf(log, sizeof(log), "%s-wal", path);
    keep(log, "a log", 5);
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    cr_expect_eq(told.length, 0);
    text_release(&told);
    cr_expect_eq(check_new(), prompts);
    expect_file(other, whole, whole_bytes);
    cr_expect_not(file_exists(name));
    // When the old one was moved, and the new one not yet.
    cr_assert_eq(rename(path, name), 0);
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    text_release(&told);
    cr_expect_eq(check_new(), prompts);
    // What was kept is kept: the next one gets another name.
    keep(path, whole, whole_bytes);
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    cr_expect_not_null(strstr(told.data, "a.tapmlrun.damaged-"), "%s", told.data);
    text_release(&told);
    expect_file(other, whole, whole_bytes);
}

Test(salvage, reads_the_log_of_a_damaged_store)
{
    struct text told;
    struct store *store = NULL;
    char log[3 * SCRATCH_PATH], copy[3 * SCRATCH_PATH];
    char *data = NULL;
    size_t size = 0;
    snprintf(log, sizeof(log), "%s-wal", path);
    snprintf(copy, sizeof(copy), "%s.log", path);
    cr_assert_eq(store_open(path, 0, &store), TAPML_OK);
    cr_assert_eq(metadata_set(store, "source", "there"), TAPML_OK);
    cr_assert_eq(file_read(log, 1 << 24, &data, &size), TAPML_OK); // As a killed host leaves it.
    store_close(store);
    whole[100] ^= 1;
    keep(path, whole, whole_bytes);
    keep(log, data, size);
    alloc_free(data);
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    cr_expect_gt(told.length, 0);
    text_release(&told);
    cr_assert_eq(store_open(path, 0, &store), TAPML_OK, "%s", status_message());
    cr_expect_str_eq(metadata_get(store, "source"), "there");
    store_close(store);
}

Test(salvage, reports_strangers_and_lost_causes_apart)
{
    struct text told;
    sqlite3 *connection = NULL;
    clean();
    cr_assert_eq(sqlite3_open(path, &connection), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(connection, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(connection);
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    cr_expect_eq(told.length, 0);
    text_release(&told);
    keep(path, "hello", 5);
    cr_assert_eq(salvage(&told), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "no page of it is whole; put back a copy"), "%s",
                       status_message());
    text_release(&told);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert_eq(salvage(&told), TAPML_INVALID);
    text_release(&told);
}

Test(salvage, says_that_there_is_no_room_and_leaves_all_as_it_was)
{
    struct text told;
    char name[3 * SCRATCH_PATH];
    struct rlimit limit;
    snprintf(name, sizeof(name), "%s.salvage", path);
    whole[PAGE * 20 + 9] ^= 1;
    keep(path, whole, whole_bytes);
    cr_assert_neq(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = whole_bytes / 2;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const tapml_status status = salvage(&told);
    limit.rlim_cur = soft;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_expect_eq(status, TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "ulimit -f"), "%s", status_message());
    text_release(&told);
    expect_file(path, whole, whole_bytes);
    cr_expect_not(file_exists(name));
    cr_expect_not(file_exists(other));
    cr_assert_eq(salvage(&told), TAPML_OK, "%s", status_message());
    cr_expect_gt(told.length, 0);
    text_release(&told);
    (void)check_new();
}
