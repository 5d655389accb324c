// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/random.h"

#include <criterion/criterion.h>

Test(random, the_row_is_fixed)
{
    // splitmix64 and xoshiro256**, computed by a separate program from the authors' formulas.
    struct random random;
    random_init(&random, 0);
    cr_assert_eq(random_u64(&random), 0x99ec5f36cb75f2b4u);
    cr_assert_eq(random_u64(&random), 0xbf6e1f784956452au);
    cr_assert_eq(random_u64(&random), 0x1a5f849d4933e6e0u);
}

Test(random, one_seed_gives_one_row)
{
    struct random a;
    struct random b;
    struct random c;
    random_init(&a, 7);
    random_init(&b, 7);
    random_init(&c, 8);
    int equal_count = 0;
    for (int i = 0; i < 100; ++i) {
        const uint64_t drawn = random_u64(&a);
        cr_assert_eq(drawn, random_u64(&b));
        equal_count += drawn == random_u64(&c);
    }
    cr_assert_eq(equal_count, 0);
}

Test(random, below_reaches_all_and_no_more)
{
    struct random random;
    random_init(&random, 1);
    int seen[6] = {0};
    for (int i = 0; i < 6000; ++i) {
        const uint64_t drawn = random_below(&random, 6);
        cr_assert_lt(drawn, 6);
        ++seen[drawn];
    }
    for (int i = 0; i < 6; ++i) {
        cr_assert_gt(seen[i], 850);
        cr_assert_lt(seen[i], 1150);
    }
    cr_assert_eq(random_below(&random, 1), 0);
}

Test(random, between_stays_between)
{
    struct random random;
    random_init(&random, 2);
    double sum = 0;
    for (int i = 0; i < 10000; ++i) {
        const double drawn = random_between(&random, -1, 3);
        cr_assert_geq(drawn, -1);
        cr_assert_lt(drawn, 3);
        sum += drawn;
    }
    cr_assert_float_eq(sum / 10000, 1, 0.05);
    // One step wide: rounding must not reach the bound.
    for (int i = 0; i < 1000; ++i) {
        cr_assert_lt(random_between(&random, 1, 1 + 0x1p-52), 1 + 0x1p-52);
    }
}
