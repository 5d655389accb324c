// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/wire_format.h"

enum { VARINT_BYTES_MAX = 10, TYPE_NUMBER = 0, TYPE_64 = 1, TYPE_BYTES = 2, TYPE_32 = 5 };

void wire_format_start(struct wire_format *reader, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    *reader = (struct wire_format){.at = at, .end = size > 0 ? at + size : at};
}

static uint64_t read_number(struct wire_format *reader)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < VARINT_BYTES_MAX && reader->at < reader->end; ++i) {
        const unsigned char byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            return value;
        }
    }
    reader->failed = 1;
    return 0;
}

static uint64_t read_fixed(struct wire_format *reader, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(reader->end - reader->at) < size) {
        reader->failed = 1;
        return 0;
    }
    for (size_t i = 0; i < size; ++i) {
        value |= (uint64_t)reader->at[i] << (8 * i);
    }
    reader->at += size;
    return value;
}

static void read_bytes(struct wire_format *reader, struct wire_format_field *field)
{
    const uint64_t size = read_number(reader);
    if (reader->failed || size > (uint64_t)(reader->end - reader->at)) {
        reader->failed = 1;
        return;
    }
    field->bytes = reader->at;
    field->size = (size_t)size;
    reader->at += size;
}

int wire_format_next(struct wire_format *reader, struct wire_format_field *out_field)
{
    struct wire_format_field field = {0};
    if (reader->failed || reader->at == reader->end) {
        return 0;
    }
    const uint64_t key = read_number(reader);
    field.number = key >> 3;
    switch (key & 7) {
    case TYPE_NUMBER:
        field.value = read_number(reader);
        break;
    case TYPE_64:
        field.value = read_fixed(reader, 8);
        break;
    case TYPE_32:
        field.value = read_fixed(reader, 4);
        break;
    case TYPE_BYTES:
        read_bytes(reader, &field);
        break;
    default:
        reader->failed = 1;
        break;
    }
    if (reader->failed || field.number == 0) {
        reader->failed = 1;
        return 0;
    }
    *out_field = field;
    return 1;
}
