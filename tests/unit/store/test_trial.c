// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/row.h"
#include "store/trial.h"

#include <math.h>

TestSuite(trial, .init = open_store_begin, .fini = open_store_end);

Test(trial, a_row_is_found_by_its_key_and_replaced)
{
    struct trial_row row = {.key = "0123456789abcdef0123456789abcdef",
                            .name = "q8_0",
                            .measure = "kl",
                            .value = 0.25,
                            .beside = 2.5,
                            .time_ns = 7};
    struct trial_row read = {.value = 9};
    int has = 1;
    MUST(trial_find(store, row.key, &read, &has));
    cr_expect_eq(has, 0);
    cr_expect_eq(read.value, 9);
    MUST(store_begin(store));
    MUST(trial_write(store, &row));
    row.value = 0.5;
    row.beside = NAN;
    MUST(trial_write(store, &row));
    MUST(store_commit(store));
    MUST(trial_find(store, row.key, &read, &has));
    cr_expect_eq(has, 1);
    cr_expect_eq(read.value, 0.5);
    cr_expect(isnan(read.beside));
    cr_expect_eq(read.time_ns, 7);
    cr_expect_str_eq(read.key, row.key);
    int64_t count = 0;
    MUST(row_count(store,
                   "SELECT count(*) FROM trial JOIN run ON run = id WHERE name = 'q8_0' AND"
                   " measure = 'kl'",
                   NULL, &count));
    cr_expect_eq(count, 1);
}
