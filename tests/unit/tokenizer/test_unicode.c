// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenizer/unicode.h"

#include <criterion/criterion.h>
#include <string.h>

Test(unicode, classes_follow_the_general_categories)
{
    cr_assert(unicode_is_space(0x3000));
    cr_assert_not(unicode_is_space(0x180e));
    cr_assert_not(unicode_is_space(0x200b));
    cr_assert(unicode_is_number(0x2167));
    cr_assert(unicode_is_number(0xbd));
    cr_assert(unicode_is_mark(0x301));
    cr_assert(unicode_is_mark(0x903));
    cr_assert_not(unicode_is_nonspacing(0x903));
    cr_assert(unicode_is_other(0x200d));
    cr_assert_not(unicode_is_other(0x378)); // Not assigned.
    cr_assert(unicode_is_punctuation('$'));
    cr_assert_not(unicode_is_punctuation(0x20ac));
    cr_assert(unicode_is_punctuation(0x3002));
    // As Unicode 8 has it; numbers are newer.
    cr_assert_not(unicode_is_punctuation(0xa76));
    cr_assert(unicode_is_punctuation(0x166d));
    cr_assert_not(unicode_is_nonspacing(0xd3b));
    cr_assert(unicode_is_number(0x10d40));
    cr_assert(unicode_is_ideograph(0x4e00));
    cr_assert_not(unicode_is_ideograph(0x3042));
}

static void expect_form(enum unicode_form form, const char *text, const char *expected)
{
    struct text out;
    text_init(&out);
    cr_assert_eq(unicode_normalize(&out, form, text, strlen(text)), TAPML_OK);
    cr_assert_str_eq(out.data, expected);
    text_release(&out);
}

Test(unicode, normal_forms_compose_and_decompose)
{
    expect_form(UNICODE_NFC, "cafe\xcc\x81", "caf\xc3\xa9");
    expect_form(UNICODE_NFD, "caf\xc3\xa9", "cafe\xcc\x81");
    expect_form(UNICODE_NFKC, "\xef\xac\x81 \xe2\x85\xa7", "fi VIII");
    expect_form(UNICODE_NFKD, "\xef\xac\x81\xc3\xa9", "fie\xcc\x81");
    expect_form(UNICODE_NFC, "", "");
    // U+0EBA has no combining class in the older version: nothing composes over it.
    expect_form(UNICODE_NFC, "e\xe0\xba\xba\xcc\x81", "e\xe0\xba\xba\xcc\x81");
    expect_form(UNICODE_NFKC, "\xef\xac\x81\xe3\x8b\xbf", "fi\xe3\x8b\xbf"); // U+32FF
}

Test(unicode, marks_are_ordered_however_many_they_are)
{
    enum { PAIRS = 100000 };
    struct text marks;
    struct text out;
    expect_form(UNICODE_NFD, "a\xcc\x81\xcc\xa3", "a\xcc\xa3\xcc\x81");
    expect_form(UNICODE_NFC, "q\xcc\x81\xcc\xa3", "q\xcc\xa3\xcc\x81");
    text_init(&marks);
    text_init(&out);
    for (int i = 0; i < PAIRS; ++i) {
        text_append(&marks, "\xcc\x81\xcc\xa3"); // Of classes 230 and 220.
    }
    cr_assert_eq(unicode_normalize(&out, UNICODE_NFC, marks.data, marks.length), TAPML_OK);
    cr_assert_eq(out.length, marks.length);
    cr_assert_eq(memcmp(out.data + out.length / 2 - 2, "\xcc\xa3\xcc\x81", 4), 0);
    text_release(&marks);
    text_release(&out);
}

Test(unicode, lower_case_of_one_character_may_be_two)
{
    struct text out;
    text_init(&out);
    unicode_lower(&out, "A\xc4\xb0\xc3\x84\xe1\xb2\x89", 8); // U+1C89 is new.
    cr_assert_str_eq(out.data, "ai\xcc\x87\xc3\xa4\xe1\xb2\x8a");
    text_release(&out);
}

Test(unicode, a_grapheme_is_what_belongs_together)
{
    cr_assert_eq(unicode_grapheme("e\xcc\x81x", 4), 3);
    cr_assert_eq(unicode_grapheme("ab", 2), 1);
    cr_assert_eq(unicode_grapheme("\r\n", 2), 2);
}
