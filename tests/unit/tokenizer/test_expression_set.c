// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenizer/expression_class.h"
#include "tokenizer/expression_set.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_translated(const char *set, const char *expected)
{
    const char *at = set;
    struct text out;
    text_init(&out);
    cr_assert_eq(expression_set_translate(set, &at, &out), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(out.data, expected);
    cr_assert_eq(at, set + strlen(set));
    text_release(&out);
}

Test(expression_set, nested_sets_become_one)
{
    expect_translated("[^(\\s|[.,!?])]", "[^(" EXPRESSION_SPACE "|.,!?)]");
    expect_translated("[a[-b-]c]", "[a\\-b\\-c]");
    expect_translated("[\\w-]", "[" EXPRESSION_WORD "\\-]");
}

Test(expression_set, sets_that_pcre2_lacks_become_groups)
{
    expect_translated("[a[^b]]", "(?:[a]|[^b])");
    expect_translated("[^\\S\\n]", "(?:(?!(?:[\\n]|[^" EXPRESSION_SPACE "]))(?s:.))");
    expect_translated("[\\p{L}&&[^\\p{Han}]]", "(?:(?=[\\p{L}])(?:[^\\p{sc:Han}]))");
    expect_translated("[^a-c&&b&&c]", "(?:(?!(?=[a-c])(?=[b])[c])(?s:.))");
}

static void expect_refused(const char *set, const char *what)
{
    const char *at = set;
    struct text out;
    text_init(&out);
    cr_assert_eq(expression_set_translate(set, &at, &out), TAPML_INVALID, "%s", set);
    cr_assert_not_null(strstr(status_message(), what), "%s", status_message());
    text_release(&out);
}

Test(expression_set, what_is_wrong_is_refused)
{
    expect_refused("[a&&]", "a set without a member");
    expect_refused("[[[[[[[[[[[[[[[[[[a", "nested so deeply");
    expect_refused("[a", "a set without an end");
    expect_refused("[\\p", "a property without a name");
    expect_refused("[\\q]", "this escape");
}
