// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "choose/case_price.h"
#include "harness/scratch.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/usage.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// A store of an earlier version: 80 cases with times on the target `gpu`, and no word of costs.
static struct scratch scratch;
static struct store *store;
static struct arena *arena;
static const struct choice_settings ALL = {.order = CHOICE_CARVED};

static void begin(void)
{
    char command[4 * SCRATCH_PATH];
    scratch_make(&scratch);
    (void)snprintf(command, sizeof(command), "cp %s %s && chmod u+w %s",
                   scratch_data("stores/version-9/run.tapmlrun"),
                   scratch_path(&scratch, "a.tapmlrun"), scratch_path(&scratch, "a.tapmlrun"));
    cr_assert_eq(system(command), 0);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(case_price, .init = begin, .fini = end);

static void add_usage(int64_t start_ns, const struct usage_cases *cases)
{
    MUST(store_begin(store));
    MUST(usage_write(store, &(struct usage_row){.place = "gpu",
                                                .device = "reference:f64",
                                                .driver = "",
                                                .rate = {.per_hour = 2, .currency = "USD"},
                                                .start_ns = start_ns,
                                                .held_ns = 1,
                                                .cases = *cases}));
    MUST(store_commit(store));
}

static void execute(const char *sql)
{
    cr_assert_eq(sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL), SQLITE_OK);
}

static struct case_price find(const struct choice_settings *settings)
{
    struct case_price price;
    MUST(case_price_find(store, "gpu", settings, arena, &price));
    return price;
}

Test(case_price, without_a_start_the_host_is_assumed)
{
    const struct case_price price = find(&ALL);
    cr_expect_eq(price.count, 80);
    cr_expect_eq(price.predicted, 0);
    cr_expect(isnan(price.factor));
    cr_expect(price.is_host_assumed);
    cr_expect_float_eq(price.host_s, CASE_PRICE_EACH_NS / 1e9, 1e-12);
    cr_expect_eq(price.transfer_s, 0);
    cr_expect_gt(price.call_s, 0);
    cr_expect_float_eq(price.work_s, 80 * (price.call_s + price.host_s), 1e-6);
    cr_expect(isnan(price.start_s));
    cr_expect_not(rate_is_known(&price.rate));
}

// Of 40 cases: 40 ms in all, in 24 of which there was work, in 16 calls.
Test(case_price, a_start_says_what_is_beside_the_calls)
{
    add_usage(5000000,
              &(struct usage_cases){
                  .count = 40, .whole_ns = 40000000, .busy_ns = 24000000, .calls_ns = 16000000});
    const struct case_price price = find(&ALL);
    cr_expect_not(price.is_host_assumed);
    cr_expect_float_eq(price.call_s, 16e-3 / 40, 1e-9, "calls are scaled to those of members");
    cr_expect_float_eq(price.host_s, 16e-3 / 40, 1e-12);
    cr_expect_float_eq(price.transfer_s, 8e-3 / 40, 1e-12);
    cr_expect_float_eq(price.work_s, 80 * (price.call_s + price.host_s + price.transfer_s), 1e-6);
    cr_expect_float_eq(price.start_s, 5e-3, 1e-12);
    cr_expect_eq(price.starts, 1);
    cr_expect_str_eq(price.device, "reference:f64");
    cr_expect_eq(price.rate.per_hour, 2);
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < price.count; i++) {
        least = fmin(least, price.seconds[i]);
        most = fmax(most, price.seconds[i]);
    }
    cr_expect_gt(most, least, "transfers go by bytes");
}

// Of 40 cases, 4 are the first of their op and take 3 ms each, the others 28 / 36.
Test(case_price, first_cases_are_a_part_of_the_start)
{
    add_usage(5000000, &(struct usage_cases){.count = 40,
                                             .whole_ns = 40000000,
                                             .busy_ns = 24000000,
                                             .calls_ns = 4000000,
                                             .firsts = 4,
                                             .firsts_ns = 12000000});
    const struct choice_settings few = {.order = CHOICE_CARVED,
                                        .budget = {.kind = BUDGET_CASES, .amount = 12}};
    const double each = 28e-3 / 36, first = 3e-3 - each;
    const struct case_price all = find(&ALL), some = find(&few);
    cr_expect_float_eq(all.work_s / (double)all.count, each, 1e-9);
    cr_expect_float_eq(all.firsts_s, (double)all.ops * first, 1e-9);
    cr_expect_float_eq(some.firsts_s, (double)some.ops * first, 1e-9);
    cr_expect_eq(some.count, 12);
    cr_expect_gt(all.ops, 4);
    cr_expect_leq(some.ops, all.ops);
    cr_expect_float_eq(all.start_s, 5e-3, 1e-12);
}

Test(case_price, a_start_that_measures_limits_says_nothing_of_the_host)
{
    add_usage(-1, &(struct usage_cases){.count = 40,
                                        .limits = 3,
                                        .whole_ns = 40000000000,
                                        .busy_ns = 24000000,
                                        .calls_ns = 16000000});
    const struct case_price price = find(&ALL);
    cr_expect(price.is_host_assumed);
    cr_expect_float_eq(price.transfer_s, 8e-3 / 40, 1e-12);
    cr_expect(isnan(price.start_s), "it had no call");
}

Test(case_price, the_start_is_the_median_on_the_same_device)
{
    execute(
        "INSERT INTO run VALUES ('a', '', '', 1), ('b', '', '', 1), ('c', '', '', 1);"
        "INSERT INTO usage VALUES"
        " ('a', 'gpu', 'x:0', '', NULL, '', 1, 9000000000, 9, 1, NULL, 0, 0, 0, 0, 0, 0, 0, 0),"
        " ('b', 'gpu', 'y:0', '', NULL, '', 2, 1000000000, 9, 1, NULL, 0, 0, 0, 0, 0, 0, 0, 0),"
        " ('c', 'gpu', 'y:0', '', NULL, '', 3, 2000000000, 9, 1, NULL, 0, 0, 0, 0, 0, 0, 0, 0)");
    const struct case_price price = find(&ALL);
    cr_expect_eq(price.starts, 2);
    cr_expect_eq(price.start_s, 2);
    cr_expect_str_eq(price.device, "y:0");
}

Test(case_price, cases_without_a_result_are_predicted)
{
    execute("DELETE FROM result WHERE case_id % 4 = 0");
    const struct case_price price = find(&ALL);
    cr_expect_eq(price.count, 80);
    cr_expect_eq(price.predicted, 20);
    cr_expect_geq(price.factor, 1);
    cr_expect_not(price.is_of_source);
}

Test(case_price, a_choice_is_priced_alone)
{
    struct choice_settings some = {.order = CHOICE_CARVED};
    MUST(budget_read("20", &some.budget));
    const struct case_price price = find(&some);
    cr_expect_eq(price.count, 20);
}

Test(case_price, what_is_not_known_is_refused)
{
    struct case_price price;
    cr_expect_eq(case_price_find(store, "npu", &ALL, arena, &price), TAPML_NOT_FOUND);
    execute("DELETE FROM result; DELETE FROM call");
    cr_expect_eq(case_price_find(store, "gpu", &ALL, arena, &price), TAPML_PRECONDITION);
    cr_expect(strstr(status_message(), "fewer than 16 times"), "%s", status_message());
}
