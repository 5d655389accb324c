// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "store/element.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct element items[] = {{"y", "0, 2", 3, INFINITY, 0}, {"y", "1, 1", 7, NAN, 0}};
static const struct element_list list = {.items = items, .count = 2, .beyond = 2, .total = 20};

Test(element, are_kept_with_their_result_and_go_with_it)
{
    struct scratch scratch;
    struct store *store = NULL;
    struct cases_silu made;
    struct element_list again = {0};
    struct arena *arena = arena_create();
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    cases_make_silu(&made, "s", 0);
    MUST(stored_case_add(store, &made.item));
    sqlite3 *connection = store_connection(store);
    static const char RESULT[] = "INSERT OR REPLACE INTO result SELECT 'gpu', 1, 'ran', "
                                 "'r', 5, 'x', 'd', 'v', '', 'q', 2, 20,"
                                 " id FROM run";
    cr_assert_eq(sqlite3_exec(connection, RESULT, NULL, NULL, NULL), SQLITE_OK);
    MUST(element_write(store, "gpu", 1, &list));
    MUST(element_read(store, "gpu", 1, arena, &again));
    cr_assert_eq(again.count, 2);
    cr_assert_str_eq(again.items[1].place, "1, 1");
    cr_assert(isinf(again.items[0].computed));
    cr_assert(isnan(again.items[1].computed));
    cr_assert_eq(sqlite3_exec(connection, RESULT, NULL, NULL, NULL), SQLITE_OK);
    MUST(element_read(store, "gpu", 1, arena, &again));
    cr_assert_eq(again.count, 0, "those of an earlier result are still there");
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

Test(element, a_copy_lives_in_its_own_arena)
{
    struct element_list copy;
    struct arena *arena = arena_create();
    MUST(element_copy(&list, arena, &copy));
    cr_expect_eq(copy.count, 2);
    cr_expect_eq(copy.beyond, 2);
    cr_expect_str_eq(copy.items[1].place, "1, 1");
    cr_expect_neq(copy.items[1].place, items[1].place);
    arena_destroy(arena);
}
