// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/key_table.h"

#include <criterion/criterion.h>

static const struct key_section sections[] = {{"one", "one", "First.", 0},
                                              {"many.", "many.NAME", "Others.", 0}};
static const struct key keys[] = {
    {.section = "one", .name = "count", .kind = KEY_NUMBER, .low = 1, .high = 9},
    {.section = "many.", .name = "word", .kind = KEY_CHOICE, .words = "yes no"},
    {.section = "many.", .name = "share", .kind = KEY_REAL, .high = 1},
    {.section = "one", .name = "path", .kind = KEY_TEXT, .type = "a file"},
};
static const struct key_table table = {sections, 2, keys, 4, "see the manual"};

Test(key_table, a_section_is_its_name_or_one_of_many)
{
    cr_assert_eq(key_table_section(&table, "one"), &sections[0]);
    cr_assert_eq(key_table_section(&table, "many.x"), &sections[1]);
    cr_assert_null(key_table_section(&table, "many."));
    cr_assert_null(key_table_section(&table, "one.x"));
}

Test(key_table, a_key_is_found_in_its_own_section)
{
    cr_assert_eq(key_table_find(&table, "many.y", "share"), &keys[2]);
    cr_assert_eq(key_table_find(&table, "one", "path"), &keys[3]);
    cr_assert_null(key_table_find(&table, "one", "share"));
    cr_assert_null(key_table_find(&table, "two", "count"));
}

Test(key_table, a_type_is_told_in_words)
{
    static const char *const expected[] = {"a whole number from 1 to 9", "'yes' or 'no'",
                                           "a number above 0, at most 1", "a file"};

    for (size_t i = 0; i < 4; i++) {
        struct text text;

        text_init(&text);
        key_table_type(&keys[i], &text);
        cr_assert_str_eq(text.data, expected[i]);
        text_release(&text);
    }
}

Test(key_table, a_value_is_printed_so_that_it_is_read_again)
{
    char value[400];
    struct text text;

    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    memcpy(value, "a;b\nc\xc3\xa9", 7);
    text_init(&text);
    key_table_print(&text, "reason", value);
    cr_assert_eq(strncmp(text.data, "reason = a b c  xxx", 19), 0, "%s", text.data);
    cr_assert_lt(text.length, 189);
    cr_assert_eq(text.data[text.length - 1], '\n');
    text_release(&text);
}

// What is blank at the begin is not there when the line is read again.
Test(key_table, blanks_at_the_begin_go_and_nothing_else_is_no_value)
{
    struct text text;

    text_init(&text);
    key_table_print(&text, "reason", "\x01\n exp; too large");
    cr_assert_str_eq(text.data, "reason = exp  too large\n");
    cr_expect(key_table_can_print("\x01"
                                  "a"));
    cr_expect_not(key_table_can_print("\x01\xc3\xa9; \n"));
    cr_expect_not(key_table_can_print(""));
    text_release(&text);
}
