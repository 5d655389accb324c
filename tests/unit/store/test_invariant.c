// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/invariant.h"

#include <math.h>

TestSuite(invariant, .init = open_store_begin, .fini = open_store_end);

static const struct invariant_row wrong = {.op = "tapml.linear",
                                           .version = 1,
                                           .axis = "rows",
                                           .verdict = "wrong",
                                           .size = 8,
                                           .tried = 17,
                                           .instance = "layers.0/q",
                                           .shape = "rows=8",
                                           .margin = 3.5,
                                           .reason = "y[0, 0] is 2, expected 1",
                                           .basis = "12"};

Test(invariant, a_row_takes_the_place_of_an_earlier_one)
{
    struct invariant_row right = wrong;
    struct invariant_row *found = NULL;
    size_t count = 0;
    right.verdict = "equal bits";
    right.size = 0;
    right.margin = NAN;
    MUST(invariant_write(store, "gpu", &right));
    MUST(invariant_write(store, "gpu", &wrong));
    right.axis = "run";
    MUST(invariant_write(store, "gpu", &right));
    MUST(invariant_write(store, "phone", &right));
    MUST(invariant_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 2u);
    cr_expect_str_eq(found[0].axis, "rows");
    cr_expect_str_eq(found[0].verdict, "wrong");
    cr_expect_str_eq(found[0].op, "tapml.linear");
    cr_expect_str_eq(found[0].instance, "layers.0/q");
    cr_expect_str_eq(found[0].shape, "rows=8");
    cr_expect_str_eq(found[0].reason, wrong.reason);
    cr_expect_str_eq(found[0].basis, "12");
    cr_expect_eq(found[0].version, 1u);
    cr_expect_eq(found[0].size, 8u);
    cr_expect_eq(found[0].tried, 17u);
    cr_expect_eq(found[0].margin, 3.5);
    cr_expect_str_eq(found[1].axis, "run");
    cr_expect(isnan(found[1].margin));
}

Test(invariant, rows_of_a_target_are_forgotten_alone)
{
    struct invariant_row *found = NULL;
    size_t count = 0;
    MUST(invariant_write(store, "gpu", &wrong));
    MUST(invariant_write(store, "phone", &wrong));
    MUST(invariant_forget(store, "gpu"));
    MUST(invariant_list(store, "gpu", arena, &found, &count));
    cr_expect_eq(count, 0u);
    MUST(invariant_list(store, "phone", arena, &found, &count));
    cr_expect_eq(count, 1u);
}
