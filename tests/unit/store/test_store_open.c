// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/file.h"
#include "harness/cases.h"
#include "new_store.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(store_open, .init = make_store, .fini = remove_store);

static void expect_refused(const char *file, int create, tapml_status code, const char *message)
{
    struct store *other = NULL;
    cr_expect_eq(store_open(file, create, &other), code, "%s: %s", file, status_message());
    cr_expect_not_null(strstr(status_message(), message), "%s", status_message());
    cr_expect_not_null(strstr(status_message(), file), "%s", status_message());
    store_close(other);
}

Test(store_open, what_is_no_store_is_refused)
{
    char file[2 * SCRATCH_PATH];
    snprintf(file, sizeof(file), "%s", scratch_path(&scratch, "absent"));
    expect_refused(file, 0, TAPML_NOT_FOUND, "no store");
    snprintf(file, sizeof(file), "%s", scratch_text(&scratch, "text", "hello, hello, hello\n"));
    expect_refused(file, 0, TAPML_INVALID, "damaged");
    expect_refused(file, 1, TAPML_INVALID, "damaged");
    snprintf(file, sizeof(file), "%s", scratch_text(&scratch, "empty", ""));
    expect_refused(file, 0, TAPML_INVALID, "no store");
    snprintf(file, sizeof(file), "%s/none/a.tapmlrun", scratch.folder);
    expect_refused(file, 1, TAPML_UNAVAILABLE, "unable to open");
    sqlite3 *other = NULL;
    snprintf(file, sizeof(file), "%s", scratch_path(&scratch, "other.db"));
    cr_assert_eq(sqlite3_open(file, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "CREATE TABLE x (y)", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_close(other), SQLITE_OK);
    expect_refused(file, 1, TAPML_INVALID, "no store");
}

// Reads as the shell of SQLite does, as long as the parent lives: a log and what is shared for it
// come and go.
static void read_again_and_again(pid_t parent)
{
    while (getppid() == parent) {
        sqlite3 *connection = NULL;
        (void)sqlite3_open(path, &connection);
        (void)sqlite3_exec(connection, "SELECT count(*) FROM metadata", NULL, NULL, NULL);
        (void)sqlite3_close(connection);
        (void)usleep(1000);
    }
}

Test(store_open, what_comes_and_goes_beside_a_store_hinders_no_reader)
{
    enum { TIMES = 400 }; // Of which a host that does not look again fails some.
    store_close(store);
    store = NULL;
    const pid_t parent = getpid();
    const pid_t reader = fork();
    if (reader == 0) {
        read_again_and_again(parent);
        _exit(0);
    }
    for (int i = 0; i < TIMES; i++) {
        struct store *other = NULL;
        MUST(store_open_to_read(path, &other));
        store_close(other);
    }
    cr_expect_eq(kill(reader, SIGKILL), 0);
    cr_expect_eq(waitpid(reader, NULL, 0), reader);
}

Test(store_open, another_version_is_refused)
{
    char pragma[64], version[32];
    snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", STORE_VERSION + 1);
    snprintf(version, sizeof(version), "version %d", STORE_VERSION + 1);
    execute(pragma);
    expect_refused(path, 0, TAPML_INVALID, version);
    execute("PRAGMA user_version = 1");
    expect_refused(path, 0, TAPML_INVALID, "version 1");
    execute("PRAGMA user_version = 2");
    expect_refused(path, 0, TAPML_INVALID, "a store of version 2 has");
}

Test(store_open, triggers_and_views_are_refused)
{
    execute("CREATE TRIGGER evil AFTER INSERT ON result BEGIN DELETE FROM \"case\"; END");
    expect_refused(path, 0, TAPML_INVALID, "triggers");
    execute("DROP TRIGGER evil");
    execute("CREATE VIEW evil AS SELECT 1");
    expect_refused(path, 0, TAPML_INVALID, "views");
}

Test(store_open, a_damaged_file_is_named)
{
    struct cases_append append;
    cases_make_append(&append, "k", 0);
    for (int i = 0; i < 50; i++) {
        append.item.step = i;
        (void)add(&append.item);
    }
    store_close(store);
    store = NULL;
    FILE *file = fopen(path, "r+b");
    cr_assert_not_null(file);
    cr_assert_eq(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    static const char NOISE[STORE_OPEN_PAGE_BYTES] = {5, 9, 1};
    for (long at = STORE_OPEN_PAGE_BYTES; at + STORE_OPEN_PAGE_BYTES <= size;
         at += STORE_OPEN_PAGE_BYTES) {
        cr_assert_eq(fseek(file, at, SEEK_SET), 0);
        cr_assert_eq(fwrite(NOISE, 1, sizeof(NOISE), file), sizeof(NOISE));
    }
    cr_assert_eq(fclose(file), 0);
    int64_t *ids = NULL;
    size_t count = 0;
    struct store *other = NULL;
    tapml_status status = store_open(path, 0, &other);
    if (status == TAPML_OK) {
        status = stored_case_ids(other, &ids, &count);
    }
    cr_assert_eq(status, TAPML_INVALID, "%s", status_message());
    cr_assert_not_null(strstr(status_message(), path), "%s", status_message());
    store_close(other);
}

static tapml_status open_and_close(void)
{
    struct store *other = NULL;
    TAPML_TRY(store_open(path, 1, &other));
    store_close(other);
    return TAPML_OK;
}

Test(store_open, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(open_and_close());
}

Test(store_open, is_read_beside_a_writer_and_after_it)
{
    struct store *reader = NULL;
    cr_assert_eq(metadata_set(store, "a", "1"), TAPML_OK);
    cr_assert_eq(store_begin(store), TAPML_OK);
    cr_assert_eq(metadata_set(store, "a", "2"), TAPML_OK);
    cr_assert_eq(store_open_to_read(path, &reader), TAPML_OK, "%s", status_message());
    cr_assert_eq(store_begin_to_read(reader), TAPML_OK);
    cr_assert_str_eq(metadata_get(reader, "a"), "1");
    cr_assert_eq(store_commit(store), TAPML_OK);
    cr_assert_str_eq(metadata_get(reader, "a"), "1"); // As it was at that moment.
    store_rollback(reader);
    cr_assert_str_eq(metadata_get(reader, "a"), "2");
    cr_assert_neq(metadata_set(reader, "a", "3"), TAPML_OK);
    store_close(reader);
    store_close(store);
    store = NULL;
    cr_assert_eq(store_open_to_read(path, &reader), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(metadata_get(reader, "a"), "2");
    cr_assert_eq(access(scratch_path(&scratch, "a.tapmlrun-wal"), F_OK), -1, "it left a log");
    store_close(reader);
}

static void copy_file(const char *from, const char *to)
{
    char *data = NULL;
    size_t size = 0;
    cr_assert_eq(file_read(from, 64 << 20, &data, &size), TAPML_OK, "%s", status_message());
    cr_assert_eq(file_write(to, data, size), TAPML_OK, "%s", status_message());
    alloc_free(data);
}

static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *list = opendir(folder);
    cr_assert_not_null(list);
    while (readdir(list)) {
        count++;
    }
    closedir(list);
    return count;
}

// As after a host was killed and its folder copied: the log has what is not in the file yet.
Test(store_open, a_reader_makes_no_file_beside_a_log)
{
    struct store *reader = NULL;
    char folder[SCRATCH_PATH + 16], to[SCRATCH_PATH + 64], from[2 * SCRATCH_PATH + 8];
    cr_assert_eq(metadata_set(store, "a", "1"), TAPML_OK);
    snprintf(folder, sizeof(folder), "%s/copy", scratch.folder);
    cr_assert_eq(mkdir(folder, 0700), 0);
    snprintf(to, sizeof(to), "%s/b.tapmlrun-wal", folder);
    snprintf(from, sizeof(from), "%s-wal", path);
    copy_file(from, to);
    to[strlen(to) - strlen("-wal")] = '\0';
    copy_file(path, to);
    const size_t before = count_files(folder);
    cr_assert_eq(store_open_to_read(to, &reader), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(metadata_get(reader, "a"), "1");
    cr_assert_neq(metadata_set(reader, "a", "2"), TAPML_OK);
    cr_assert_eq(count_files(folder), before);
    store_close(reader);
    cr_assert_eq(count_files(folder), before);
}

static void expect_refused_link(tapml_status code, struct store *opened)
{
    cr_assert_neq(code, TAPML_OK);
    cr_assert_null(opened);
    cr_assert_not_null(strstr(status_message(), "b.tapmlrun"), "%s", status_message());
}

Test(store_open, links_are_not_followed)
{
    struct store *other = NULL;
    char link_path[SCRATCH_PATH + 64], log_path[SCRATCH_PATH + 64];
    snprintf(link_path, sizeof(link_path), "%s/b.tapmlrun", scratch.folder);
    snprintf(log_path, sizeof(log_path), "%s/b.tapmlrun-wal", scratch.folder);
    cr_assert_eq(symlink(path, link_path), 0);
    expect_refused_link(store_open(link_path, 0, &other), other);
    expect_refused_link(store_open(link_path, 1, &other), other);
    expect_refused_link(store_open_to_read(link_path, &other), other);
    cr_assert_eq(unlink(link_path), 0);

    // Nor is the log, where a store is made beside one.
    cr_assert_eq(symlink(scratch_path(&scratch, "elsewhere"), log_path), 0);
    cr_assert_neq(store_open(link_path, 1, &other), TAPML_NO_MEMORY);
    store_close(other);
    other = NULL;
    cr_assert_eq(access(scratch_path(&scratch, "elsewhere"), F_OK), -1);

    // Folders on the way may be links.
    snprintf(link_path, sizeof(link_path), "%s/to", scratch.folder);
    cr_assert_eq(symlink(scratch.folder, link_path), 0);
    snprintf(link_path, sizeof(link_path), "%s/to/a.tapmlrun", scratch.folder);
    cr_assert_eq(store_open_to_read(link_path, &other), TAPML_OK, "%s", status_message());
    store_close(other);
}
