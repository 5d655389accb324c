// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/measured.h"
#include "store/result.h"
#include "three_cases.h"

#include <math.h>

TestSuite(measured, .init = begin, .fini = end);

static const struct measured ITEMS[] = {
    {.comparer = "org.example.a/a 1.0", .build = "1f", .unit = "dB", .param = "y", .value = 3},
    {.comparer = "org.example.b/b 2.0",
     .build = "2e",
     .unit = "share",
     .param = "y",
     .value = NAN,
     .limit = 0.5},
};

static void write_result(void)
{
    const struct result_maker maker = {"plugin 1f", "cl:0", "card, 1.0", "", "0a"};
    const struct result_row row = {.case_id = 7, .outcome = RESULT_RAN, .reason = ""};
    MUST(result_write(store, "gpu", &row, &maker));
}

static void expect(const struct measured *items, size_t count)
{
    cr_assert_eq(count, 2);
    cr_expect_str_eq(items[0].comparer, "org.example.a/a 1.0");
    cr_expect_str_eq(items[0].build, "1f");
    cr_expect_str_eq(items[0].unit, "dB");
    cr_expect_str_eq(items[0].param, "y");
    cr_expect(items[0].value == 3 && items[0].limit == 0);
    cr_expect_str_eq(items[1].comparer, "org.example.b/b 2.0");
    cr_expect(isnan(items[1].value) && items[1].limit == 0.5);
}

Test(measured, rows_are_read_as_they_were_written_and_go_with_their_result)
{
    struct measured *found = NULL;
    size_t count = 0;
    write_result();
    MUST(measured_write(store, "gpu", 7, ITEMS, 2));
    MUST(measured_list(store, "gpu", 7, arena, &found, &count));
    expect(found, count);
    write_result();
    MUST(measured_list(store, "gpu", 7, arena, &found, &count));
    cr_expect_eq(count, 0, "those of an earlier result are still there");
}

Test(measured, a_copy_is_the_same)
{
    const struct measured *copies = NULL;
    MUST(measured_copy(ITEMS, 2, arena, &copies));
    expect(copies, 2);
    cr_expect_neq(copies[1].unit, ITEMS[1].unit);
}
