// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/maker.h"
#include "store/result.h"
#include "three_cases.h"

TestSuite(maker, .init = begin, .fini = end);

static const struct result_maker maker = {"plugin 1f", "cl:0", "card, 1.0", "", "0a"};

Test(maker, rows_are_found_by_op_and_version)
{
    static const char *const ops[] = {"x.b", "x.a", "x.c", "x.b"};
    struct maker_row *rows = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < 4; i++) {
        MUST(maker_write(store, "gpu", ops[i], i == 3 ? 2 : 1, &maker));
    }
    MUST(maker_write(store, "other", "x.d", 1, &maker));
    MUST(maker_list(store, "gpu", arena, &rows, &count));
    cr_assert_eq(count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct maker_row *row = maker_search(rows, count, ops[i], i == 3 ? 2 : 1);
        cr_assert_not_null(row);
        cr_expect_str_eq(row->op, ops[i]);
        cr_expect_eq(row->version, i == 3 ? 2 : 1);
        cr_expect_str_eq(row->maker.implementation, "plugin 1f");
        cr_expect_str_eq(row->maker.driver, "card, 1.0");
        cr_expect_str_eq(row->maker.oracle, "0a");
    }
    cr_expect_null(maker_search(rows, count, "x.a", 2));
    cr_expect_null(maker_search(rows, count, "x.d", 1), "of another target");
    MUST(maker_list(store, "none", arena, &rows, &count));
    cr_expect_eq(count, 0);
    cr_expect_null(maker_search(rows, 0, "x.a", 1));
}

Test(maker, differs_in_all_but_its_oracle)
{
    const struct result_maker others[] = {{"plugin 2f", "cl:0", "card, 1.0", "", "0a"},
                                          {"plugin 1f", "cl:1", "card, 1.0", "", "0a"},
                                          {"plugin 1f", "cl:0", "card, 1.1", "", "0a"},
                                          {"plugin 1f", "cl:0", "card, 1.0", "x=1", "0b"}};
    const struct result_maker oracle = {"plugin 1f", "cl:0", "card, 1.0", "", "0b"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        cr_expect(maker_differs(&maker, &others[i]), "%zu", i);
    }
    cr_expect(!maker_differs(&maker, &maker));
    cr_expect(!maker_differs(&maker, &oracle));
}
