// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/cases.h"
#include "new_store.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

TestSuite(store, .init = make_store, .fini = remove_store);

Test(store, what_is_not_committed_never_was)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 0);
    cr_assert_eq(store_begin(store), TAPML_OK);
    (void)add(&silu.item);
    store_rollback(store);
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 0);
    cr_assert_eq(store_begin(store), TAPML_OK);
    (void)add(&silu.item);
    reopen(); // Without a commit.
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 0);
    cr_assert_eq(store_begin(store), TAPML_OK);
    (void)add(&silu.item);
    cr_assert_eq(store_commit(store), TAPML_OK);
    store_rollback(store); // Nothing is open: nothing happens.
    reopen();
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 1);
}

Test(store, a_reader_works_beside_a_writer)
{
    struct cases_silu silu;
    struct store *reader = NULL;
    int64_t *ids = NULL;
    size_t count = 9;
    cases_make_silu(&silu, "s", 0);
    cr_assert_eq(store_begin(store), TAPML_OK);
    (void)add(&silu.item);
    cr_assert_eq(store_open(path, 0, &reader), TAPML_OK);
    cr_assert_eq(stored_case_ids(reader, &ids, &count), TAPML_OK);
    cr_assert_eq(count, 0);
    cr_assert_eq(store_commit(store), TAPML_OK);
    cr_assert_eq(stored_case_ids(reader, &ids, &count), TAPML_OK);
    cr_assert_eq(count, 1);
    alloc_free(ids);
    store_close(reader);
}

Test(store, a_full_disk_is_named)
{
    struct cases_append append;
    cases_make_append(&append, "k", 0);
    execute("PRAGMA max_page_count = 1"); // Is raised to what the file has.
    tapml_status status = TAPML_OK;
    for (int i = 0; i < 1000 && status == TAPML_OK; i++) {
        append.item.step = i;
        append.before[0] = (float)i;
        status = stored_case_add(store, &append.item);
    }
    cr_assert_eq(status, TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "disk is full"), "%s", status_message());
}

Test(store, a_corrupted_page_is_named)
{
    cr_assert_eq(metadata_set(store, "a", "1"), TAPML_OK);
    store_close(store);
    store = NULL;
    FILE *file = fopen(path, "r+b");
    cr_assert_eq(fseek(file, 2 * STORE_OPEN_PAGE_BYTES + 4000, SEEK_SET), 0);
    const int byte = fgetc(file);
    cr_assert_eq(fseek(file, -1, SEEK_CUR), 0);
    cr_assert_neq(fputc(byte ^ 4, file), EOF);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(store_open(path, 0, &store), TAPML_OK, "%s", status_message());
    cr_assert_neq(sqlite3_exec(store_connection(store), "PRAGMA integrity_check", NULL, NULL, NULL),
                  SQLITE_OK);
    cr_assert_eq(store_fail(store, SQLITE_IOERR, "looking"), TAPML_INVALID);
    cr_assert_not_null(
        strstr(status_message(), "is damaged in page 3, found while looking; 'tapml-host"), "%s",
        status_message());
}
