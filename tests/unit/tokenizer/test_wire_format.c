// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tokenizer/wire_format.h"

#include <criterion/criterion.h>

#define START(reader_, ...)                                                                        \
    wire_format_start(reader_, (const unsigned char[]){__VA_ARGS__},                               \
                      sizeof((const unsigned char[]){__VA_ARGS__}))

Test(wire_format, fields_follow_one_another)
{
    struct wire_format reader;
    struct wire_format_field field;
    START(&reader, 0x08, 0x96, 0x01, 0x12, 2, 'a', 'b', 0x1d, 0, 0, 0x80, 0x3f);
    cr_assert(wire_format_next(&reader, &field));
    cr_assert(field.number == 1 && field.value == 150 && !field.bytes);
    cr_assert(wire_format_next(&reader, &field));
    cr_assert(field.number == 2 && field.size == 2 && field.bytes[1] == 'b');
    cr_assert(wire_format_next(&reader, &field));
    cr_assert(field.number == 3 && field.value == 0x3f800000);
    cr_assert_not(wire_format_next(&reader, &field));
    cr_assert_not(reader.failed);
}

static void expect_failed(const unsigned char *bytes, size_t size)
{
    struct wire_format reader;
    struct wire_format_field field;
    wire_format_start(&reader, bytes, size);
    while (wire_format_next(&reader, &field)) {
        cr_assert_neq(field.number, 0);
    }
    cr_assert(reader.failed);
}

Test(wire_format, sizes_that_lie_end_the_reading)
{
    expect_failed((const unsigned char[]){0x12, 3, 'a', 'b'}, 4);
    expect_failed((const unsigned char[]){0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 'b'}, 7);
    expect_failed((const unsigned char[]){0x08, 0xff}, 2);
    expect_failed((const unsigned char[]){0x1d, 0, 0}, 3);
    expect_failed((const unsigned char[]){0x0b}, 1); // A group.
    expect_failed((const unsigned char[]){0x00, 1}, 2);
    expect_failed((const unsigned char[]){8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1},
                  12);
}
