// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <criterion/criterion.h>

static void expect(const char *bytes, size_t size, uint32_t code, size_t length)
{
    uint32_t found = 0;
    cr_assert_eq(utf8_read(bytes, size, &found), length, "%02x", (unsigned char)bytes[0]);
    cr_assert_eq(found, code, "%02x gives %x", (unsigned char)bytes[0], found);
}

Test(utf8, is_read_strictly)
{
    expect("a", 1, 'a', 1);
    expect("\0", 1, 0, 1);
    expect("\xc2\x80", 2, 0x80, 2);
    expect("\xdf\xbf", 2, 0x7ff, 2);
    expect("\xe0\xa0\x80", 3, 0x800, 3);
    expect("\xef\xbf\xbf", 3, 0xffff, 3);
    expect("\xf0\x90\x80\x80", 4, 0x10000, 4);
    expect("\xf4\x8f\xbf\xbf", 4, 0x10ffff, 4);
    // What U+FFFD stands for is as long as it could have become a character.
    expect("\x80", 1, UTF8_MALFORMED, 1);
    expect("\xc0\x80", 2, UTF8_MALFORMED, 1);
    expect("\xe0\x9f\xbf", 3, UTF8_MALFORMED, 1);
    expect("\xe2\x82", 2, UTF8_MALFORMED, 2);
    expect("\xe2\x82z", 3, UTF8_MALFORMED, 2);
    expect("\xed\xa0\x80", 3, UTF8_MALFORMED, 1);
    expect("\xf0\x9f\x98", 3, UTF8_MALFORMED, 3);
    expect("\xf4\x90\x80\x80", 4, UTF8_MALFORMED, 1);
    expect("\xf5\x80\x80\x80", 4, UTF8_MALFORMED, 1);
    cr_assert(utf8_is_valid("a\xc3\xa4", 3));
    cr_assert(utf8_is_valid("", 0));
    cr_assert_not(utf8_is_valid("a\xc3\xa4", 2));
}

Test(utf8, made_plain_it_commands_no_terminal)
{
    char text[] = "a\033[2J\tb\n\x7f\xc2\x9b\xc2\xa0\xc3\x9b\r\xc2";
    utf8_make_plain(text);
    cr_assert_str_eq(text, "a?[2J\tb\n???\xc2\xa0\xc3\x9b?\xc2");
}
