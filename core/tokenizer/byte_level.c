// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/byte_level.h"

#include "base/utf8.h"

enum {
    MOVED_FIRST = 0x100, // The characters of the bytes that are not printable.
    MOVED_LOW = 33,      // 00-20
    MOVED_MIDDLE = 34,   // 7F-A0
    MOVED_COUNT = MOVED_LOW + MOVED_MIDDLE + 1,
};

static unsigned code_of(unsigned char byte)
{
    if (byte <= 0x20) {
        return MOVED_FIRST + byte;
    }
    if (byte >= 0x7f && byte <= 0xa0) {
        return MOVED_FIRST + MOVED_LOW + (byte - 0x7fu);
    }
    return byte == 0xad ? MOVED_FIRST + MOVED_COUNT - 1 : byte;
}

// The byte of a character, or -1.
static int byte_of(uint32_t code)
{
    if (code < MOVED_FIRST) {
        return code_of((unsigned char)code) == code ? (int)code : -1;
    }
    const uint32_t moved = code - MOVED_FIRST;
    if (moved < MOVED_LOW) {
        return (int)moved;
    }
    if (moved < MOVED_LOW + MOVED_MIDDLE) {
        return (int)(0x7f + moved - MOVED_LOW);
    }
    return moved == MOVED_COUNT - 1 ? 0xad : -1;
}

void byte_level_write(struct text *out, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; ++i) {
        const unsigned code = code_of(at[i]);
        const char character[2] = {(char)(0xc0 | code >> 6), (char)(0x80 | (code & 0x3f))};
        if (code < 0x80) {
            text_append_bytes(out, &at[i], 1);
        } else {
            text_append_bytes(out, character, 2);
        }
    }
}

int byte_level_read(struct text *out, const char *token, size_t length)
{
    const size_t before = out->length;
    for (size_t at = 0; at < length;) {
        uint32_t code = 0;
        at += utf8_read(token + at, length - at, &code);
        const int byte = byte_of(code);
        if (byte < 0) {
            out->length = before;
            text_append_bytes(out, token, length);
            return 0;
        }
        const unsigned char one = (unsigned char)byte;
        text_append_bytes(out, &one, 1);
    }
    return 1;
}
