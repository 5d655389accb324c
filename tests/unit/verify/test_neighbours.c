// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/neighbours.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct arena *arena;

// One case of one prompt, of which one call was kept and one was not.
static const char CASES[] = "INSERT INTO run VALUES ('r', 'host', 'machine', 1);"
                            "INSERT INTO prompt VALUES ('p', 2, 't', '[1]', '[2]', 'r');"
                            "INSERT INTO prompt VALUES ('q', NULL, 't', '[1]', NULL, 'r');"
                            "INSERT INTO \"case\" VALUES"
                            " (7, x'01', 'a', 'x.op', 1, 'decode', 'x=[1]', 'p', 3, 0, 1, 'r');"
                            "INSERT INTO call VALUES (1, 'a', 'p', 3, 0, 'decode', 'x=[1]', 40, 1);"
                            "INSERT INTO call VALUES (2, 'a', 'p', 4, 0, 'decode', 'x=[1]', 2, 0);"
                            "INSERT INTO weight VALUES ('w', 'bf16', 64, x'00');"
                            "INSERT INTO weight VALUES ('v', 'bf16', 32, x'00');";

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

TestSuite(neighbours, .init = begin, .fini = end);

Test(neighbours, verdicts_are_read_as_they_were_written)
{
    static struct element elements[] = {{.param = "y", .place = "0", .expected = 1, .computed = 2}};
    struct verdict made[] = {
        {.case_id = 7,
         .source = "uniform",
         .label = "zero",
         .kind = VERDICT_SKIPPED,
         .margin = NAN,
         .output = "",
         .reason = "it judges nothing"},
        {.case_id = 7,
         .source = "shape",
         .label = "out=33",
         .kind = VERDICT_FAIL,
         .margin = 4,
         .output = "y",
         .reason = "y[0] is 2",
         .elements = {.items = elements, .count = 1, .beyond = 1, .total = 33}},
    };
    struct verdict_list found = {.arena = arena};
    MUST(neighbours_write(store, "gpu",
                          &(struct verdict_list){.derived = made, .derived_count = 2}));
    MUST(neighbours_read(store, "gpu", &found));
    cr_assert_eq(found.derived_count, 2);
    cr_assert_eq(found.derived[0].kind, VERDICT_SKIPPED);
    cr_assert_str_eq(found.derived[0].label, "zero");
    cr_assert_eq(found.derived[1].kind, VERDICT_FAIL);
    cr_assert_str_eq(found.derived[1].op_name, "x.op");
    cr_assert_eq(found.derived[1].elements.total, 33);
    cr_assert_eq(found.derived[1].elements.items[0].computed, 2);
    arena = NULL; // The list owns it.
    verdict_list_release(&found);
}

Test(neighbours, verdicts_that_are_added_come_behind_the_others)
{
    struct verdict_list found = {.arena = arena};
    struct verdict made = {
        .case_id = 7, .source = "shape", .label = "a", .margin = NAN, .output = "", .reason = ""};
    const struct verdict_list one = {.derived = &made, .derived_count = 1};
    static const char *const labels[] = {"a", "b", "c"};

    for (size_t i = 0; i < 3; i++) {
        made.label = labels[i];
        MUST(neighbours_add(store, "gpu", &one));
    }
    MUST(neighbours_add(store, "other", &one));
    MUST(neighbours_read(store, "gpu", &found));
    cr_assert_eq(found.derived_count, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_str_eq(found.derived[i].label, labels[i]);
    }
    arena = NULL;
    verdict_list_release(&found);
}

Test(neighbours, an_unknown_verdict_is_refused)
{
    struct verdict_list found = {.arena = arena};
    cr_assert_eq(sqlite3_exec(store_connection(store),
                              "INSERT INTO derived VALUES"
                              " ('gpu', 0, 7, 'shape', 'l', 'maybe', 1, 'y', '', 0, 0, '')",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    cr_assert_eq(neighbours_read(store, "gpu", &found), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "maybe"));
    arena = NULL;
    verdict_list_release(&found);
}
