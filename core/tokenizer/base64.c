// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/base64.h"

#include <stdint.h>
#include <string.h>

static int value_of(char c)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(letters, c) : NULL;
    return at ? (int)(at - letters) : -1;
}

tapml_status base64_read(const char *encoded, size_t length, struct text *out)
{
    size_t count = length;
    while (count > 0 && length - count < 2 && encoded[count - 1] == '=') {
        --count;
    }
    if (length % 4 != 0 || count % 4 == 1) {
        return status_fail(TAPML_INVALID, "expected base64, found %zu characters", length);
    }
    uint32_t bits = 0;
    for (size_t i = 0; i < count; ++i) {
        const int value = value_of(encoded[i]);
        if (value < 0) {
            return status_fail(TAPML_INVALID, "expected base64, found a foreign character at %zu",
                               i);
        }
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 > 0) { // The second character completes the first byte.
            const unsigned char byte = (unsigned char)(bits >> (6 - i % 4 * 2));
            text_append_bytes(out, &byte, 1);
        }
    }
    return text_status(out);
}
