// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/ini_edit.h"

#include <criterion/criterion.h>

static void expect(const char *ini, const struct ini_edit *edit, const char *expected)
{
    struct text text;

    text_init(&text);
    ini_edit_apply(ini, edit, &text);
    cr_expect_str_eq(text.data, expected);
    text_release(&text);
}

static const struct ini_edit set = {"check", "ahead", "16"};
static const struct ini_edit gone = {"run", "comparers", NULL};

Test(ini_edit, a_key_gets_another_value_in_its_place)
{
    expect("; mine\n[check]\nahead = 1 ; slow\nstress = 2%\n", &set,
           "; mine\n[check]\nahead = 16\nstress = 2%\n");
    expect("[check]\nahead=1\nahead = 2\n", &set, "[check]\nahead = 16\n");
}

Test(ini_edit, a_key_of_another_section_stays)
{
    expect("[run]\nahead = 1\n[check]\nx = 2\n", &set,
           "[run]\nahead = 1\n[check]\nahead = 16\nx = 2\n");
    expect("[checks]\nahead = 1\n", &set, "[checks]\nahead = 1\n\n[check]\nahead = 16\n");
    expect("[check]\naheads = 1\n", &set, "[check]\nahead = 16\naheads = 1\n");
}

Test(ini_edit, a_section_that_is_missing_is_put_at_the_end)
{
    expect("[run]\ndir = a", &set, "[run]\ndir = a\n\n[check]\nahead = 16\n");
    expect("", &set, "\n[check]\nahead = 16\n");
}

Test(ini_edit, a_head_without_an_end_of_line_gets_one)
{
    expect("[check]", &set, "[check]\nahead = 16\n");
}

Test(ini_edit, a_key_goes)
{
    expect("[run]\ncomparers = snr\ndir = a\n", &gone, "[run]\ndir = a\n");
    expect("[model]\npath = a\n", &gone, "[model]\npath = a\n");
}

Test(ini_edit, one_key_is_set_after_the_other)
{
    const struct ini_edit edits[] = {{"run", "cache", "8"}, set};
    struct text text;

    text_init(&text);
    cr_expect_eq(ini_edit_all("[run]\ndir = a\n", edits, 2, &text), TAPML_OK);
    cr_expect_str_eq(text.data, "[run]\ncache = 8\ndir = a\n\n[check]\nahead = 16\n");
    text_release(&text);
}
