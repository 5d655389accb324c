// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/utf8.h"
#include "tokenizer/byte_level.h"

#include <criterion/criterion.h>

Test(byte_level, every_byte_goes_there_and_back)
{
    struct text characters;
    struct text bytes;
    text_init(&characters);
    text_init(&bytes);
    for (unsigned byte = 0; byte < 256; ++byte) {
        const unsigned char one = (unsigned char)byte;
        text_clear(&characters);
        text_clear(&bytes);
        byte_level_write(&characters, &one, 1);
        // Printable: neither a control character nor a space.
        uint32_t code = 0;
        cr_assert_eq(utf8_read(characters.data, characters.length, &code), characters.length);
        cr_assert(code > 0x20 && !(code >= 0x7f && code <= 0xa0) && code != 0xad, "%02x", byte);
        cr_assert(byte_level_read(&bytes, characters.data, characters.length));
        cr_assert_eq(bytes.length, 1);
        cr_assert_eq((unsigned char)bytes.data[0], byte);
    }
    text_release(&characters);
    text_release(&bytes);
}

static void expect_written(const char *bytes, const char *expected)
{
    struct text text;
    text_init(&text);
    byte_level_write(&text, bytes, strlen(bytes));
    cr_assert_str_eq(text.data, expected);
    text_release(&text);
}

Test(byte_level, the_characters_are_those_of_gpt2)
{
    expect_written(" a\n", "\xc4\xa0"
                           "a"
                           "\xc4\x8a");
    expect_written("\x7f\xa0\xad\xff", "\xc4\xa1\xc5\x82\xc5\x83\xc3\xbf");
    expect_written("\xc3\xa4", "\xc3\x83\xc2\xa4");
}

Test(byte_level, other_tokens_stay_as_they_are)
{
    struct text text;
    text_init(&text);
    text_append(&text, "<");
    cr_assert_not(byte_level_read(&text, "a b", 3));
    cr_assert_str_eq(text.data, "<a b");
    cr_assert_not(byte_level_read(&text, "a\xe2\x82\xac", 4));
    cr_assert_str_eq(text.data, "<a ba\xe2\x82\xac");
    cr_assert(byte_level_read(&text, "\xc4\xa0", 2));
    cr_assert_str_eq(text.data, "<a ba\xe2\x82\xac ");
    cr_assert_not(byte_level_read(&text, "\xc5\x84", 2)); // U+0144, the first that stands for none.
    text_release(&text);
}
