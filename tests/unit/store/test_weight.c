// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/store.h"
#include "store/weight.h"

#include <tapml/backend.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

Test(weight, rows_come_by_name)
{
    static const float data[] = {1, 2, 3};
    struct scratch scratch;
    struct store *store = NULL;
    struct arena *arena = arena_create();
    struct weight_row *rows = NULL;
    size_t count = 0;
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    MUST(store_add_weight(store, "b", TAPML_F32, data, sizeof(data)));
    MUST(store_add_weight(store, "a", TAPML_U8, data, 4));
    MUST(weight_list(store, arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(rows[0].name, "a");
    cr_expect_str_eq(rows[0].dtype, "u8");
    cr_expect_eq(rows[0].bytes, 4);
    cr_expect_str_eq(rows[1].dtype, "f32");
    cr_expect(rows[1].has_key);
    cr_expect(!hash_equal(rows[0].key, rows[1].key));
    cr_assert_eq(
        sqlite3_exec(store_connection(store), "UPDATE weight SET key = x'00'", NULL, NULL, NULL),
        SQLITE_OK);
    MUST(weight_list(store, arena, &rows, &count));
    cr_expect(!rows[0].has_key);
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}
