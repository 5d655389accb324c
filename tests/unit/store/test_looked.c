// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/look.h"
#include "store/looked.h"
#include "store/watched.h"
#include "three_cases.h"

#include <math.h>

TestSuite(looked, .init = begin, .fini = end);

static int64_t write_look(void)
{
    int64_t id = 0;
    MUST(look_write(store, &(struct look_row){.cause = "", .fired = ""}, &id));
    return id;
}

static void write_row(int64_t look, const char *key, const char *after, double drift)
{
    MUST(looked_write(store, &(struct looked_row){.look = look,
                                                  .target = "gpu",
                                                  .key = key,
                                                  .op = "x.op",
                                                  .cause = LOOKED_CHANGE,
                                                  .stale_s = 5,
                                                  .before = "pass",
                                                  .after = after,
                                                  .time_ns = 7,
                                                  .drift = drift,
                                                  .time_ratio = NAN}));
}

Test(looked, rows_are_listed_by_look_and_a_case_has_one_in_each)
{
    struct looked_row *rows = NULL;
    size_t count = 0;
    const int64_t first = write_look(), second = write_look();
    write_row(second, "01", "fail", INFINITY);
    write_row(first, "02", "pass", NAN);
    write_row(first, "01", "error", NAN);
    write_row(first, "01", "pass", 2); // In the place of the one before.
    MUST(looked_list(store, arena, &rows, &count));
    cr_assert_eq(count, 3);
    cr_expect(rows[0].look == first && rows[0].drift == 2 && isnan(rows[0].time_ratio));
    cr_expect_str_eq(rows[0].key, "01");
    cr_expect_str_eq(rows[0].after, "pass");
    cr_expect_str_eq(rows[1].key, "02");
    cr_expect(rows[2].look == second && isinf(rows[2].drift));
    cr_expect_str_eq(rows[2].before, "pass");
    cr_expect_str_eq(rows[2].after, "fail");
    cr_expect_str_eq(rows[2].cause, LOOKED_CHANGE);
    cr_expect(rows[2].stale_s == 5 && rows[2].time_ns == 7);
}

Test(looked, watched_cases_that_went_have_a_row)
{
    struct looked_row *rows = NULL;
    size_t count = 0;
    const char *const keys[] = {"01", "ff", WATCHED_DRIVER};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        MUST(watched_write(
            store, "gpu",
            &(struct watched_row){
                .key = keys[i], .op = i < 2 ? "x.op" : "", .verdict = "fail", .margin = NAN}));
    }
    MUST(looked_write_gone(store, write_look()));
    MUST(looked_list(store, arena, &rows, &count));
    cr_assert_eq(count, 1, "the store has the first, and the last is a driver");
    cr_expect_str_eq(rows[0].key, "ff");
    cr_expect_str_eq(rows[0].cause, LOOKED_GONE);
    cr_expect_str_eq(rows[0].before, "fail");
    cr_expect_str_eq(rows[0].after, "");
}

Test(looked, rows_of_old_looks_go)
{
    struct looked_row *rows = NULL;
    size_t count = 0;
    write_row(write_look(), "01", "pass", NAN);
    MUST(looked_prune(store));
    MUST(looked_list(store, arena, &rows, &count));
    cr_expect_eq(count, 1, "there are not so many looks");
    execute("INSERT INTO look VALUES (1000, 0, 0, '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0),"
            " (1001, 0, 0, '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0),"
            " (2000, 0, 0, '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0)");
    write_row(1000, "01", "pass", NAN);
    write_row(1001, "01", "pass", NAN);
    write_row(2000, "01", "pass", NAN);
    MUST(looked_prune(store));
    MUST(looked_list(store, arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect(rows[0].look == 1001 && rows[1].look == 2000);
}
