// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/first_case.h"
#include "store/store.h"
#include "three_cases.h"

TestSuite(first_case, .init = begin, .fini = end);

Test(first_case, each_class_has_the_one_that_the_source_called_first)
{
    struct first_case *items = NULL;
    size_t count = 0;
    MUST(first_case_list(store, arena, &items, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(items[0].op, "x.more");
    cr_expect_eq(items[0].id, 9);
    cr_expect_str_eq(items[1].op, "x.op");
    cr_expect_eq(items[1].id, 7);
    cr_expect_lt(first_case_compare(&items[0], &items[1]), 0);
    cr_expect_gt(first_case_compare(&items[1], &items[0]), 0);
    cr_expect_eq(first_case_compare(&items[1], &items[1]), 0);
}

Test(first_case, another_shape_class_is_another_class)
{
    struct first_case *items = NULL;
    size_t count = 0;
    execute("UPDATE \"case\" SET shape_class = 'z' WHERE id = 8");
    MUST(first_case_list(store, arena, &items, &count));
    cr_assert_eq(count, 3);
    cr_expect_eq(items[2].id, 8);
    cr_expect_str_eq(items[2].shape_class, "z");
    cr_expect_lt(first_case_compare(&items[1], &items[2]), 0);
}

Test(first_case, another_version_is_another_class)
{
    const struct first_case one = {"x.op", "a", 1, 1}, two = {"x.op", "a", 2, 1};
    cr_expect_lt(first_case_compare(&one, &two), 0);
    cr_expect_gt(first_case_compare(&two, &one), 0);
}
