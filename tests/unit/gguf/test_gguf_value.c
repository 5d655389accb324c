// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "gguf/gguf_value.h"

#include <criterion/criterion.h>
#include <string.h>

static struct gguf_value make(enum gguf_value_type type, const void *data)
{
    return (struct gguf_value){.key = "k", .type = type, .count = 1, .data = data};
}

Test(gguf_value, numbers_keep_their_sign)
{
    static const unsigned char bytes[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        enum gguf_value_type type;
        int64_t integer;
    } cases[] = {{GGUF_U8, 254},         {GGUF_I8, -2},  {GGUF_U16, 65534}, {GGUF_I16, -2},
                 {GGUF_U32, 4294967294}, {GGUF_I32, -2}, {GGUF_I64, -2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
        const struct gguf_value value = make(cases[i].type, bytes);
        int64_t integer = 0;
        double number = 0;
        cr_assert(gguf_value_integer(&value, 0, &integer));
        cr_assert_eq(integer, cases[i].integer);
        cr_assert(gguf_value_number(&value, 0, &number));
        cr_assert_eq(number, (double)cases[i].integer);
        cr_assert_not(gguf_value_integer(&value, 1, &integer), "there is one item");
    }
    const struct gguf_value large = make(GGUF_U64, bytes);
    int64_t integer = 7;
    cr_assert_not(gguf_value_integer(&large, 0, &integer), "it has 64 bits");
    cr_assert_eq(integer, 7);
}

Test(gguf_value, reals_are_numbers_and_no_integers)
{
    const float single = 0.5F;
    const double both = -0.25;
    const struct gguf_value a = make(GGUF_F32, &single);
    const struct gguf_value b = make(GGUF_F64, &both);
    double number = 0;
    int64_t integer = 0;
    cr_assert(gguf_value_number(&a, 0, &number) && number == 0.5);
    cr_assert(gguf_value_number(&b, 0, &number) && number == -0.25);
    cr_assert_not(gguf_value_integer(&a, 0, &integer));
}

Test(gguf_value, texts_follow_one_another)
{
    static const unsigned char bytes[] = "\x02\0\0\0\0\0\0\0ab\x01\0\0\0\0\0\0\0c";
    struct gguf_value value = make(GGUF_TEXT, bytes);
    struct gguf_text text;
    double number = 0;
    cr_assert(gguf_value_text(&value, &text));
    cr_assert(text.length == 2 && memcmp(text.bytes, "ab", 2) == 0);
    cr_assert_not(gguf_value_number(&value, 0, &number));
    value.is_array = 1;
    value.count = 2;
    cr_assert_not(gguf_value_text(&value, &text), "an array is no text");
    const unsigned char *at = value.data;
    cr_assert_eq(gguf_value_next_text(&at).length, 2);
    cr_assert_eq(*gguf_value_next_text(&at).bytes, 'c');
}

Test(gguf_value, types_have_names_and_sizes)
{
    cr_assert_str_eq(gguf_value_type_name(GGUF_ARRAY), "array");
    cr_assert_eq(gguf_value_item_bytes(GGUF_I16), 2);
    cr_assert_eq(gguf_value_item_bytes(GGUF_TEXT), 0);
    cr_assert_eq(gguf_value_item_bytes(1000), 0);
}
