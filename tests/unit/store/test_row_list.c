// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/row_list.h"

TestSuite(row_list, .init = open_store_begin, .fini = open_store_end);

static int take(struct arena *own, struct row *row, void *out_item)
{
    cr_assert_eq(own, arena);
    cr_assert_eq(*(int64_t *)out_item, 0);
    *(int64_t *)out_item = row_i64(row, 0);
    return row_i64(row, 0) != 99;
}

#define UP_TO "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "

static tapml_status
read_list(const char *sql, const char *key, int64_t **out_items, size_t *out_count)
{
    const struct row_list list = {.sql = sql, .key = key, .item_bytes = 8, .take = take};
    void *items = NULL;
    const tapml_status status = row_list_read(store, &list, arena, &items, out_count);
    *out_items = items;
    return status;
}

Test(row_list, all_rows_are_there_in_their_order)
{
    int64_t *items = NULL;
    size_t count = 7;
    MUST(read_list("SELECT 1 WHERE ? = 'b'", "a", &items, &count));
    cr_assert_eq(count, 0);
    cr_assert_not_null(items);
    MUST(read_list(UP_TO "90) SELECT i FROM n", NULL, &items, &count));
    cr_assert_eq(count, 90);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(items[i], (int64_t)i + 1);
    }
}

Test(row_list, no_memory_for_an_item_is_a_failure)
{
    int64_t *items = NULL;
    size_t count = 0;
    cr_assert_eq(read_list(UP_TO "100) SELECT i FROM n", NULL, &items, &count), TAPML_NO_MEMORY);
}
