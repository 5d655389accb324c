// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "choose/split.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 400, SHARDS = 8, KEY = 24 };

static char keys[ITEMS][KEY];
static struct split_item items[ITEMS];
static uint32_t shards[ITEMS];

// Costs over four orders of magnitude, and a tenth of the keys twice.
static void make(uint64_t seed)
{
    struct random random;
    random_init(&random, seed);
    for (size_t i = 0; i < ITEMS; i++) {
        uint64_t cost = 1 + random_below(&random, 10);
        for (uint64_t n = random_below(&random, 4); n > 0; n--) {
            cost *= 1 + random_below(&random, 10);
        }
        (void)snprintf(keys[i], KEY, "%zu", i % 10 == 9 ? i - 1 : i);
        items[i] = (struct split_item){.key = keys[i], .cost = cost};
    }
}

static void split(uint32_t count)
{
    cr_assert_eq(split_run(items, ITEMS, count, shards), TAPML_OK, "%s", status_message());
}

Test(split, the_heaviest_shard_is_near_the_mean)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t loads[SHARDS] = {0}, all = 0, heaviest = 0;
        make(seed);
        split(SHARDS);
        for (size_t i = 0; i < ITEMS; i++) {
            cr_assert_lt(shards[i], SHARDS);
            loads[shards[i]] += items[i].cost;
            all += items[i].cost;
        }
        for (size_t i = 0; i < SHARDS; i++) {
            heaviest = loads[i] > heaviest ? loads[i] : heaviest;
        }
        cr_expect_leq((double)heaviest * SHARDS / (double)all, 1.02, "seed %llu",
                      (unsigned long long)seed);
    }
}

Test(split, one_content_is_in_one_shard)
{
    make(1);
    split(SHARDS);
    for (size_t i = 9; i < ITEMS; i += 10) {
        cr_expect_eq(shards[i], shards[i - 1]);
    }
}

// A shard that reads rows in another order must not take cases of another one.
Test(split, the_order_of_the_items_does_not_matter)
{
    static struct split_item turned[ITEMS];
    static uint32_t found[ITEMS];
    make(2);
    split(SHARDS);
    for (size_t i = 0; i < ITEMS; i++) {
        turned[i] = items[ITEMS - 1 - i];
    }
    cr_assert_eq(split_run(turned, ITEMS, SHARDS, found), TAPML_OK);
    for (size_t i = 0; i < ITEMS; i++) {
        cr_expect_eq(found[i], shards[ITEMS - 1 - i], "item %zu", i);
    }
}

Test(split, what_costs_nothing_known_is_split_by_counts)
{
    size_t counts[7] = {0};
    make(3);
    for (size_t i = 0; i < ITEMS; i++) {
        items[i] = (struct split_item){.key = ""};
    }
    split_fill_costs(items, ITEMS);
    split(7);
    for (size_t i = 0; i < ITEMS; i++) {
        cr_expect_eq(items[i].cost, 1);
        counts[shards[i]]++;
    }
    for (size_t i = 0; i < 7; i++) {
        cr_expect(counts[i] == ITEMS / 7 || counts[i] == ITEMS / 7 + 1, "shard %zu has %zu", i,
                  counts[i]);
    }
}

Test(split, unknown_costs_are_the_mean_of_known_ones)
{
    struct split_item some[] = {{"a", 0, 10, 0}, {"b", 0, 0, 0}, {"c", 0, 30, 0}};
    split_fill_costs(some, 3);
    cr_expect_eq(some[0].cost, 10);
    cr_expect_eq(some[1].cost, 20);
    cr_expect_eq(some[2].cost, 30);
}

Test(split, more_shards_than_cases_leave_some_without)
{
    uint32_t found[3];
    const struct split_item some[] = {{"a", 0, 5, 0}, {"b", 0, 5, 0}, {"c", 0, 5, 0}};
    cr_assert_eq(split_run(some, 3, 1000, found), TAPML_OK);
    cr_expect(found[0] != found[1] && found[1] != found[2] && found[0] != found[2]);
    cr_assert_eq(split_run(some, 0, SPLIT_SHARDS_MAX, found), TAPML_OK);
    cr_assert_eq(split_run(some, 3, 1, found), TAPML_OK);
    cr_expect_eq(found[0] + found[1] + found[2], 0);
}

// Two classes whose setups weigh more than their items: each shard has one of them.
Test(split, a_class_stays_together_where_its_setup_is_dear)
{
    uint64_t loads[2];
    make(4);
    for (size_t i = 0; i < ITEMS; i++) {
        items[i] = (struct split_item){keys[i], i % 20 < 10, 1, 10 * ITEMS};
    }
    split(2);
    for (size_t i = 20; i < ITEMS; i++) {
        cr_expect_eq(shards[i], shards[i - 20], "item %zu", i);
    }
    cr_assert_eq(split_measure(items, ITEMS, shards, 2, loads), TAPML_OK);
    cr_expect_eq(loads[0], 10 * ITEMS + ITEMS / 2);
    cr_expect_eq(loads[1], loads[0]);
}
