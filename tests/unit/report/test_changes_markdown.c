// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed_text.h"
#include "report/changes_markdown.h"

TestSuite(changes_markdown, .init = begin, .fini = end);

Test(changes_markdown, tables_have_what_is_new)
{
    changed_begin(&changed, 2);
    changed_set(&changed, 1, 2, "fail");
    compared_set(changed_case(&changed, 1, 2), "reason",
                 json_string("y[1] is 2 | *x* @all\n# no <b>heading</b>"));
    comparison = changed_make(&changed, NULL);
    changes_markdown_print(comparison, &text);
    expect("## TapML: something is worse\n\nFailures: 1 new, 2 as before.\n");
    expect("\n### Failures\n");
    expect("| y\\[1\\] is 2 \\| \\*x\\* &#64;all \\# no &#60;b&#62;heading&#60;/b&#62; |");
    expect("\n### Flips\n");
    cr_assert_null(strstr(text.data, "<script>"));
    cr_assert_null(strstr(text.data, "### Baseline"));
}

Test(changes_markdown, nothing_is_worse)
{
    changed_begin(&changed, 2);
    comparison = changed_make(&changed, NULL);
    changes_markdown_print(comparison, &text);
    expect("## TapML: nothing is worse\n");
    cr_assert_null(strstr(text.data, "### Flips"));
}

Test(changes_markdown, a_baseline_has_a_table)
{
    struct baseline_entry entries[] = {
        {.name = "known.a", .op = "silu", .reason = "why", .expires = "2027-03-31"}};
    struct baseline baseline = {.entries = entries, .count = 1};

    changed_begin(&changed, 1);
    comparison = changed_make(&changed, &baseline);
    changes_markdown_print(comparison, &text);
    expect("| known | known.a | silu | 1 of 1 | why | 2027-03-31 |");
}
