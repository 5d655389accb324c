// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "dump/archive.h"

#include <criterion/criterion.h>
#include <string.h>
#include <zlib.h>

// An archive of one entry, "a.npy", made by hand.
struct made {
    unsigned char bytes[1024];
    size_t size, row, end;
};

static void put(struct made *made, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        made->bytes[made->size++] = (unsigned char)(value >> (8 * i));
    }
}

static void put_bytes(struct made *made, const void *bytes, size_t size)
{
    memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

static size_t deflate_raw(const void *bytes, size_t size, unsigned char *out, size_t room)
{
    z_stream stream = {0};

    cr_assert_eq(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t packed = room - stream.avail_out;

    (void)deflateEnd(&stream);
    return packed;
}

static struct made make(const void *bytes, size_t size, int is_deflated)
{
    struct made made = {0};
    unsigned char packed[512];
    size_t packed_size = size;
    const uint32_t sum = (uint32_t)crc32(0, bytes, (uInt)size);

    memcpy(packed, bytes, size);
    if (is_deflated) {
        packed_size = deflate_raw(bytes, size, packed, sizeof(packed));
    }
    put(&made, 0x04034b50, 4);
    put(&made, 0, 4);
    put(&made, is_deflated ? 8 : 0, 2);
    put(&made, 0, 4);
    put(&made, sum, 4);
    put(&made, 0, 8); // Sizes are those of the directory.
    put(&made, 5, 2);
    put(&made, 0, 2);
    put_bytes(&made, "a.npy", 5);
    put_bytes(&made, packed, packed_size);
    made.row = made.size;
    put(&made, 0x02014b50, 4);
    put(&made, 0, 6);
    put(&made, is_deflated ? 8 : 0, 2);
    put(&made, 0, 4);
    put(&made, sum, 4);
    put(&made, packed_size, 4);
    put(&made, size, 4);
    put(&made, 5, 2);
    put(&made, 0, 16);
    put_bytes(&made, "a.npy", 5);
    made.end = made.size;
    put(&made, 0x06054b50, 4);
    put(&made, 0, 4);
    put(&made, 1, 2);
    put(&made, 1, 2);
    put(&made, made.end - made.row, 4);
    put(&made, made.row, 4);
    put(&made, 0, 2);
    return made;
}

static tapml_status read_first(const struct made *made, void **out_bytes, size_t *out_size)
{
    struct archive archive;
    struct archive_entry entry;
    int has = 0;

    TAPML_TRY(archive_open("a.npz", made->bytes, made->size, &archive));
    TAPML_TRY(archive_next(&archive, &entry, &has));
    cr_assert(has);
    cr_assert_eq(entry.name_length, 5u);
    cr_assert_arr_eq(entry.name, "a.npy", 5);
    TAPML_TRY(archive_read(&archive, &entry, out_bytes));
    *out_size = entry.bytes;
    TAPML_TRY(archive_next(&archive, &entry, &has));
    cr_assert_not(has);
    return TAPML_OK;
}

Test(archive, entries_are_read_stored_and_deflated)
{
    static const char text[] = "one one one one one one one one one one";

    for (int is_deflated = 0; is_deflated < 2; is_deflated++) {
        const struct made made = make(text, sizeof(text), is_deflated);
        void *bytes = NULL;
        size_t size = 0;

        cr_assert_eq(read_first(&made, &bytes, &size), TAPML_OK, "%s", status_message());
        cr_assert_eq(size, sizeof(text));
        cr_assert_str_eq((const char *)bytes, text);
        alloc_free(bytes);
    }
}

static void refused(const struct made *made, const char *sentence)
{
    void *bytes = NULL;
    size_t size = 0;

    cr_assert_eq(read_first(made, &bytes, &size), TAPML_INVALID, "not refused: %s", sentence);
    cr_assert_not_null(strstr(status_message(), sentence), "'%s' lacks '%s'", status_message(),
                       sentence);
}

Test(archive, what_lies_is_refused)
{
    struct made made = make("one one one one one one one", 27, 1);
    const struct made right = made;

    made.bytes[made.row - 3] ^= 0xff; // Among the deflated bytes.
    refused(&made, "damaged");
    made = right;
    made.bytes[made.row + 16] ^= 1;
    refused(&made, "damaged");
    made = right;
    made.bytes[made.row + 8] = 1;
    refused(&made, "encrypted");
    made = right;
    made.bytes[made.row + 10] = 12;
    refused(&made, "another method");
    made = right;
    made.bytes[made.row + 26] = 0x7f; // Two gigabytes of 27 bytes.
    refused(&made, "larger than it can be");
    made = right;
    made.bytes[made.row + 27] = 0x7f;
    refused(&made, "larger than it can be");
    made = right;
    made.bytes[made.row + 22] = 0x7f;
    refused(&made, "ends behind it");
    made = right;
    made.bytes[made.row + 44] = 0x7f;
    refused(&made, "does not lie where");
    made = right;
    made.bytes[made.row + 28] = 0xff;
    refused(&made, "ends behind it");
    made = right;
    made.bytes[made.row] = 0;
    refused(&made, "a row that is none");
    made = right;
    made.bytes[made.end + 19] = 0x7f;
    refused(&made, "does not lie in it");
    made = right;
    made.size = 10;
    refused(&made, "has no directory");
}
