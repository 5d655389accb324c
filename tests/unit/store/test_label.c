// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/case.h"
#include "store/label.h"
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

TestSuite(label, .init = begin, .fini = end);

Test(label, a_case_is_named_and_found)
{
    struct carved_case item;
    int64_t id = 0;
    int has = 0;
    MUST(label_read(store, 9, arena, &item));
    cr_expect_str_eq(item.instance, "c");
    cr_expect_str_eq(item.op_name, "x.more");
    cr_expect_eq(item.op_version, 1);
    cr_expect_str_eq(item.phase, "prefill");
    cr_expect_eq(label_read(store, 10, arena, &item), TAPML_NOT_FOUND);
    item = (struct carved_case){.instance = "b", .prompt = {1, 2}, .step = 3};
    MUST(label_find(store, &item, &id, &has));
    cr_assert(has);
    cr_expect_eq(id, 8);
    item.part = 1;
    MUST(label_find(store, &item, &id, &has));
    cr_expect_not(has);
}
