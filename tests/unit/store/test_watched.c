// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/watched.h"
#include "three_cases.h"

#include <math.h>

TestSuite(watched, .init = begin, .fini = end);

static void write_row(const char *key, const char *verdict, double margin)
{
    MUST(watched_write(store, "gpu",
                       &(struct watched_row){.key = key,
                                             .op = "x.op",
                                             .verdict = verdict,
                                             .margin = margin,
                                             .time_ns = 7,
                                             .judged = 2,
                                             .turns = 1,
                                             .stale_s = 5}));
}

Test(watched, rows_are_found_by_their_keys)
{
    struct watched_row *rows = NULL;
    size_t count = 0;
    write_row("02", "pass", 0.5);
    write_row("01", "fail", 3);
    write_row("01", "error", NAN); // In the place of the first.
    MUST(watched_list(store, "gpu", arena, &rows, &count));
    cr_assert_eq(count, 2);
    const struct watched_row *row = watched_find(rows, count, "01");
    cr_assert_not_null(row);
    cr_expect_str_eq(row->verdict, "error");
    cr_expect(isnan(row->margin));
    cr_expect(row->time_ns == 7 && row->judged == 2 && row->turns == 1 && row->stale_s == 5);
    cr_expect_eq(watched_find(rows, count, "02")->margin, 0.5);
    cr_expect_null(watched_find(rows, count, "03"));
    MUST(watched_list(store, "other", arena, &rows, &count));
    cr_expect_eq(count, 0);
    cr_expect_null(watched_find(rows, count, "01"));
}

Test(watched, rows_of_cases_that_went_go_and_those_of_drivers_stay)
{
    struct watched_row *rows = NULL;
    size_t count = 0;
    write_row("01", "pass", 0);
    write_row("ff", "pass", 0);
    write_row(WATCHED_DRIVER, "pass", NAN);
    MUST(watched_prune(store));
    MUST(watched_list(store, "gpu", arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect_null(watched_find(rows, count, "ff"));
    cr_expect_not_null(watched_find(rows, count, WATCHED_DRIVER));
}
