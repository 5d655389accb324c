// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/risk.h"
#include "made_cases.h"

enum { COUNT = 30 };

static struct feature_case cases[COUNT];
static uint32_t groups[COUNT];
static struct risk risks[COUNT];

static void begin(void)
{
    made_cases(cases, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        groups[i] = (uint32_t)(i % 3);
    }
}

TestSuite(risk, .init = begin);

Test(risk, remainders_outliers_and_failures_raise_it)
{
    double failures[COUNT] = {0};
    cases[4].row.values[FEATURE_crest] = 50;
    cases[7].row.values[FEATURE_crest] = 4;
    cases[5].row.values[FEATURE_width_32] = 3;
    cases[6].row.values[FEATURE_contiguous] = 0.5;
    failures[8] = 0.5;
    MUST(risk_measure(cases, COUNT, groups, 3, failures, risks));
    cr_expect_gt(risks[4].extremes, 0, "the largest crest of its group");
    cr_expect(risks[5].remainders > 0 && risks[6].remainders > 0);
    cr_expect_eq(risks[8].failures, 0.5);
    for (size_t i = 0; i < COUNT; i++) {
        const double whole = risk_whole(&risks[i]);
        cr_expect(whole >= 0 && whole <= 1);
        cr_expect(i == 5 || i == 6 || risks[i].remainders == 0);
    }
}

Test(risk, a_group_that_is_alike_has_no_edge)
{
    for (size_t i = 0; i < COUNT; i++) {
        cases[i].row = cases[0].row;
    }
    MUST(risk_measure(cases, COUNT, groups, 3, NULL, risks));
    for (size_t i = 0; i < COUNT; i++) {
        cr_expect_eq(risks[i].extremes, 0);
        cr_expect_eq(risks[i].failures, 0);
    }
}
