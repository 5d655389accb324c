// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/random.h"
#include "link/message.h"
#include "remote/bulk.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static unsigned char bytes[PIECE_BYTES_MAX], unpacked[PIECE_BYTES_MAX];
static struct bulk_packer *packer;
static struct wire_writer writer;

static void setup(void)
{
    packer = bulk_packer_create();
    cr_assert_not_null(packer);
    writer = MESSAGE_WRITER;
}

static void teardown(void)
{
    bulk_packer_destroy(packer);
    wire_writer_release(&writer);
}

TestSuite(bulk, .init = setup, .fini = teardown);

static void fill_with_noise(uint64_t seed)
{
    struct random random;

    random_init(&random, seed);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)random_u64(&random);
    }
}

static void fill_with_a_pattern(void)
{
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)(i / 64);
    }
}

static struct wire_frame frame_of(const struct wire_writer *written)
{
    struct wire_frame frame;

    cr_assert_not(written->is_failed);
    cr_assert_eq(wire_read(written->data, written->size, &frame), WIRE_FRAME);
    cr_assert_eq(wire_frame_bytes(&frame), written->size);
    return frame;
}

// Returns the bytes that go over the connection.
static size_t expect_trip(uint32_t size, const struct hash *hash)
{
    const struct bulk_span span = {5 | MESSAGE_IS_IMPORT, UINT64_C(1) << 40, size};
    struct bulk_data data;

    writer.size = 0;
    bulk_put_data(packer, &writer, &span, hash, bytes);
    const struct wire_frame frame = frame_of(&writer);

    cr_assert_eq(frame.verb, hash != NULL ? BULK_PIECE : BULK_DATA);
    MUST(bulk_take(&frame, &data));
    cr_assert_eq(data.span.number, span.number);
    cr_assert_eq(data.span.offset, span.offset);
    cr_assert_eq(data.span.bytes, size);
    cr_assert(hash == NULL || hash_equal(*hash, data.hash));
    memset(unpacked, 0xa5, sizeof(unpacked));
    MUST(bulk_unpack(&data, unpacked));
    cr_assert_eq(memcmp(unpacked, bytes, size), 0);
    cr_assert(size == sizeof(unpacked) || unpacked[size] == 0xa5);
    return writer.size;
}

Test(bulk, makes_what_can_be_smaller_smaller)
{
    const struct hash hash = {3, 4};

    fill_with_a_pattern();
    cr_assert_lt(expect_trip(PIECE_BYTES_MAX, NULL), PIECE_BYTES_MAX / 8);
    cr_assert_lt(expect_trip(PIECE_BYTES_MAX, &hash), PIECE_BYTES_MAX / 8);
    cr_assert_lt(expect_trip(1000, NULL), 500);
    cr_assert_geq(expect_trip(100, NULL), 100);
    (void)expect_trip(1, &hash);
}

Test(bulk, sends_noise_as_it_is)
{
    const struct hash hash = {1, 2};

    for (uint32_t size = 1; size < PIECE_BYTES_MAX; size = size * 3 + 1) {
        fill_with_noise(size);
        const size_t sent = expect_trip(size, &hash);

        cr_assert(sent >= size && sent < size + 100, "%zu for %u", sent, size);
    }
    (void)expect_trip(PIECE_BYTES_MAX, NULL);
}

// After noise it is tried less often, but some time it is, and then always.
Test(bulk, finds_out_that_it_pays_again)
{
    int tries = 0;

    fill_with_noise(1);
    for (int i = 0; i < 200; i++) {
        (void)expect_trip(2000, NULL);
    }
    fill_with_a_pattern();
    while (expect_trip(2000, NULL) > 1000) {
        tries++;
    }
    cr_assert_leq(tries, 31);
    for (int i = 0; i < 40; i++) {
        cr_assert_lt(expect_trip(2000, NULL), 1000);
    }
}

Test(bulk, names_a_piece_by_its_hash)
{
    const struct bulk_span span = {1, 2, PIECE_BYTES_MAX};
    struct bulk_data data;

    bulk_put_place(&writer, &span, (struct hash){7, 8});
    const struct wire_frame frame = frame_of(&writer);

    cr_assert_eq(frame.verb, BULK_PLACE);
    MUST(bulk_take(&frame, &data));
    cr_assert(hash_equal(data.hash, (struct hash){7, 8}));
    cr_assert_eq(data.span.bytes, PIECE_BYTES_MAX);
    cr_assert_null(data.packed);
}

static void refuse(const struct wire_frame *frame, const char *what)
{
    struct bulk_data data;

    cr_assert_eq(bulk_take(frame, &data), TAPML_INVALID, "%s", what);
    cr_assert_not_null(strstr(status_message(), "malformed"), "%s", status_message());
}

// Each shorter frame of all three kinds is malformed, or has other bytes than it says.
static void expect_no_shorter_one(void)
{
    const struct wire_frame whole = frame_of(&writer);

    for (uint32_t size = 0; size < whole.size; size++) {
        struct wire_frame frame = whole;
        struct bulk_data data;

        frame.size = size;
        if (bulk_take(&frame, &data) == TAPML_OK) {
            cr_assert_neq(frame.verb, BULK_PLACE);
            cr_assert_eq(bulk_unpack(&data, unpacked), TAPML_INVALID, "%u bytes", size);
        }
    }
}

Test(bulk, refuses_what_is_cut_off)
{
    const struct bulk_span span = {1, 2, 600};
    const struct hash hash = {7, 8};

    fill_with_a_pattern();
    bulk_put_data(packer, &writer, &span, NULL, bytes);
    expect_no_shorter_one();
    writer.size = 0;
    bulk_put_data(packer, &writer, &span, &hash, bytes);
    expect_no_shorter_one();
    writer.size = 0;
    bulk_put_place(&writer, &span, hash);
    expect_no_shorter_one();
    fill_with_noise(3);
    writer.size = 0;
    bulk_put_data(packer, &writer, &span, NULL, bytes);
    expect_no_shorter_one();
}

// A frame as a stranger writes it.
static struct wire_frame write_data(uint32_t size, uint32_t codec, const void *packed, size_t count)
{
    writer.size = 0;
    wire_begin(&writer, BULK_DATA, 0);
    wire_put_u32(&writer, 1);
    wire_put_u64(&writer, 0);
    wire_put_u32(&writer, size);
    wire_put_u32(&writer, codec);
    wire_put_bytes(&writer, packed, count);
    wire_end(&writer);
    return frame_of(&writer);
}

Test(bulk, refuses_sizes_that_cannot_be)
{
    struct wire_frame frame = write_data(0, 0, bytes, 0);

    refuse(&frame, "no bytes");
    frame = write_data(PIECE_BYTES_MAX + 1, 0, bytes, 8);
    refuse(&frame, "too many");
    frame = write_data(UINT32_MAX, 1, bytes, 8);
    refuse(&frame, "far too many");
    frame = write_data(8, 2, bytes, 8);
    refuse(&frame, "another codec");
}

static void expect_damage(struct wire_frame frame)
{
    struct bulk_data data;

    MUST(bulk_take(&frame, &data));
    cr_assert_eq(bulk_unpack(&data, unpacked), TAPML_INVALID);
}

Test(bulk, refuses_bytes_that_are_others_than_it_says)
{
    struct bulk_data data;

    fill_with_a_pattern();
    expect_damage(write_data(8, 0, bytes, 9));
    expect_damage(write_data(8, 0, bytes, 7));
    expect_damage(write_data(8, 1, bytes, 8));
    bulk_put_data(packer, &writer, &(struct bulk_span){1, 0, 4000}, NULL, bytes);
    writer.size = 0;
    bulk_put_data(packer, &writer, &(struct bulk_span){1, 0, 4000}, NULL, bytes);
    const struct wire_frame frame = frame_of(&writer);

    MUST(bulk_take(&frame, &data));
    cr_assert_eq(data.codec, 1);
    // It unpacks to more, or fewer, bytes than there is room for: what is behind stays.
    unpacked[10] = 0x5a;
    data.span.bytes = 10;
    cr_assert_eq(bulk_unpack(&data, unpacked), TAPML_INVALID);
    cr_assert_eq(unpacked[10], 0x5a);
    data.span.bytes = 4001;
    cr_assert_eq(bulk_unpack(&data, unpacked), TAPML_INVALID);
    data.span.bytes = 4000;
    data.packed_bytes--;
    cr_assert_eq(bulk_unpack(&data, unpacked), TAPML_INVALID);
}

Test(bulk, keeps_a_lack_of_memory)
{
    const struct bulk_span span = {1, 0, 4000};

    alloc_fail_at(1);
    bulk_put_data(packer, &writer, &span, NULL, bytes);
    alloc_fail_at(0);
    cr_assert(writer.is_failed);
    alloc_fail_at(1);
    cr_assert_null(bulk_packer_create());
    alloc_fail_at(0);
}
