// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_lines.h"

#include <criterion/criterion.h>
#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct verdict verdict(const char *op, enum verdict_kind kind, double margin)
{
    return (struct verdict){.source = "carved",
                            .label = "",
                            .instance = "a",
                            .op_name = op,
                            .kind = kind,
                            .margin = margin,
                            .time_ns = 10};
}

static struct verdict derived(const char *source, enum verdict_kind kind, double margin)
{
    struct verdict made = verdict("tapml.silu", kind, margin);

    made.source = source;
    made.label = "special";
    return made;
}

Test(report_lines, verdicts_are_counted_by_op)
{
    struct verdict items[] = {
        verdict("tapml.silu", VERDICT_PASS, 0.5),       verdict("tapml.silu", VERDICT_FAIL, 3),
        verdict("tapml.silu", VERDICT_ERROR, NAN),      verdict("tapml.add", VERDICT_SKIPPED, NAN),
        verdict("tapml.add", VERDICT_UNSUPPORTED, NAN),
    };
    struct verdict made[] = {derived("shape", VERDICT_FAIL, 2)};
    struct report_lines lines;

    report_lines_init(&lines);
    MUST(report_lines_add_verdicts(
        &lines,
        &(struct verdict_list){.items = items, .count = 5, .derived = made, .derived_count = 1}));
    cr_assert_eq(lines.count, 2);
    cr_assert_str_eq(lines.items[0].op_name, "tapml.silu");
    cr_assert_eq(lines.items[0].cases, 3);
    cr_assert_eq(lines.items[0].passed, 1);
    cr_assert_eq(lines.items[0].failed, 2);
    cr_assert_eq(lines.items[0].derived_failed, 1);
    cr_assert_eq(lines.items[0].margin, 3);
    cr_assert_eq(lines.items[0].target_ns, 30);
    cr_assert_eq(lines.items[1].unsupported, 1);
    cr_assert_eq(lines.items[1].skipped, 1);
    report_lines_release(&lines);
}

Test(report_lines, derived_cases_are_reported_once_for_each_op_and_source)
{
    struct verdict made[] = {
        derived("shape", VERDICT_PASS, 0.25),   derived("uniform", VERDICT_SKIPPED, NAN),
        derived("shape", VERDICT_FAIL, 7),      derived("shape", VERDICT_FAIL, 9),
        derived("shape", VERDICT_SKIPPED, NAN),
    };
    const struct verdict_list list = {.derived = made, .derived_count = 5};
    struct report_derived found;

    cr_assert(report_lines_derived(&list, 0, &found));
    cr_assert_str_eq(found.source, "shape");
    cr_assert_eq(found.cases, 4);
    cr_assert_eq(found.failed, 2);
    cr_assert_eq(found.not_judged, 1);
    cr_assert_eq(found.margin, 9);
    cr_assert_eq(found.first_failed, &made[2]);
    cr_assert_eq(found.first_not_judged, &made[4]);
    cr_assert(report_lines_derived(&list, 1, &found));
    cr_assert_eq(found.not_judged, 1);
    cr_assert_null(found.first_failed);
    cr_assert_not(report_lines_derived(&list, 2, &found));
}
