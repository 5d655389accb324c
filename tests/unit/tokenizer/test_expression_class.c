// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenizer/expression_class.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_named(const char *name, int is_posix, const char *expected, int negated)
{
    int is_negated = 0;
    struct text out;
    text_init(&out);
    expression_class_name(name, strlen(name), is_posix, &out, &is_negated);
    cr_assert_str_eq(out.data, expected, "%s", name);
    cr_assert_eq(is_negated, negated, "%s", name);
    text_release(&out);
}

Test(expression_class, names_have_members)
{
    expect_named("^Uppercase_Letter", 0, "\\p{Lu}", 1);
    expect_named("Alnum", 0, "\\p{Alphabetic}\\p{Nd}", 0);
    expect_named("Nd", 0, "\\p{Nd}", 0);
    expect_named("Greek", 0, "\\p{sc:Greek}", 0);
    expect_named("punct", 1, "\\p{P}\\p{S}", 0);
    expect_named("letter", 1, "[:letter:]", 0); // PCRE2 refuses it.
}

Test(expression_class, letters_have_members)
{
    int is_negated = 0;
    struct text out;
    text_init(&out);
    cr_assert(expression_class_letter('D', &out, &is_negated));
    cr_assert_str_eq(out.data, "\\p{Nd}");
    cr_assert(is_negated);
    cr_assert_not(expression_class_letter('b', &out, &is_negated));
    text_release(&out);
}
