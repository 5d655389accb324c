// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/random.h"
#include "offload/bisect.h"

#include <criterion/criterion.h>

enum { MEMBERS = 100 };

// A set fails where it holds all culprits.
struct culprits {
    uint32_t items[4];
    size_t count;
    size_t tests;
    size_t stop_at; // The test that is interrupted; 0: none.
};

static int holds(const uint32_t *members, size_t count, uint32_t wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (members[i] == wanted) {
            return 1;
        }
    }
    return 0;
}

static tapml_status test_set(void *user, const uint32_t *members, size_t count, int *out_fails)
{
    struct culprits *culprits = user;

    culprits->tests++;
    if (culprits->tests == culprits->stop_at) {
        return TAPML_CANCELLED;
    }
    *out_fails = 1;
    for (size_t i = 0; i < culprits->count; i++) {
        *out_fails = *out_fails && holds(members, count, culprits->items[i]);
    }
    return TAPML_OK;
}

static size_t minimise(uint32_t *members, struct culprits *culprits)
{
    size_t count = MEMBERS;

    for (uint32_t i = 0; i < MEMBERS; i++) {
        members[i] = i;
    }
    cr_assert_eq(bisect_minimise(members, &count, test_set, culprits), TAPML_OK);
    return count;
}

Test(bisect, finds_one_culprit_wherever_it_is)
{
    uint32_t members[MEMBERS];

    for (uint32_t at = 0; at < MEMBERS; at += 9) {
        struct culprits culprits = {.items = {at}, .count = 1};

        cr_assert_eq(minimise(members, &culprits), 1u);
        cr_assert_eq(members[0], at);
        cr_assert_lt(culprits.tests, 20u, "a single one takes a binary search");
    }
}

Test(bisect, finds_culprits_that_fail_together_only)
{
    uint32_t members[MEMBERS];
    struct random random;

    random_init(&random, 7);
    for (int round = 0; round < 50; round++) {
        struct culprits culprits = {.count = 3};

        for (uint32_t i = 0; i < 3; i++) {
            culprits.items[i] = i * 33 + (uint32_t)random_below(&random, 33);
        }
        cr_assert_eq(minimise(members, &culprits), 3u);
        for (uint32_t i = 0; i < 3; i++) {
            cr_assert(holds(members, 3, culprits.items[i]));
        }
    }
}

Test(bisect, a_single_member_needs_no_test)
{
    uint32_t member = 5;
    size_t count = 1;
    struct culprits culprits = {.items = {5}, .count = 1};

    cr_assert_eq(bisect_minimise(&member, &count, test_set, &culprits), TAPML_OK);
    cr_assert_eq(count, 1u);
    cr_assert_eq(culprits.tests, 0u);
}

Test(bisect, an_interruption_ends_it)
{
    uint32_t members[MEMBERS];
    size_t count = MEMBERS;
    struct culprits culprits = {.items = {50}, .count = 1, .stop_at = 3};

    for (uint32_t i = 0; i < MEMBERS; i++) {
        members[i] = i;
    }
    cr_assert_eq(bisect_minimise(members, &count, test_set, &culprits), TAPML_CANCELLED);
    cr_assert_eq(culprits.tests, 3u);
}
