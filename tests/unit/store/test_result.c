// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/result.h"
#include "store/store.h"
#include "three_cases.h"

TestSuite(result, .init = begin, .fini = end);

static const struct result_maker maker = {"plugin 1f", "cl:0", "card, 1.0", "", "0a"};

static void write_both(void)
{
    const struct result_row pass = {
        .case_id = 7, .outcome = RESULT_RAN, .reason = "", .time_ns = 4};
    const struct result_row fail = {
        .case_id = 9, .outcome = RESULT_RAN, .reason = "it differs", .beyond = 2, .total = 3};
    MUST(store_begin(store));
    MUST(result_write(store, "gpu", &pass, &maker));
    MUST(result_write(store, "gpu", &fail, &maker));
    MUST(result_write(store, "other", &fail, &maker));
    MUST(store_commit(store));
}

Test(result, rows_are_read_as_they_were_written)
{
    struct result_row *rows = NULL;
    struct result_row row;
    size_t count = 0;
    write_both();
    MUST(result_list(store, "gpu", arena, &rows, &count));
    cr_assert_eq(count, 2);
    cr_expect_eq(rows[0].case_id, 7);
    cr_expect_str_eq(rows[0].outcome, RESULT_RAN);
    cr_expect_str_eq(rows[0].maker.oracle, "0a");
    cr_expect_str_eq(rows[0].maker.implementation, "plugin 1f");
    cr_expect_str_eq(rows[0].maker.device, "cl:0");
    cr_expect_str_eq(rows[0].maker.driver, "card, 1.0");
    cr_expect_str_eq(rows[0].maker.options, "");
    cr_expect_str_eq(rows[0].op, "x.op");
    cr_expect_eq(rows[0].time_ns, 4);
    MUST(result_find(store, "gpu", 9, &maker, arena, &row));
    cr_expect_eq(row.beyond, 2);
    cr_expect_eq(row.total, 3);
    cr_expect_str_eq(row.reason, "it differs");
    cr_expect_str_eq(row.instance, "c");
}

Test(result, another_maker_of_any_kind_has_none)
{
    const struct result_maker others[] = {{"plugin 2f", "cl:0", "card, 1.0", "", "0a"},
                                          {"plugin 1f", "cl:1", "card, 1.0", "", "0a"},
                                          {"plugin 1f", "cl:0", "card, 1.1", "", "0a"},
                                          {"plugin 1f", "cl:0", "card, 1.0", "x=1", "0a"}};
    struct result_row row;
    write_both();
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        cr_expect_eq(result_find(store, "gpu", 7, &others[i], arena, &row), TAPML_NOT_FOUND, "%zu",
                     i);
    }
}

// Limits have no part in what was measured.
Test(result, another_oracle_leaves_it_fresh)
{
    const struct result_maker other = {"plugin 1f", "cl:0", "card, 1.0", "", "0b"};
    struct result_row row;
    size_t count = 9;
    write_both();
    MUST(result_find(store, "gpu", 7, &other, arena, &row));
    cr_expect_str_eq(row.maker.oracle, "0a");
    MUST(result_forget_stale(store, "gpu", "x.op", 1, &other, &count));
    cr_expect_eq(count, 0);
    MUST(result_set_oracle(store, "gpu", 7, "0b"));
    MUST(result_find(store, "gpu", 7, &other, arena, &row));
    cr_expect_str_eq(row.maker.oracle, "0b");
    MUST(result_find(store, "gpu", 9, &other, arena, &row));
    cr_expect_str_eq(row.maker.oracle, "0a");
}

Test(result, stale_ones_of_one_op_go)
{
    const struct result_maker mended = {"plugin 2f", "cl:0", "card, 1.0", "", "0a"};
    size_t count = 9;
    write_both();
    MUST(result_forget_stale(store, "gpu", "x.op", 1, &maker, &count));
    cr_expect_eq(count, 0, "they are fresh");
    MUST(result_forget_stale(store, "gpu", "x.op", 1, &mended, &count));
    cr_expect_eq(count, 1);
    MUST(result_count(store, "gpu", &count));
    cr_expect_eq(count, 1, "the other op's stays");
    MUST(result_forget(store, "gpu"));
    MUST(result_count(store, "gpu", &count));
    cr_expect_eq(count, 0);
    MUST(result_count(store, "other", &count));
    cr_expect_eq(count, 1);
}

Test(result, all_of_one_op_go)
{
    size_t count = 9;
    write_both();
    MUST(result_count(store, "gpu", &count));
    const size_t before = count;
    MUST(result_forget_op(store, "gpu", "x.more"));
    MUST(result_count(store, "gpu", &count));
    cr_expect_eq(count, before - 1);
    MUST(result_count(store, "other", &count));
    cr_expect_eq(count, 1);
}

Test(result, others_than_those_that_are_named_go)
{
    static const int64_t seven[] = {3, 7}, none[] = {8};
    int64_t *ids = NULL;
    size_t count = 9;
    write_both();
    MUST(result_list_cases(store, "gpu", arena, &ids, &count));
    cr_assert_eq(count, 2);
    cr_expect_eq(ids[0], 7);
    cr_expect_eq(ids[1], 9);
    MUST(store_begin(store));
    MUST(result_forget_others(store, "gpu", ids, 2, &count));
    cr_expect_eq(count, 0);
    MUST(result_forget_others(store, "gpu", seven, 2, &count));
    cr_expect_eq(count, 1);
    MUST(result_list_cases(store, "gpu", arena, &ids, &count));
    cr_assert_eq(count, 1);
    cr_expect_eq(ids[0], 7);
    MUST(result_forget_others(store, "gpu", none, 1, &count));
    cr_expect_eq(count, 1);
    MUST(result_forget_others(store, "gpu", NULL, 0, &count));
    cr_expect_eq(count, 0);
    MUST(result_list_cases(store, "other", arena, &ids, &count));
    cr_expect_eq(count, 1, "another target's stay");
    MUST(store_commit(store));
}
