// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/shared.h"
#include "link/message.h"
#include "remote/shadow.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BYTES = 4096 };

static struct shadow shadow;
static struct mirror mirror;
static struct wire_writer writer;
static unsigned char *memory; // Region 0.

static void setup(void)
{
    int descriptor = -1;

    cr_assert_eq(mirror_make(&mirror, 0, BYTES, BYTES, &descriptor), TAPML_OK);
    memory = mirror_span(&mirror, 0, 0, BYTES);
    for (size_t i = 0; i < BYTES; i++) {
        memory[i] = (unsigned char)(i * 7);
    }
    writer = MESSAGE_WRITER;
}

static void teardown(void)
{
    shadow_release(&shadow);
    mirror_release(&mirror);
    wire_writer_release(&writer);
}

TestSuite(shadow, .init = setup, .fini = teardown);

static void follow(void)
{
    struct wire_frame frame;

    wire_end(&writer);
    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    shadow_follow(&shadow, &mirror, &frame);
    writer.size = 0;
}

static void make(uint32_t number, uint64_t size)
{
    wire_begin(&writer, MESSAGE_BUFFER_NEW, 1);
    wire_put_u32(&writer, number);
    wire_put_u64(&writer, size);
    follow();
}

static void put_part(uint16_t verb, uint32_t number, uint64_t offset, uint64_t bytes)
{
    wire_begin(&writer, verb, 1);
    wire_put_u32(&writer, number);
    wire_put_u64(&writer, offset);
    wire_put_u64(&writer, bytes);
}

static void write_from(uint32_t number, uint64_t offset, uint64_t bytes, uint64_t from)
{
    put_part(MESSAGE_WRITE, number, offset, bytes);
    wire_put_u32(&writer, 0);
    wire_put_u64(&writer, from);
    follow();
}

static const unsigned char *find(uint32_t number, uint64_t offset, uint64_t bytes)
{
    return shadow_find(&shadow, &(struct shadow_part){number, offset, bytes});
}

Test(shadow, has_what_was_written_filled_and_copied)
{
    const uint32_t pattern = 0x01020304;

    make(3, 256);
    make(5, 256);
    write_from(3, 16, 64, 1000);
    cr_assert_eq(memcmp(find(3, 16, 64), memory + 1000, 64), 0);
    put_part(MESSAGE_FILL, 3, 80, 8);
    wire_put_u32(&writer, pattern);
    follow();
    cr_assert_eq(memcmp(find(3, 80, 4), &pattern, 4), 0);
    cr_assert_eq(memcmp(find(3, 84, 4), &pattern, 4), 0);
    put_part(MESSAGE_COPY, 3, 16, 72);
    wire_put_u32(&writer, 5);
    wire_put_u64(&writer, 0);
    follow();
    cr_assert_eq(memcmp(find(5, 0, 72), find(3, 16, 72), 72), 0);
}

Test(shadow, is_of_buffers_that_are_there_and_not_too_large)
{
    make(1, 256);
    make(2, (uint64_t)SHADOW_BUFFER_BYTES_MAX + 1);
    cr_assert_not_null(find(1, 0, 256));
    cr_assert_null(find(1, 1, 256), "it goes beyond the buffer");
    cr_assert_null(find(1, UINT64_MAX, 2));
    cr_assert_null(find(2, 0, 1));
    cr_assert_null(find(7, 0, 1));
    write_from(2, 0, 64, 0); // Nothing happens.
    wire_begin(&writer, MESSAGE_BUFFER_FREE, 1);
    wire_put_u32(&writer, 1);
    follow();
    cr_assert_null(find(1, 0, 1));
    cr_assert_eq(shadow.bytes, 0);
}

Test(shadow, takes_no_more_than_it_may)
{
    uint32_t number = 1;

    for (; shadow.bytes + SHADOW_BUFFER_BYTES_MAX <= SHADOW_BYTES_MAX; number++) {
        make(number, SHADOW_BUFFER_BYTES_MAX);
    }
    make(number, 1);
    cr_assert_null(find(number, 0, 1));
    make(1, 1); // In the place of another one.
    cr_assert_not_null(find(1, 0, 1));
    make(number, 1);
    cr_assert_not_null(find(number, 0, 1));
}

// What was queued behind a read counts more than what that has found.
Test(shadow, learns_what_was_read_unless_something_was_written_since)
{
    const struct shadow_part part = {3, 0, 64};

    make(3, 256);
    const uint64_t changes = shadow_changes(&shadow, 3);

    shadow_learn(&shadow, &part, memory + 500, changes);
    cr_assert_eq(memcmp(find(3, 0, 64), memory + 500, 64), 0);
    write_from(3, 32, 64, 100);
    cr_assert_neq(shadow_changes(&shadow, 3), changes);
    shadow_learn(&shadow, &part, memory + 900, changes);
    cr_assert_eq(memcmp(find(3, 0, 32), memory + 500, 32), 0);
    cr_assert_eq(memcmp(find(3, 32, 64), memory + 100, 64), 0);
    cr_assert_eq(shadow_changes(&shadow, 9), 0);
}
