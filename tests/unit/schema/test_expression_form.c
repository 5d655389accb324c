// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/expression_form.h"

#include <criterion/criterion.h>
#include <string.h>

static struct span span_of(const char *text)
{
    return (struct span){text, text + strlen(text)};
}

Test(expression_form, blanks_around_a_piece_go)
{
    const struct span piece = expression_form_trim(span_of("  a + b "));

    cr_assert_eq(expression_form_length(piece), 5);
    cr_assert_eq(strncmp(piece.at, "a + b", 5), 0);
    cr_assert_eq(expression_form_length(expression_form_trim(span_of("   "))), 0);
    cr_assert_eq(expression_form_length(expression_form_trim(span_of(""))), 0);
}
