// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include <tapml/wire/wire.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// More than 32 bits of it count.
static const uint64_t NUMBER = 2ull << 32 | 41;

static void *grow(void *data, size_t used, size_t size)
{
    void *grown = size > 0 ? realloc(data, size) : NULL;

    if (size == 0) {
        free(data);
    }
    return grown;
}

static struct wire_writer make_frame(void)
{
    struct wire_writer writer = {.grow = grow};

    wire_begin(&writer, 7, NUMBER);
    wire_put_u32(&writer, 0x01020304u);
    wire_put_u64(&writer, UINT64_MAX - 1);
    wire_put_i64(&writer, -5);
    wire_put_f64(&writer, -0.0);
    wire_put_text(&writer, "a text");
    wire_put_text(&writer, NULL);
    wire_put_text(&writer, "");
    wire_end(&writer);
    cr_assert_not(writer.is_failed);
    return writer;
}

Test(wire, reads_what_was_written)
{
    struct wire_writer writer = make_frame();
    struct wire_frame frame;
    struct wire_reader reader;

    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    cr_assert_eq(frame.verb, 7);
    cr_assert_eq(frame.number, NUMBER);
    cr_assert_eq(wire_frame_bytes(&frame), writer.size);
    wire_reader_init(&reader, &frame);
    cr_assert_eq(wire_take_u32(&reader), 0x01020304u);
    cr_assert_eq(wire_take_u64(&reader), UINT64_MAX - 1);
    cr_assert_eq(wire_take_i64(&reader), -5);
    cr_assert(signbit(wire_take_f64(&reader)));
    cr_assert_str_eq(wire_take_text(&reader), "a text");
    cr_assert_null(wire_take_text(&reader));
    cr_assert_not(wire_is_done(&reader));
    cr_assert_str_eq(wire_take_text(&reader), "");
    cr_assert(wire_is_done(&reader));
    wire_writer_release(&writer);
}

Test(wire, bytes_are_as_long_as_the_reader_says)
{
    struct wire_writer writer = {.grow = grow};
    struct wire_frame frame;
    struct wire_reader reader;

    wire_begin(&writer, 1, 1);
    wire_put_bytes(&writer, "abcde", 5);
    wire_put_bytes(&writer, NULL, 0);
    wire_end(&writer);
    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    wire_reader_init(&reader, &frame);
    cr_assert_eq(wire_left(&reader), 5);
    cr_assert_arr_eq(wire_take_bytes(&reader, 3), "abc", 3);
    cr_assert_null(wire_take_bytes(&reader, 0));
    cr_assert_eq(wire_left(&reader), 2);
    cr_assert_null(wire_take_bytes(&reader, 3));
    cr_assert_eq(wire_left(&reader), 0); // Broken for good.
    cr_assert_null(wire_take_bytes(&reader, 1));
    cr_assert_not(wire_is_done(&reader));
    wire_writer_release(&writer);
}

Test(wire, has_a_layout_that_does_not_change)
{
    const unsigned char expected[] = {'T', 'A', 'P', 'L', 3, 0, 7, 0, 41, 0, 0, 0, 2, 0,
                                      0,   0,   48,  0,   0, 0, 0, 0, 0,  0, 4, 3, 2, 1};
    struct wire_writer writer = make_frame();

    cr_assert_arr_eq(writer.data, expected, sizeof(expected));
    wire_writer_release(&writer);
}

Test(wire, waits_for_the_rest)
{
    struct wire_writer writer = make_frame();
    struct wire_frame frame;

    for (size_t size = 0; size < writer.size; size++) {
        cr_assert_eq(wire_read(writer.data, size, &frame), WIRE_MORE, "%zu bytes", size);
    }
    wire_writer_release(&writer);
}

Test(wire, refuses_another_version_with_a_sentence)
{
    struct wire_writer writer = make_frame();
    struct wire_frame frame;
    char text[128];

    writer.data[4] = 9;
    const enum wire_result result = wire_read(writer.data, writer.size, &frame);

    cr_assert_eq(result, WIRE_WRONG_VERSION);
    wire_explain(result, &frame, text, sizeof(text));
    cr_assert_str_eq(text, "it speaks version 9 of the wire, this side speaks version 3");
    wire_writer_release(&writer);
}

Test(wire, refuses_what_is_no_frame)
{
    struct wire_writer writer = make_frame();
    struct wire_frame frame;
    char text[128];

    writer.data[19] = 0xff;
    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_TOO_LONG);
    wire_explain(WIRE_TOO_LONG, &frame, text, sizeof(text));
    cr_assert_not_null(strstr(text, "at most 16777216"));
    writer.data[0] = 'X';
    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_BAD_MAGIC);
    wire_writer_release(&writer);
}

Test(wire, stays_broken_behind_the_end)
{
    struct wire_writer writer = make_frame();
    struct wire_frame frame;
    struct wire_reader reader;

    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    frame.size = 6;
    wire_reader_init(&reader, &frame);
    (void)wire_take_u32(&reader);
    cr_assert_eq(wire_take_u64(&reader), 0);
    cr_assert(reader.is_broken);
    cr_assert_eq(wire_take_u32(&reader), 0);
    cr_assert_null(wire_take_text(&reader));
    cr_assert_not(wire_is_done(&reader));
    wire_writer_release(&writer);
}

Test(wire, believes_no_count_and_no_text_that_cannot_be)
{
    const unsigned char many[] = {255, 255, 255, 255, 0, 0, 0, 0};
    const unsigned char open_text[] = {2, 0, 0, 0, 'a', 'b'};
    const unsigned char cut_text[] = {3, 0, 0, 0, 'a', 0, 0};
    struct wire_reader reader;

    wire_reader_init(&reader, &(struct wire_frame){.size = sizeof(many), .data = many});
    cr_assert_eq(wire_take_count(&reader, 4), 0);
    cr_assert(reader.is_broken);
    wire_reader_init(&reader, &(struct wire_frame){.size = sizeof(open_text), .data = open_text});
    cr_assert_null(wire_take_text(&reader), "it has no end");
    cr_assert(reader.is_broken);
    wire_reader_init(&reader, &(struct wire_frame){.size = sizeof(cut_text), .data = cut_text});
    cr_assert_null(wire_take_text(&reader), "it ends twice");
    cr_assert(reader.is_broken);
}

static void *grow_never(void *data, size_t used, size_t size)
{
    return NULL;
}

Test(wire, marks_a_writer_without_memory)
{
    struct wire_writer writer = {.grow = grow_never};

    wire_begin(&writer, 1, 1);
    wire_put_text(&writer, "x");
    wire_end(&writer);
    cr_assert(writer.is_failed);
    cr_assert_eq(writer.size, 0);
}
