// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/characters.h"

#include "base/utf8.h"

#include <string.h>

int characters_is_space(uint32_t code)
{
    return (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x20) || code == 0x85 ||
           code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

size_t characters_space_before(const char *text, size_t length)
{
    size_t done = 0;
    while (done < length) {
        uint32_t code = 0;
        const size_t count = utf8_read(text + done, length - done, &code);
        if (!characters_is_space(code)) {
            break;
        }
        done += count;
    }
    return done;
}

size_t characters_space_behind(const char *text, size_t length)
{
    size_t end = length;
    while (end > 0) {
        size_t at = end - 1;
        while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) {
            --at;
        }
        uint32_t code = 0;
        (void)utf8_read(text + at, end - at, &code);
        if (!characters_is_space(code)) {
            break;
        }
        end = at;
    }
    return length - end;
}

size_t characters_count(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; ++i) {
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return count;
}

size_t characters_offset(const char *text, size_t length, size_t index)
{
    for (size_t i = 0; i < length; ++i) {
        if (((unsigned char)text[i] & 0xc0) != 0x80 && index-- == 0) {
            return i;
        }
    }
    return length;
}

size_t characters_write(uint32_t code, char out_bytes[4])
{
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        code = 0xfffd;
    }
    if (code < 0x80) {
        out_bytes[0] = (char)code;
        return 1;
    }
    const size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; --i) {
        out_bytes[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out_bytes[0] = (char)((0xf00u >> count & 0xff) | code);
    return count;
}

size_t characters_find(const char *text, size_t length, const char *piece, size_t piece_length)
{
    const char *found = piece_length > 0 ? memmem(text, length, piece, piece_length) : text;
    return found ? (size_t)(found - text) : length;
}
