// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenizer/expression.h"
#include "tokenizer/expression_class.h"

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
    expect_translated("[]a]\\[[[:^x:]x]", "[\\]a]\\[(?:[x]|[^[:x:]])"); // PCRE2 refuses it.
}

Test(expression, classes_are_written_out)
{
    expect_translated("\\s", "[" EXPRESSION_SPACE "]");
    expect_translated("\\S", "[^" EXPRESSION_SPACE "]");
    expect_translated("[\\sx]", "[" EXPRESSION_SPACE "x]");
    expect_translated("\\w\\W", "[" EXPRESSION_WORD "][^" EXPRESSION_WORD "]");
    expect_translated("\\H[[:alpha:]x]\\p{^Letter}", "[^0-9a-fA-F][\\p{Alphabetic}x]\\P{L}");
    expect_translated("\\p{Han}\\P{Lu}\\p{Alnum}",
                      "\\p{sc:Han}\\P{Lu}[\\p{Alphabetic}\\p{Nd}]"); // Not its extensions.
    expect_translated("\\h\\v\\u4e00", "[0-9a-fA-F]\\x{b}\\x{4e00}");
    expect_translated("(?m:.)a{,3}", "(?s:.)a{0,3}");
}

Test(expression, an_interval_may_be_repeated)
{
    expect_translated("\\p{N}{1,3}+", "(?:\\p{N}{1,3})+");
    expect_translated("x(ab){2}+", "x(?:(ab){2})+");
    expect_translated("\\x{4e00}{2}?", "(?:\\x{4e00}{2})?");
    expect_translated("a{2,}?b{,2}c{d", "a{2,}?b{0,2}c{d");
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
    expect_refused("[a", "a set without an end");
    expect_refused("\\K", "this escape");
    expect_refused("a\\", "a backslash at the end");
    expect_refused("\\u12", "four digits");
}
