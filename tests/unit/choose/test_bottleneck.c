// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/bottleneck.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MS = 1000000 };

static struct bottleneck_run run;
static struct stage_row own[8], rows[2][24];

static void begin(void)
{
    memset(&run, 0, sizeof(run));
    run.own = (struct bottleneck_rows){"", own, 0};
}

TestSuite(bottleneck, .init = begin);

// Of a row in which times are milliseconds.
static void put(struct bottleneck_rows *to, struct stage_row *at, struct stage_row row)
{
    row.wall_ns *= MS;
    row.waiting_ns *= MS;
    at[to->count++] = row;
}

#define OWN(...)        put(&run.own, own, (struct stage_row){__VA_ARGS__})
#define ON(index_, ...) put(&run.targets[index_], rows[index_], (struct stage_row){__VA_ARGS__})

static void add_target(const char *name)
{
    run.targets[run.target_count] = (struct bottleneck_rows){name, rows[run.target_count], 0};
    run.target_count++;
}

static struct bottleneck find(void)
{
    struct bottleneck found;
    cr_assert(bottleneck_find(&run, &found));
    return found;
}

static double ms(uint64_t ns)
{
    return (double)ns / MS;
}

Test(bottleneck, without_rows_there_is_none)
{
    struct bottleneck found;
    cr_expect_not(bottleneck_find(&run, &found));
}

Test(bottleneck, a_disk_that_is_waited_for_leaves_what_the_host_does)
{
    add_target("gpu");
    OWN("open", "other", 0, 0, 100, 0);
    ON(0, "replay", "read", 50, 4096, 1000, 900);
    ON(0, "replay", "device", 100, 0, 200, 200);
    const struct bottleneck found = find();
    cr_expect_str_eq(found.stage, "read");
    cr_expect_str_eq(found.target, "");
    cr_expect_str_eq(found.phase, "replay");
    cr_expect_eq(found.bound, BOTTLENECK_WAITING);
    cr_expect_eq(found.remedy, BOTTLENECK_NOTHING);
    cr_expect_float_eq(ms(found.elapsed_ns), 1300, 1e-6);
    cr_expect_float_eq(ms(found.without_ns), 400, 1e-6);
}

Test(bottleneck, pages_that_are_read_again_want_a_cache)
{
    add_target("gpu");
    OWN("pipeline", "store", 0, 4 << 20, 0, 0);
    ON(0, "replay", "read", 50, 8 << 20, 1000, 1000);
    const struct bottleneck found = find();
    cr_expect_eq(found.bound, BOTTLENECK_MEMORY);
    cr_expect_eq(found.remedy, BOTTLENECK_CACHE);
    cr_expect_eq(found.amount, 5);
    cr_expect_float_eq(ms(found.remedied_ns), 500, 1e-6);
}

Test(bottleneck, a_device_is_a_bound_that_nothing_is_set_against)
{
    add_target("gpu");
    ON(0, "replay", "device", 100, 0, 900, 900);
    ON(0, "replay", "compare", 100, 0, 100, 0);
    const struct bottleneck found = find();
    cr_expect_str_eq(found.stage, "device");
    cr_expect_str_eq(found.target, "gpu");
    cr_expect_eq(found.bound, BOTTLENECK_DEVICE);
    cr_expect_eq(found.remedy, BOTTLENECK_NOTHING);
    cr_expect_not(found.is_guess);
}

Test(bottleneck, in_windows_a_replay_is_never_shorter_than_its_device)
{
    add_target("gpu");
    ON(0, "replay", "compare", 100, 0, 900, 0);
    ON(0, "replay", "device", 10, 0, 100, 100);
    ON(0, "pipeline", "windows", 10, 0, 600, 0);
    ON(0, "pipeline", "cases", 100, 0, 0, 0);
    const struct bottleneck found = find();
    cr_expect_str_eq(found.stage, "compare");
    cr_expect_float_eq(ms(found.without_ns), 600, 1e-6);
}

Test(bottleneck, the_way_to_a_worker_is_paid_for_each_window)
{
    add_target("gpu");
    ON(0, "replay", "device", 300, 0, 3000, 3000);
    ON(0, "replay", "compare", 100, 0, 100, 0);
    ON(0, "pipeline", "isolated", 1, 0, 0, 0);
    ON(0, "pipeline", "cases", 100, 0, 0, 0);
    ON(0, "pipeline", "ops", 4, 0, 0, 0);
    ON(0, "pipeline", "calls", 100, 0, 50, 0);
    ON(0, "pipeline", "could be more", 1, 0, 0, 0);
    ON(0, "pipeline", "round trip", 1, 0, 9, 0);
    const struct bottleneck found = find();
    cr_expect_str_eq(found.stage, "launch");
    cr_expect_eq(found.bound, BOTTLENECK_LATENCY);
    cr_expect_eq(found.remedy, BOTTLENECK_AHEAD);
    cr_expect_eq(found.amount, 16);
    // 4 cases alone are 124; 14 windows are 126, in which the device has 288.
    cr_expect_float_eq(ms(found.remedied_ns), 124 + 126 + 288, 1e-6);
}

// 50 waits are for other things, and stay.
Test(bottleneck, larger_windows_save_the_ways_of_fewer)
{
    add_target("gpu");
    ON(0, "replay", "device", 100, 0, 1000, 1000);
    ON(0, "replay", "compare", 100, 0, 100, 0);
    ON(0, "pipeline", "isolated", 1, 0, 0, 0);
    ON(0, "pipeline", "cases", 100, 0, 0, 0);
    ON(0, "pipeline", "ops", 4, 0, 0, 0);
    ON(0, "pipeline", "windows", 50, 0, 200, 0);
    ON(0, "pipeline", "could be more", 1, 0, 0, 0);
    ON(0, "pipeline", "round trip", 1, 0, 9, 0);
    const struct bottleneck found = find();
    cr_expect_eq(found.remedy, BOTTLENECK_AHEAD);
    cr_expect_float_eq(ms(found.remedied_ns), 1100 - (50 - 14) * 9, 1e-6);
}

Test(bottleneck, a_worker_that_is_slow_in_its_calls_is_a_device)
{
    add_target("gpu");
    ON(0, "replay", "device", 300, 0, 3000, 3000);
    ON(0, "pipeline", "isolated", 1, 0, 0, 0);
    ON(0, "pipeline", "calls", 100, 0, 1400, 0);
    ON(0, "pipeline", "could be more", 1, 0, 0, 0);
    cr_expect_str_eq(find().stage, "device");
    rows[0][2].wall_ns = 100 * MS; // What is left is what goes to it.
    cr_expect_str_eq(find().stage, "upload");
}

Test(bottleneck, targets_in_turn_could_be_side_by_side)
{
    add_target("a");
    add_target("b");
    OWN("carve", "source", 10, 0, 100, 100);
    ON(0, "replay", "device", 10, 0, 1000, 1000);
    ON(1, "replay", "device", 10, 0, 1000, 1000);
    struct bottleneck found = find();
    cr_expect_str_eq(found.stage, "turns");
    cr_expect_eq(found.remedy, BOTTLENECK_SIDE_BY_SIDE);
    cr_expect_float_eq(ms(found.remedied_ns), 1000, 1e-6);
    OWN("pipeline", "side by side", 2, 0, 0, 0);
    cr_expect_float_eq(ms(bottleneck_elapsed_ns(&run)), 100, 1e-6);
    found = find();
    cr_expect_str_neq(found.stage, "turns");
    cr_expect(found.is_guess);
}

Test(bottleneck, a_source_is_a_bound_that_one_target_cannot_hide)
{
    add_target("gpu");
    OWN("carve", "source", 10, 0, 1000, 900);
    OWN("carve", "other", 10, 0, 100, 0);
    ON(0, "replay", "device", 10, 0, 300, 300);
    const struct bottleneck found = find();
    cr_expect_str_eq(found.stage, "source");
    cr_expect_eq(found.bound, BOTTLENECK_DEVICE);
    cr_expect_float_eq(ms(found.without_ns), 400, 1e-6);
    cr_expect_eq(found.remedy, BOTTLENECK_NOTHING);
}

Test(bottleneck, a_phase_without_stages_has_its_own_name)
{
    OWN("load", "other", 0, 0, 500, 20);
    const struct bottleneck found = find();
    cr_expect_str_eq(found.stage, "load");
    cr_expect_eq(found.bound, BOTTLENECK_PROCESSOR);
    cr_expect_str_eq(bottleneck_bound_name(found.bound), "processor");
}

Test(bottleneck, a_budget_is_a_guess)
{
    add_target("gpu");
    ON(0, "offload", "upload", 10, 10 << 20, 900, 900);
    ON(0, "pipeline", "budget", 0, 1 << 20, 0, 0);
    const struct bottleneck found = find();
    cr_expect_str_eq(found.stage, "upload");
    cr_expect_eq(found.bound, BOTTLENECK_MEMORY);
    cr_expect_eq(found.remedy, BOTTLENECK_NO_BUDGET);
    cr_expect(found.is_guess);
}
