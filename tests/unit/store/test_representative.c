// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/representative.h"
#include "store/store.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct arena *arena;

static const char CASES[] =
    "INSERT INTO run VALUES ('r', 'host', 'machine', 1);"
    "INSERT INTO prompt VALUES ('00000000000000010000000000000002', 0, 't', '[1]', '[2]', 'r');"
    "INSERT INTO \"case\" VALUES (7, x'01', 'a', 'x.op', 1, 'decode', 'x=[1]',"
    " '00000000000000010000000000000002', 3, 0, 1, 'r');"
    "INSERT INTO \"case\" VALUES (8, x'02', 'b', 'x.op', 1, 'decode', 'x=[1]',"
    " '00000000000000010000000000000002', 3, 0, 1, 'r');"
    "INSERT INTO \"case\" VALUES (9, x'03', 'c', 'x.more', 1, 'prefill', 'x=[1]',"
    " '00000000000000010000000000000002', 0, 0, 1, 'r');"
    "INSERT INTO argument (case_id, position, param, kind, effects, dtype) VALUES"
    " (7, 0, 'x', 'in', '', 'f32'), (8, 0, 'x', 'in', '', 'f32'), (9, 0, 'x', 'in', '', 'f32');";

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    arena = arena_create();
    cr_assert_not_null(arena);
    cr_assert_eq(sqlite3_exec(store_connection(store), CASES, NULL, NULL, NULL), SQLITE_OK);
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(representative, .init = begin, .fini = end);

Test(representative, the_first_case_of_each_kind_stands_for_its_op)
{
    struct representative_group *groups = NULL;
    size_t count = 0;
    MUST(representative_list(store, arena, &groups, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(groups[0].op, "x.more");
    cr_expect_eq(groups[0].count, 1);
    cr_expect_eq(groups[0].ids[0], 9);
    cr_expect_str_eq(groups[1].op, "x.op");
    cr_assert_eq(groups[1].count, 1);
    cr_expect_eq(groups[1].ids[0], 7);
    cr_expect_eq(groups[1].version, 1);
    cr_expect_str_eq(groups[1].keys, "01 ");
}

Test(representative, another_dtype_is_another_kind)
{
    struct representative_group *groups = NULL;
    size_t count = 0;
    cr_assert_eq(sqlite3_exec(store_connection(store),
                              "UPDATE argument SET dtype = 'bf16' WHERE case_id = 8", NULL, NULL,
                              NULL),
                 SQLITE_OK);
    MUST(representative_list(store, arena, &groups, &count));
    cr_assert_eq(count, 2);
    cr_assert_eq(groups[1].count, 2);
    cr_expect_eq(groups[1].ids[1], 8);
    cr_expect_str_eq(groups[1].keys, "01 02 ");
}
