// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/output_error.h"
#include "store/result.h"
#include "three_cases.h"

#include <math.h>

TestSuite(output_error, .init = begin, .fini = end);

static const struct output_error ITEMS[] = {
    {.param = "y", .class_ = "exact", .is_equal = 1, .place = "", .margin = NAN},
    {.param = "state",
     .class_ = "reduction",
     .ulp = 9,
     .nmse = INFINITY,
     .row_error = 0.25,
     .cosine = -0.5,
     .non_finite = 3,
     .is_outside = 1,
     .place = "3, 17",
     .expected = 2,
     .computed = NAN,
     .margin = NAN},
};

static void write_result(void)
{
    const struct result_maker maker = {"plugin 1f", "cl:0", "card, 1.0", "", "0a"};
    const struct result_row row = {.case_id = 7, .outcome = RESULT_RAN, .reason = ""};
    MUST(result_write(store, "gpu", &row, &maker));
}

static void expect(const struct output_error *items, size_t count)
{
    cr_assert_eq(count, 2);
    cr_expect_str_eq(items[0].param, "y");
    cr_expect_str_eq(items[0].class_, "exact");
    cr_expect(items[0].is_equal && !items[0].is_outside && isnan(items[0].margin));
    cr_expect_str_eq(items[1].param, "state");
    cr_expect_eq(items[1].ulp, 9);
    cr_expect(isinf(items[1].nmse));
    cr_expect_eq(items[1].row_error, 0.25);
    cr_expect_eq(items[1].cosine, -0.5);
    cr_expect_eq(items[1].non_finite, 3);
    cr_expect(items[1].is_outside);
    cr_expect_str_eq(items[1].place, "3, 17");
    cr_expect_eq(items[1].expected, 2);
    cr_expect(isnan(items[1].computed));
}

Test(output_error, rows_are_read_as_they_were_written_and_go_with_their_result)
{
    struct output_error *found = NULL;
    size_t count = 0;
    write_result();
    MUST(output_error_write(store, "gpu", 7, ITEMS, 2));
    MUST(output_error_list(store, "gpu", 7, arena, &found, &count));
    expect(found, count);
    write_result();
    MUST(output_error_list(store, "gpu", 7, arena, &found, &count));
    cr_expect_eq(count, 0, "those of an earlier result are still there");
}

Test(output_error, a_copy_is_the_same)
{
    const struct output_error *copies = NULL;
    MUST(output_error_copy(ITEMS, 2, arena, &copies));
    expect(copies, 2);
    cr_expect_neq(copies[1].place, ITEMS[1].place);
}

Test(output_error, those_of_a_target_come_by_case)
{
    const struct result_maker maker = {"plugin 1f", "cl:0", "card, 1.0", "", "0a"};
    const struct result_row row = {.case_id = 9, .outcome = RESULT_RAN, .reason = ""};
    struct output_error_group *groups = NULL;
    size_t count = 0;
    MUST(result_write(store, "gpu", &row, &maker));
    MUST(output_error_write(store, "gpu", 9, &ITEMS[1], 1));
    write_result();
    MUST(output_error_write(store, "gpu", 7, ITEMS, 2));
    MUST(result_write(store, "other", &row, &maker));
    MUST(output_error_write(store, "other", 9, ITEMS, 2));
    MUST(output_error_groups(store, "gpu", arena, &groups, &count));
    cr_assert_eq(count, 2);
    cr_expect_eq(groups[0].case_id, 7);
    expect(groups[0].items, groups[0].count);
    cr_expect_eq(groups[1].case_id, 9);
    cr_assert_eq(groups[1].count, 1);
    cr_expect_str_eq(groups[1].items[0].place, "3, 17");
    MUST(output_error_groups(store, "none", arena, &groups, &count));
    cr_expect_eq(count, 0);
}
