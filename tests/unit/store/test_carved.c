// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/carved.h"
#include "store/store.h"
#include "store/store_open.h"

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

TestSuite(carved, .init = begin, .fini = end);

Test(carved, counts_and_origins_are_those_of_the_rows)
{
    struct carved_counts counts;
    struct carved_origin origin;
    int has = 0;
    MUST(carved_count(store, &counts));
    cr_assert_eq(counts.prompts, 1, "a prompt that is not carved to its end counts");
    cr_assert_eq(counts.calls, 2);
    cr_assert_eq(counts.time_ns, 42);
    cr_assert_eq(counts.cases, 1);
    MUST(carved_find_origin(store, 7, &origin, &has));
    cr_assert(has);
    cr_assert_eq(origin.prompt, 2);
    cr_assert_eq(origin.step, 3);
    cr_assert_eq(origin.tokens, 1);
    MUST(carved_find_origin(store, 8, &origin, &has));
    cr_assert_not(has);
}

Test(carved, a_key_is_reported_in_hexadecimal)
{
    char key[CARVED_KEY] = "?";
    MUST(carved_find_key(store, 7, key));
    cr_assert_str_eq(key, "01");
    MUST(carved_find_key(store, 8, key));
    cr_assert_str_eq(key, "");
}

static tapml_status expect(void *user, const char *name, uint64_t number)
{
    int *visits = user;
    cr_assert_str_eq(name, *visits == 0 ? "x.op" : "bf16");
    cr_assert_eq(number, *visits == 0 ? 40 : 96);
    ++*visits;
    return TAPML_OK;
}

Test(carved, times_are_of_kept_calls_and_weights_by_dtype)
{
    int visits = 0;
    MUST(carved_visit_times(store, expect, &visits));
    MUST(carved_visit_weights(store, expect, &visits));
    cr_assert_eq(visits, 2);
}

Test(carved, cases_of_an_op_are_listed_and_all_are_forgotten)
{
    struct carved_counts counts;
    int64_t *ids = NULL;
    size_t count = 0;
    MUST(carved_list_op(store, "x.op", arena, &ids, &count));
    cr_assert_eq(count, 1);
    cr_expect_eq(ids[0], 7);
    MUST(carved_list_op(store, "x.none", arena, &ids, &count));
    cr_expect_eq(count, 0);
    MUST(carved_forget(store));
    MUST(carved_count(store, &counts));
    cr_expect_eq(counts.cases, 0);
    cr_expect_eq(counts.calls, 0);
    cr_expect_eq(counts.prompts, 0);
}
