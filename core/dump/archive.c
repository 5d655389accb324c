// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/archive.h"

#include "base/alloc.h"
#include "store/case.h"

#include <string.h>
#include <zlib.h>

// The format: APPNOTE.TXT of PKWARE, 4.3.7 (an entry), 4.3.12 (the directory), 4.3.16 (its end) and
// 4.5.3 (sizes of 64 bits).
enum {
    END_BYTES = 22,
    COMMENT_MAX = 0xffff,
    ROW_BYTES = 46,
    ENTRY_BYTES = 30,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1,
    EXTRA_64 = 1,
    DEFLATE_RATIO_MAX = 1032, // A block of 258 bytes takes two bits.
    SLACK = 1024
};

#define END_MARK   0x06054b50u
#define ROW_MARK   0x02014b50u
#define ENTRY_MARK 0x04034b50u
#define IS_64      0xffffffffu

static uint64_t number(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = bytes; i-- > 0;) {
        value = value << 8 | at[i];
    }
    return value;
}

static tapml_status refuse(const struct archive *archive, const char *what)
{
    return status_fail(TAPML_INVALID, "%s: no archive that can be read: %s", archive->name, what);
}

tapml_status
archive_open(const char *name, const void *data, size_t size, struct archive *out_archive)
{
    struct archive archive = {.name = name, .data = data, .size = size};
    const size_t lowest = size > END_BYTES + COMMENT_MAX ? size - END_BYTES - COMMENT_MAX : 0;

    for (size_t at = size >= END_BYTES ? size - END_BYTES + 1 : 0; at-- > lowest;) {
        if (number(archive.data + at, 4) == END_MARK) {
            archive.remaining = (size_t)number(archive.data + at + 10, 2);
            archive.at = (size_t)number(archive.data + at + 16, 4);
            if (archive.at > at) {
                return refuse(&archive, "its directory does not lie in it");
            }
            *out_archive = archive;
            return TAPML_OK;
        }
    }
    return refuse(&archive, "it has no directory");
}

// Sizes of 64 bits stand in an extra field, in this order, those alone that are marked.
static void read_extra(const unsigned char *at, size_t size, uint64_t *values[3])
{
    while (size >= 4) {
        const size_t kind = (size_t)number(at, 2), length = (size_t)number(at + 2, 2);

        if (length > size - 4) {
            return;
        }
        for (size_t i = 0, used = 0; kind == EXTRA_64 && i < 3; i++) {
            if (*values[i] == IS_64 && used + 8 <= length) {
                *values[i] = number(at + 4 + used, 8);
                used += 8;
            }
        }
        at += 4 + length;
        size -= 4 + length;
    }
}

// Where the bytes of an entry lie: its own header may have other extra fields than the directory.
static tapml_status find_packed(const struct archive *archive,
                                uint64_t offset,
                                uint64_t packed_bytes,
                                struct archive_entry *entry)
{
    if (offset > archive->size || archive->size - offset < ENTRY_BYTES ||
        number(archive->data + offset, 4) != ENTRY_MARK) {
        return refuse(archive, "an entry does not lie where the directory says");
    }
    const unsigned char *at = archive->data + offset;
    const size_t head = ENTRY_BYTES + (size_t)number(at + 26, 2) + (size_t)number(at + 28, 2);

    if (head > archive->size - offset || packed_bytes > archive->size - offset - head) {
        return refuse(archive, "an entry ends behind it");
    }
    entry->packed = at + head;
    entry->packed_bytes = (size_t)packed_bytes;
    return TAPML_OK;
}

static tapml_status
check_entry(const struct archive *archive, const unsigned char *row, uint64_t bytes)
{
    const uint64_t packed_max = archive->size * (uint64_t)DEFLATE_RATIO_MAX + SLACK;

    if ((row[8] & ENCRYPTED) != 0 || (number(row + 10, 2) != STORED && row[10] != DEFLATED)) {
        return refuse(archive, "an entry is encrypted, or packed by another method than deflate");
    }
    return bytes <= packed_max && bytes <= CASE_BASE_BYTES_MAX + SLACK
               ? TAPML_OK
               : refuse(archive, "an entry is larger than it can be");
}

tapml_status archive_next(struct archive *archive, struct archive_entry *out_entry, int *out_has)
{
    *out_has = archive->remaining > 0;
    if (archive->remaining == 0) {
        return TAPML_OK;
    }
    const unsigned char *row = archive->data + archive->at;

    if (archive->size - archive->at < ROW_BYTES || number(row, 4) != ROW_MARK) {
        return refuse(archive, "its directory has a row that is none");
    }
    const size_t name_length = (size_t)number(row + 28, 2), extra = (size_t)number(row + 30, 2);
    const size_t row_bytes = ROW_BYTES + name_length + extra + (size_t)number(row + 32, 2);
    uint64_t bytes = number(row + 24, 4), packed = number(row + 20, 4), at = number(row + 42, 4);

    if (row_bytes > archive->size - archive->at) {
        return refuse(archive, "its directory ends behind it");
    }
    read_extra(row + ROW_BYTES + name_length, extra, (uint64_t *[3]){&bytes, &packed, &at});
    struct archive_entry entry = {.name = (const char *)row + ROW_BYTES,
                                  .name_length = name_length,
                                  .is_deflated = row[10] == DEFLATED,
                                  .checksum = (uint32_t)number(row + 16, 4),
                                  .bytes = (size_t)bytes};

    TAPML_TRY(check_entry(archive, row, bytes));
    TAPML_TRY(find_packed(archive, at, packed, &entry));
    archive->at += row_bytes;
    archive->remaining--;
    *out_entry = entry;
    return TAPML_OK;
}

// zlib counts in 32 bits, so large entries go in parts.
static int inflate_all(const struct archive_entry *entry, unsigned char *out)
{
    enum { PART = 1 << 30, RAW = -15 };
    z_stream stream = {0};
    size_t taken = 0, given = 0;
    int code = inflateInit2(&stream, RAW);

    if (code != Z_OK) {
        return 0;
    }
    while (code == Z_OK || code == Z_BUF_ERROR) {
        const size_t in = entry->packed_bytes - taken, room = entry->bytes - given;

        stream.next_in = (z_const Bytef *)(uintptr_t)(entry->packed + taken);
        stream.avail_in = (uInt)(in < PART ? in : PART);
        stream.next_out = out + given;
        stream.avail_out = (uInt)(room < PART ? room : PART);
        const size_t in_before = stream.avail_in, out_before = stream.avail_out;

        code = inflate(&stream, Z_NO_FLUSH);
        taken += in_before - stream.avail_in;
        given += out_before - stream.avail_out;
        if (in_before == stream.avail_in && out_before == stream.avail_out) {
            break; // No progress: one of them has ended.
        }
    }
    (void)inflateEnd(&stream);
    return code == Z_STREAM_END && given == entry->bytes;
}

static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size);
}

tapml_status
archive_read(const struct archive *archive, const struct archive_entry *entry, void **out_bytes)
{
    unsigned char *bytes = alloc_raw(entry->bytes + 1);
    int is_whole = entry->packed_bytes == entry->bytes;

    if (bytes == NULL) {
        return status_no_memory();
    }
    if (entry->is_deflated) {
        is_whole = inflate_all(entry, bytes);
    } else if (is_whole) {
        memcpy(bytes, entry->packed, entry->bytes);
    }
    if (!is_whole || checksum(bytes, entry->bytes) != entry->checksum) {
        alloc_free(bytes);
        return refuse(archive, "an entry is damaged");
    }
    *out_bytes = bytes;
    return TAPML_OK;
}
