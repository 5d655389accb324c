// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/derived.h"
#include "store/store.h"
#include "store/store_open.h"

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

TestSuite(derived, .init = begin, .fini = end);

Test(derived, rows_are_read_as_they_were_written)
{
    static struct element elements[] = {{"y", "3, 1", 1, 2, 0.5}, {"y", "3, 2", 1, NAN, 0}};
    const struct derived_row rows[] = {
        {.case_id = 7,
         .source = "uniform",
         .label = "uniform",
         .verdict = "pass",
         .output = "y",
         .reason = "",
         .margin = NAN,
         .basis = "0a"},
        {.case_id = 7,
         .source = "shape",
         .label = "out=33",
         .verdict = "fail",
         .output = "y",
         .reason = "it differs",
         .margin = 9,
         .elements = {.items = elements, .count = 2, .beyond = 2, .total = 33},
         .basis = "0b"},
    };
    struct derived_row *found = NULL;
    size_t count = 0;
    MUST(derived_replace(store, "gpu", rows, 1));
    MUST(derived_replace(store, "gpu", rows, 2));
    MUST(derived_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].source, "uniform");
    cr_assert(isnan(found[0].margin));
    cr_assert_str_eq(found[0].basis, "0a");
    cr_assert_str_eq(found[1].basis, "0b");
    cr_assert_eq(found[0].elements.count, 0);
    cr_assert_str_eq(found[1].instance, "a");
    cr_assert_str_eq(found[1].phase, "decode");
    cr_assert_str_eq(found[1].reason, "it differs");
    cr_assert_eq(found[1].elements.total, 33);
    cr_assert_eq(found[1].elements.count, 2);
    cr_assert_str_eq(found[1].elements.items[0].place, "3, 1");
    cr_assert(isnan(found[1].elements.items[1].computed));
    MUST(derived_forget(store, "gpu"));
    MUST(derived_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 0);
}
