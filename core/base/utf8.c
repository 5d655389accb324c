// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <string.h>

size_t utf8_read(const void *bytes, size_t size, uint32_t *out_code)
{
    const unsigned char *at = bytes;
    const unsigned first = at[0];
    *out_code = UTF8_MALFORMED;
    if (first < 0x80) {
        *out_code = first;
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 1;
    }
    const size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    // The second byte has a narrower range behind some first ones: no long forms, no surrogates,
    // nothing above U+10FFFF (The Unicode Standard, table 3-7).
    unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    uint32_t code = first & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if (i >= size || at[i] < low || at[i] > high) {
            return i;
        }
        code = code << 6 | (at[i] & 0x3fu);
        low = 0x80;
        high = 0xbf;
    }
    *out_code = code;
    return length;
}

int utf8_is_valid(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t done = 0; done < size;) {
        uint32_t code = 0;
        done += utf8_read(at + done, size - done, &code);
        if (code == UTF8_MALFORMED) {
            return 0;
        }
    }
    return 1;
}

// Whether a control character stands at `at`: one of ASCII, or one of U+0080 to U+009F.
static size_t control_length(const unsigned char *at)
{
    if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) {
        return 2;
    }
    return (at[0] < 0x20 && at[0] != '\t' && at[0] != '\n') || at[0] == 0x7f;
}

void utf8_make_plain(char *text)
{
    for (char *at = text; *at;) {
        const size_t length = control_length((const unsigned char *)at);
        memset(at, '?', length);
        at += length > 0 ? length : 1;
    }
}
