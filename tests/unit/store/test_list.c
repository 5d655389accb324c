// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/scratch.h"
#include "store/list.h"

Test(list, prints_and_parses)
{
    const int64_t values[] = {5, -128, INT64_MAX, INT64_MIN};
    int64_t again[4] = {0};
    size_t count = 0;
    struct text text;
    text_init(&text);
    list_print(&text, values, 4);
    cr_assert_str_eq(text.data, "[5,-128,9223372036854775807,-9223372036854775808]");
    cr_assert_eq(list_parse(text.data, again, 4, &count), TAPML_OK);
    cr_assert_eq(count, 4);
    cr_assert_arr_eq(again, values, sizeof(values));
    text_release(&text);
}

Test(list, empty_is_a_list)
{
    size_t count = 7;
    struct text text;
    text_init(&text);
    list_print(&text, NULL, 0);
    cr_assert_str_eq(text.data, "[]");
    cr_assert_eq(list_parse("[]", NULL, 0, &count), TAPML_OK);
    cr_assert_eq(count, 0);
    text_release(&text);
}

Test(list, refuses_what_is_none)
{
    static const char *const WRONG[] = {
        "",     "[",     "]",    "5",     "[5",     "5]",     "[5,]",
        "[,5]", "[5 ]",  "[ 5]", "[5]x",  "[]]",    "[5,,6]", "[0x10]",
        "[-]",  "[1.5]", "[+5]", "[5;6]", "[null]", "[[5]",   "[99999999999999999999]",
    };
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        int64_t values[8];
        size_t count = 0;
        cr_expect_eq(list_parse(WRONG[i], values, 8, &count), TAPML_INVALID, "'%s'", WRONG[i]);
    }
}

Test(list, refuses_more_than_there_is_room_for)
{
    int64_t values[3] = {0, 0, 77};
    size_t count = 0;
    cr_assert_eq(list_parse("[1,2,3]", values, 2, &count), TAPML_INVALID);
    cr_assert_eq(values[2], 77);
}

Test(list, i32_of_any_length)
{
    enum { COUNT = 1000 };
    int32_t values[COUNT];
    for (int i = 0; i < COUNT; i++) {
        values[i] = i * 2000003 - 1000000000;
    }
    struct text text;
    text_init(&text);
    list_print_i32(&text, values, COUNT);
    int32_t *again = NULL;
    size_t count = 0;
    cr_assert_eq(list_parse_i32(text.data, &again, &count), TAPML_OK);
    cr_assert_eq(count, COUNT);
    cr_assert_arr_eq(again, values, sizeof(values));
    alloc_free(again);
    text_release(&text);
}

Test(list, i32_refuses_wide_numbers)
{
    int32_t *values = NULL;
    size_t count = 0;
    cr_assert_eq(list_parse_i32("[2147483648]", &values, &count), TAPML_INVALID);
    cr_assert_eq(alloc_live(), 0);
}

static tapml_status parse_and_free(void)
{
    int32_t *values = NULL;
    size_t count = 0;
    TAPML_TRY(list_parse_i32("[1,2,3]", &values, &count));
    alloc_free(values);
    return TAPML_OK;
}

Test(list, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(parse_and_free());
}
