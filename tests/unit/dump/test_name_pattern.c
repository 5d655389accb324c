// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "dump/name_pattern.h"

#include <criterion/criterion.h>
#include <string.h>

Test(name_pattern, one_part_is_the_same_in_each_place)
{
    char part[NAME_PATTERN_PART];

    cr_assert(name_pattern_match("norm-*", "norm-12", part));
    cr_assert_str_eq(part, "12");
    cr_assert(name_pattern_match("a*b*", "a7b7", part));
    cr_assert_str_eq(part, "7");
    cr_assert_not(name_pattern_match("a*b*", "a7b8", part));
    cr_assert_not(name_pattern_match("norm-*", "norm-", part), "the part is not empty");
    cr_assert_not(name_pattern_match("norm-*", "form-1", part));
    cr_assert(name_pattern_match("norm", "norm", part));
    cr_assert_str_eq(part, "");
    cr_assert_not(name_pattern_match("norm", "norm-1", part));
}

Test(name_pattern, a_part_too_long_is_none)
{
    char part[NAME_PATTERN_PART], name[2 * NAME_PATTERN_PART] = "";

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    cr_assert_not(name_pattern_match("a*", name, part));
}

Test(name_pattern, a_name_is_filled)
{
    struct arena *arena = arena_create();

    cr_assert_str_eq(name_pattern_fill(arena, "l.*.w*", "12"), "l.12.w12");
    cr_assert_str_eq(name_pattern_fill(arena, "plain", "12"), "plain");
    cr_assert(name_pattern_is_open("a*"));
    cr_assert_not(name_pattern_is_open("a"));
    arena_destroy(arena);
}
