// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/maker.h"
#include "store/output_error.h"
#include "store/result.h"
#include "three_cases.h"

TestSuite(maker, .init = begin, .fini = end);

static const struct result_maker maker = {"plugin 1f", "cl:0", "card, 1.0", "", "0a"};

static void write_both(void)
{
    static const struct output_error error = {.param = "y", .class_ = "exact", .place = ""};
    const struct result_row rows[] = {{.case_id = 7, .outcome = RESULT_RAN, .reason = ""},
                                      {.case_id = 9, .outcome = RESULT_RAN, .reason = ""}};
    for (int i = 0; i < 2; i++) {
        MUST(result_write(store, "gpu", &rows[i], &maker));
        MUST(output_error_write(store, "gpu", rows[i].case_id, &error, 1));
    }
}

static void expect(int64_t results, int64_t limits, const char *what)
{
    struct maker_stale stale;
    MUST(maker_count_stale(store, "gpu", &stale));
    cr_expect_eq(stale.results, results, "%s: %lld", what, (long long)stale.results);
    cr_expect_eq(stale.limits, limits, "%s: %lld", what, (long long)stale.limits);
    MUST(maker_count_stale(store, "other", &stale));
    cr_expect_eq(stale.results + stale.limits, 0);
}

Test(maker, says_which_results_of_its_op_are_stale)
{
    const struct result_maker others[] = {{"plugin 2f", "cl:0", "card, 1.0", "", "0a"},
                                          {"plugin 1f", "cl:1", "card, 1.0", "", "0a"},
                                          {"plugin 1f", "cl:0", "card, 1.1", "", "0a"},
                                          {"plugin 1f", "cl:0", "card, 1.0", "x=1", "0b"}};
    const struct result_maker oracle = {"plugin 1f", "cl:0", "card, 1.0", "", "0b"};
    write_both();
    expect(0, 0, "before the first start");
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        MUST(maker_write(store, "gpu", "x.op", 1, &others[i]));
        expect(1, 0, "another maker");
    }
    MUST(maker_write(store, "gpu", "x.op", 1, &oracle));
    expect(0, 1, "another oracle");
    MUST(maker_write(store, "gpu", "x.op", 1, &maker));
    expect(0, 0, "the same");
    MUST(maker_write(store, "gpu", "x.op", 2, &others[0]));
    expect(0, 0, "of another version of the op");
}

Test(maker, results_without_errors_are_stale)
{
    const struct result_row row = {.case_id = 7, .outcome = RESULT_RAN, .reason = ""};
    const struct result_row refused = {.case_id = 9, .outcome = "unsupported", .reason = "no"};
    write_both();
    MUST(result_write(store, "gpu", &row, &maker));
    MUST(result_write(store, "gpu", &refused, &maker));
    expect(1, 0, "ran without errors");
}
