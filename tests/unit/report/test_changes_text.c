// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/changed_text.h"
#include "report/changes_text.h"

TestSuite(changes_text, .init = begin, .fini = end);

Test(changes_text, what_is_as_it_was_is_not_printed)
{
    changed_begin(&changed, 2);
    compared_set(changed_case(&changed, 0, 0), "verdict", json_string("pass"));
    compared_set(changed_case(&changed, 0, 3), "verdict", json_string("pass"));
    compared_set(changed_case(&changed, 1, 0), "verdict", json_string("pass"));
    compared_set(changed_case(&changed, 1, 3), "verdict", json_string("pass"));
    for (size_t run = 0; run < 2; run++) {
        compared_set(compared_target(changed.reports[run]), "verdict", json_string("right"));
    }
    comparison = changed_make(&changed, NULL);
    changes_text_append(changed_changes(comparison), &text);
    cr_assert_str_eq(text.data, "");
    changes_text_append(NULL, &text);
    cr_assert_str_eq(text.data, "");
    changes_text_sentence(changed_changes(comparison), &text);
    cr_assert_str_eq(text.data, "There are no failures.");
}

Test(changes_text, flips_margins_and_failures_have_lines)
{
    changed_begin(&changed, 3);
    changed_set(&changed, 2, 2, "fail");
    changed_set(&changed, 0, 3, "pass");
    changed_set(&changed, 1, 3, "pass");
    changed_set(&changed, 2, 3, "pass");
    for (size_t run = 0; run < 3; run++) {
        compared_set(changed_case(&changed, run, 3), "margin", json_real(0.25 * (double)(run + 1)));
    }
    comparison = changed_make(&changed, NULL);
    changes_text_append(changed_changes(comparison), &text);
    expect("flips: 1 broke\n  broke: gpu" REPORT_HOSTILE
           ": org.example.my_op: layers.0/b, decode: pass -> pass -> fail, since run2, with the "
           "same device, driver and code\n");
    expect("margins that crept: 1\n");
    expect("0.25 -> 0.5 -> 0.75, 67 % of its room is gone\n");
    expect("failures\n  new: gpu");
    expect("  before: gpu" REPORT_HOSTILE ": silu: ");
    text_clear(&text);
    changes_text_sentence(changed_changes(comparison), &text);
    cr_assert_str_eq(text.data, "Failures: 1 new, 1 as before.");
}

Test(changes_text, an_op_moves_by_a_factor)
{
    json_t *changes =
        json_pack("{s:[{},{s:s,s:s,s:{s:s,s:f,s:f}}]}", "ops", "target", "gpu", "op", "tapml.silu",
                  "time", "move", "faster", "ratio", 0.5, "noise", 1.25);
    const char *target = NULL, *name = NULL;
    size_t at = 0;
    const json_t *op = changes_text_next_moved(changes, &at, &target, &name);

    cr_assert_not_null(op);
    cr_assert_str_eq(target, "gpu");
    cr_assert_str_eq(name, "silu");
    changes_text_time(op, &text);
    cr_assert_str_eq(text.data, "faster by a factor of 2, noise 1.25");
    cr_assert_null(changes_text_next_moved(changes, &at, &target, &name));
    json_decref(changes);
}

Test(changes_text, entries_that_are_not_simply_known_are_told)
{
    struct baseline_entry entries[] = {
        {.name = "known.a", .op = "silu", .reason = "why", .expires = "never"},
        {.name = "known.b", .op = "model", .reason = "once", .expires = "never"}};
    struct baseline baseline = {.entries = entries, .count = 2};

    changed_begin(&changed, 1);
    comparison = changed_make(&changed, &baseline);
    changes_text_append(changed_changes(comparison), &text);
    expect(" [known.a: why]\n");
    expect("entries of known.ini\n  fixed: [known.b] model: once, expires never\n");
    cr_assert_null(strstr(text.data, "known: [known.a]"));
}
