// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/representative.h"
#include "store/store.h"
#include "three_cases.h"

TestSuite(representative, .init = begin, .fini = end);

Test(representative, the_first_case_of_each_kind_stands_for_its_op)
{
    struct representative_group *groups = NULL;
    size_t count = 0;
    MUST(representative_list(store, arena, &groups, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(groups[0].op, "x.more");
    cr_expect_eq(groups[0].count, 1);
    cr_expect_eq(groups[0].ids[0], 9);
    cr_expect_str_eq(groups[1].op, "x.op");
    cr_assert_eq(groups[1].count, 1);
    cr_expect_eq(groups[1].ids[0], 7);
    cr_expect_eq(groups[1].version, 1);
    cr_expect_str_eq(groups[1].keys, "01 ");
}

Test(representative, another_dtype_is_another_kind)
{
    struct representative_group *groups = NULL;
    size_t count = 0;
    cr_assert_eq(sqlite3_exec(store_connection(store),
                              "UPDATE argument SET dtype = 'bf16' WHERE case_id = 8", NULL, NULL,
                              NULL),
                 SQLITE_OK);
    MUST(representative_list(store, arena, &groups, &count));
    cr_assert_eq(count, 2);
    cr_assert_eq(groups[1].count, 2);
    cr_expect_eq(groups[1].ids[1], 8);
    cr_expect_str_eq(groups[1].keys, "01 02 ");
}
