// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/agreement.h"

#include <criterion/criterion.h>

static void expect(const char *opinions, int are_same, const char *sentence)
{
    static const char *const names[] = {"a", "b", "c"};
    struct agreement_target targets[3];
    size_t count = 0;
    struct text text;

    for (; opinions[count] != '\0'; count++) {
        targets[count] =
            (struct agreement_target){.name = names[count],
                                      .opinion = opinions[count] == '+'   ? AGREEMENT_AGREES
                                                 : opinions[count] == '-' ? AGREEMENT_WRONG
                                                                          : AGREEMENT_NONE};
    }
    text_init(&text);
    cr_expect_eq(agreement_print("silu", targets, count, are_same, &text), *sentence != '\0');
    cr_expect_str_eq(text.data, sentence);
    text_release(&text);
}

Test(agreement, those_that_agree_are_named)
{
    expect("+-+", 0, "silu: 2 of 3 targets agree with the source: a, c");
    expect("-+", 1, "silu: 1 of 2 targets agrees with the source: b");
    expect("+--", 1,
           "silu: 1 of 3 targets agrees with the source: a; the others compute the same values as "
           "each other");
}

Test(agreement, where_none_agrees_the_source_is_a_suspect)
{
    expect("--", 0, "silu: none of 2 targets agrees with the source");
    expect("--", 1,
           "silu: none of 2 targets agrees with the source, and they compute the same values: look "
           "at the source first");
}

Test(agreement, nothing_is_said_where_there_is_nothing_to_say)
{
    expect("++", 1, "");
    expect("-?", 1, "");
    expect("-", 1, "");
    expect("", 1, "");
}
