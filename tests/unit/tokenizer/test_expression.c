// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenizer/expression.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_translated(const char *expression, const char *expected)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(expression_translate(expression, &out), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(out.data, expected);
    text_release(&out);
}

Test(expression, most_of_it_stays_as_it_is)
{
    expect_translated("(?i:'s|'t)|\\p{N}{1,3}|[^\\r\\n]?a+(?!b)$",
                      "(?i:'s|'t)|\\p{N}{1,3}|[^\\r\\n]?a+(?!b)$");
    expect_translated("[]a]\\[[[:alpha:]x]", "[\\]a]\\[[[:alpha:]x]");
}

Test(expression, classes_are_written_out)
{
    expect_translated("\\s", "[" EXPRESSION_SPACE "]");
    expect_translated("\\S", "[^" EXPRESSION_SPACE "]");
    expect_translated("[\\sx]", "[" EXPRESSION_SPACE "x]");
    expect_translated("\\w\\W", "[" EXPRESSION_WORD "][^" EXPRESSION_WORD "]");
    expect_translated("\\h\\v\\u4e00", "[0-9a-fA-F]\\x{b}\\x{4e00}");
    expect_translated("(?m:.)a{,3}", "(?s:.)a{0,3}");
}

Test(expression, nested_sets_become_one)
{
    expect_translated(" ?[^(\\s|[.,!?])]+", " ?[^(" EXPRESSION_SPACE "|.,!?)]+");
    expect_translated("[a[-b-]c]", "[a\\-b\\-c]");
}

static void expect_refused(const char *expression, const char *what)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(expression_translate(expression, &out), TAPML_INVALID, "%s", expression);
    cr_assert_not_null(strstr(status_message(), what), "%s", status_message());
    text_release(&out);
}

Test(expression, what_has_no_such_form_is_refused)
{
    expect_refused("(*ACCEPT)", "a verb");
    expect_refused("(?R)", "this group");
    expect_refused("(?", "this group");
    expect_refused("[a&&b]", "an intersection");
    expect_refused("[a[^b]]", "this nested set");
    expect_refused("[a", "a set without an end");
    expect_refused("\\K", "this escape");
    expect_refused("[\\W]", "this escape");
    expect_refused("a\\", "a backslash at the end");
    expect_refused("\\u12", "four digits");
    expect_refused("a{1,2}+", "'}+'");
}
