// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store of all cases, and one that has the later ones alone.
#include "judged_store.h"
#include "store/merge.h"
#include "verify/first_limits.h"

enum { CASES = 4 };

static struct store *whole;

static void begin(void)
{
    char own[2 * SCRATCH_PATH];
    judged_store_begin();
    for (int i = 0; i < CASES; i++) {
        add_silu("layers.0/s", i, 0);
        add_norm("layers.1/n", i, 0);
    }
    store_close(store);
    MUST(store_open_to_read(path, &whole));
    (void)snprintf(own, sizeof(own), "%s", scratch_path(&scratch, "own.tapmlrun"));
    MUST(store_open(own, 1, &store));
}

static void end(void)
{
    store_close(whole);
    judged_store_end();
}

TestSuite(first_limits, .init = begin, .fini = end, .timeout = 110);

static void report(void *user, const char *sentence)
{
    (void)user;
    cr_assert_fail("%s", sentence);
}

static void take_last(void)
{
    const int64_t ids[] = {2 * CASES - 1, 2 * CASES};
    struct merge_counts counts;
    MUST(merge_share(store, whole, &(struct merge_ids){.items = ids, .count = 2}, report, NULL,
                     &counts));
    cr_assert_eq(counts.cases, 2);
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 2);
}

static double limit_of(const char *op)
{
    char sql[128];
    (void)snprintf(sql, sizeof(sql),
                   "SELECT CAST(max(nmse, row_error, ulp) * 1e12 AS INTEGER) FROM \"limit\" "
                   "WHERE op = '%s'",
                   op);
    return (double)number_of(sql);
}

// What one process would have found, whose first case it is.
Test(first_limits, limits_are_those_of_the_first_case_of_all)
{
    struct backend *target = plugin_fixture_backend(&plugins, "reference:f32-blocked");
    struct verdict_options options = options_for(target);
    struct verdict_list list;

    take_last();
    MUST(first_limits_settle(&options, whole));
    const double norm = limit_of("tapml.rms_norm");
    cr_assert_gt(norm, 0);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 0);
    list = judge(&options);
    cr_expect_eq(list.count, 2);
    verdict_list_release(&list);
    cr_expect_eq(limit_of("tapml.rms_norm"), norm, "the own case was calibrated too");

    // The whole store judged by itself has the same.
    struct store *own = store;
    MUST(store_open(path, 0, &store));
    options.store = store;
    list = judge(&options);
    verdict_list_release(&list);
    cr_expect_eq(limit_of("tapml.rms_norm"), norm);
    store_close(store);
    store = own;
    backend_release(target);
}

Test(first_limits, what_is_known_is_not_measured_again)
{
    const struct verdict_options options = options_for(exact);
    take_last();
    MUST(first_limits_settle(&options, whole));
    execute("UPDATE \"limit\" SET row_error = 0.25, nmse = 0.25");
    MUST(first_limits_settle(&options, whole));
    cr_expect_eq(number_of("SELECT count(*) FROM \"limit\" WHERE row_error <> 0.25"), 0);
}
