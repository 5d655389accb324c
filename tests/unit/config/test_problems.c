// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/problems.h"

#include <criterion/criterion.h>

Test(problems, none_is_no_failure)
{
    struct problems problems;

    problems_init(&problems);
    problems_take(&problems, TAPML_OK);
    cr_assert_eq(problems_status(&problems, "--check-config"), TAPML_OK);
    cr_assert_str_eq(problems.text.data, "");
    problems_release(&problems);
}

Test(problems, the_first_speaks_and_counts_the_others)
{
    struct problems problems;

    problems_init(&problems);
    problems_add(&problems, "a %s", "line\nwith a break");
    cr_assert_eq(problems_status(&problems, "--check-config"), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "a line with a break");
    problems_take(&problems, status_fail(TAPML_NOT_FOUND, "no b"));
    problems_add(&problems, "c");
    cr_assert_str_eq(problems.text.data, "a line with a break\nno b\nc\n");
    cr_assert_eq(problems_status(&problems, "--check-config"), TAPML_INVALID);
    cr_assert_str_eq(status_message(),
                     "a line with a break (and 2 more, reported by --check-config)");
    problems_release(&problems);
}

Test(problems, a_key_is_named_with_its_line)
{
    static const char text[] = "[run]\n\ndir = d\n";
    struct problems problems;
    struct ini ini;

    cr_assert_eq(ini_parse("x.ini", text, sizeof(text) - 1, &ini), TAPML_OK);
    problems_init(&problems);
    problems_refuse(&problems, &ini, "run", "dir", "%s is no folder", "d");
    cr_assert_str_eq(problems.text.data, "x.ini:3: [run] dir: d is no folder\n");
    problems_release(&problems);
    ini_release(&ini);
}
