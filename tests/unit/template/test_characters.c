// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "template/characters.h"

#include <criterion/criterion.h>
#include <string.h>

Test(characters, know_the_white_space_of_python)
{
    cr_assert(characters_is_space(' ') && characters_is_space('\n') && characters_is_space(0x1c));
    cr_assert(characters_is_space(0xa0) && characters_is_space(0x3000));
    cr_assert_not(characters_is_space(0x200b) || characters_is_space('a'));
}

Test(characters, count_space_at_both_ends)
{
    const char text[] = " \xc2\xa0x \xe3\x80\x80";
    cr_assert_eq(characters_space_before(text, strlen(text)), 3);
    cr_assert_eq(characters_space_behind(text, strlen(text)), 4);
    cr_assert_eq(characters_space_behind("  ", 2), 2);
    cr_assert_eq(characters_space_before("", 0), 0);
}

Test(characters, are_not_bytes)
{
    const char text[] = "a\xc3\xa9z";
    cr_assert_eq(characters_count(text, 4), 3);
    cr_assert_eq(characters_offset(text, 4, 2), 3);
    cr_assert_eq(characters_offset(text, 4, 9), 4);
}

Test(characters, are_written)
{
    char bytes[4];
    cr_assert_eq(characters_write('A', bytes), 1);
    cr_assert_eq(characters_write(0xe9, bytes), 2);
    cr_assert_eq(memcmp(bytes, "\xc3\xa9", 2), 0);
    cr_assert_eq(characters_write(0x20ac, bytes), 3);
    cr_assert_eq(memcmp(bytes, "\xe2\x82\xac", 3), 0);
    cr_assert_eq(characters_write(0x1f600, bytes), 4);
    cr_assert_eq(memcmp(bytes, "\xf0\x9f\x98\x80", 4), 0);
    cr_assert_eq(characters_write(0xd800, bytes), 3);
    cr_assert_eq(memcmp(bytes, "\xef\xbf\xbd", 3), 0);
}

Test(characters, find_a_piece)
{
    cr_assert_eq(characters_find("abcabc", 6, "ca", 2), 2);
    cr_assert_eq(characters_find("abc", 3, "x", 1), 3);
    cr_assert_eq(characters_find("abc", 3, "", 0), 0);
}
