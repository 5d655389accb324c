// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "one_case.h"
#include "store/derived.h"

#include <math.h>

TestSuite(derived, .init = begin, .fini = end);

Test(derived, rows_are_read_as_they_were_written)
{
    static struct element elements[] = {{"y", "3, 1", 1, 2, 0.5}, {"y", "3, 2", 1, NAN, 0}};
    const struct derived_row rows[] = {
        {.case_id = 7,
         .source = "uniform",
         .label = "uniform",
         .verdict = "pass",
         .output = "y",
         .reason = "",
         .margin = NAN,
         .basis = "0a"},
        {.case_id = 7,
         .source = "shape",
         .label = "out=33",
         .verdict = "fail",
         .output = "y",
         .reason = "it differs",
         .margin = 9,
         .elements = {.items = elements, .count = 2, .beyond = 2, .total = 33},
         .basis = "0b"},
    };
    struct derived_row *found = NULL;
    size_t count = 0;
    MUST(store_begin(store));
    MUST(derived_replace(store, "gpu", rows, 1));
    MUST(derived_replace(store, "gpu", rows, 2));
    MUST(store_commit(store));
    MUST(derived_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].source, "uniform");
    cr_assert(isnan(found[0].margin));
    cr_assert_str_eq(found[0].basis, "0a");
    cr_assert_str_eq(found[1].basis, "0b");
    cr_assert_eq(found[0].elements.count, 0);
    cr_assert_str_eq(found[1].instance, "a");
    cr_assert_str_eq(found[1].phase, "decode");
    cr_assert_str_eq(found[1].reason, "it differs");
    cr_assert_eq(found[1].elements.total, 33);
    cr_assert_eq(found[1].elements.count, 2);
    cr_assert_str_eq(found[1].elements.items[0].place, "3, 1");
    cr_assert(isnan(found[1].elements.items[1].computed));
    MUST(derived_forget(store, "gpu"));
    MUST(derived_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 0);
}
