// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/look.h"

#include <criterion/criterion.h>

TestSuite(look, .init = open_store_begin, .fini = open_store_end);

static int64_t write_one(int64_t worse)
{
    int64_t id = 0;
    MUST(look_write(store,
                    &(struct look_row){.began_s = 10,
                                       .ended_s = 12,
                                       .cause = "run.ini changed",
                                       .fired = "identity: 3 of 9",
                                       .everything = 9,
                                       .stale = 3,
                                       .replayed = 2,
                                       .sampled = 1,
                                       .remaining = 1,
                                       .worse = worse,
                                       .better = 0},
                    &id));
    return id;
}

Test(look, rows_come_back_the_newest_first)
{
    struct look_row *rows = NULL;
    size_t count = 0;
    struct look_sums sums;
    cr_assert_eq(write_one(0), 1);
    cr_assert_eq(write_one(4), 2);
    MUST(look_list(store, arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect_eq(rows[0].id, 2);
    cr_expect_eq(rows[0].worse, 4);
    cr_expect_str_eq(rows[1].cause, "run.ini changed");
    cr_expect_str_eq(rows[1].fired, "identity: 3 of 9");
    cr_expect(rows[1].began_s == 10 && rows[1].ended_s == 12 && rows[1].everything == 9);
    cr_expect(rows[1].stale == 3 && rows[1].replayed == 2 && rows[1].sampled == 1);
    cr_expect_eq(rows[1].remaining, 1);
    MUST(look_sum(store, &sums));
    cr_expect(sums.looks == 2 && sums.everything == 18 && sums.replayed == 4 && sums.sampled == 2);
}

Test(look, what_was_not_told_is_tried_three_times)
{
    struct look_row *rows = NULL;
    size_t count = 0;
    (void)write_one(0); // Nothing has turned.
    const int64_t told = write_one(1), failing = write_one(2);
    MUST(look_list_untold(store, arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect_eq(rows[0].id, told);
    MUST(look_tell(store, told, 1));
    for (int i = 0; i < LOOK_TRIES; i++) {
        MUST(look_list_untold(store, arena, &rows, &count));
        cr_assert_eq(count, 1);
        cr_expect(rows[0].id == failing && rows[0].tries == i);
        MUST(look_tell(store, failing, 0));
    }
    MUST(look_list_untold(store, arena, &rows, &count));
    cr_expect_eq(count, 0);
}
