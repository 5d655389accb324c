// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/row.h"
#include "store/run_id.h"
#include "store/usage.h"

#include <math.h>

TestSuite(usage, .init = open_store_begin, .fini = open_store_end);

static struct usage_row made_row(const char *place, int64_t held_ns)
{
    return (struct usage_row){.place = place,
                              .device = "cpu:0",
                              .driver = "d, v",
                              .rate = {.per_hour = 2.5, .currency = "USD"},
                              .began_s = 7,
                              .start_ns = 3,
                              .held_ns = held_ns,
                              .busy_ns = 2,
                              .bytes = 9,
                              .cases = {.count = 4,
                                        .limits = 1,
                                        .whole_ns = 40,
                                        .busy_ns = 30,
                                        .calls_ns = 20,
                                        .bytes = 8,
                                        .firsts = 2,
                                        .firsts_ns = 15}};
}

static void write_row(const struct usage_row *row)
{
    MUST(store_begin(store));
    MUST(usage_write(store, row));
    MUST(store_commit(store));
}

Test(usage, a_row_of_a_start_and_place_takes_the_place_of_the_one_before)
{
    struct usage_row row = made_row("gpu", 10);
    struct usage_row *rows = NULL;
    size_t count = 0;
    write_row(&row);
    row.held_ns = 50;
    row.start_ns = row.bytes = -1;
    row.rate = rate_none();
    write_row(&row);
    row = made_row("source", 5);
    write_row(&row);
    MUST(usage_list(store, NULL, arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(rows[0].place, "gpu");
    cr_expect_eq(rows[0].held_ns, 50);
    cr_expect_eq(rows[0].start_ns, -1);
    cr_expect_eq(rows[0].bytes, -1);
    cr_expect_not(rate_is_known(&rows[0].rate));
    cr_expect_str_eq(rows[1].place, "source");
    cr_expect_eq(rows[1].rate.per_hour, 2.5);
    cr_expect_str_eq(rows[1].rate.currency, "USD");
    cr_expect_eq(rows[1].cases.count, 4);
    cr_expect_eq(rows[1].cases.limits, 1);
    cr_expect_eq(rows[1].cases.whole_ns, 40);
    cr_expect_eq(rows[1].cases.busy_ns, 30);
    cr_expect_eq(rows[1].cases.calls_ns, 20);
    cr_expect_eq(rows[1].cases.bytes, 8);
    cr_expect_eq(rows[1].cases.firsts, 2);
    cr_expect_eq(rows[1].cases.firsts_ns, 15);
    MUST(usage_list(store, "source", arena, &rows, &count));
    cr_assert_eq(count, 1);
    cr_expect_eq(rows[0].began_s, 7);
    MUST(usage_list(store, "none", arena, &rows, &count));
    cr_expect_eq(count, 0);
}

// A stranger's store may say anything.
Test(usage, what_no_host_writes_counts_as_nothing)
{
    struct usage_row *rows = NULL;
    size_t count = 0;
    MUST(store_begin(store));
    MUST(row_forget(store, "INSERT INTO run VALUES (?, '', '', 0)", "r"));
    MUST(
        row_forget(store,
                   "INSERT INTO usage VALUES (?, 'gpu', 'd', 'v', -3, 'USD', 0, -1, -5, -6, -7, -1,"
                   " -1, -1, -1, -1, -1, -1, -1)",
                   "r"));
    MUST(store_commit(store));
    MUST(usage_list(store, "gpu", arena, &rows, &count));
    cr_assert_eq(count, 1);
    cr_expect_not(rate_is_known(&rows[0].rate));
    cr_expect_eq(rows[0].held_ns, 0);
    cr_expect_eq(rows[0].cases.count, 0);
    cr_expect_eq(rows[0].cases.whole_ns, 0);
}

Test(usage, results_of_another_start_do_not_count)
{
    int64_t count = 7, calls_ns = 7;
    MUST(usage_count_results(store, "gpu", &count, &calls_ns));
    cr_expect_eq(count, 0);
    cr_expect_eq(calls_ns, 0);
    cr_expect_eq(run_id_is_made(store), 0, "asking has made a run");
    MUST(usage_count_limits(store, &count));
    cr_expect_eq(count, 0);
}
