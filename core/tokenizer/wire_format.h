// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Messages in the wire format of Protocol Buffers, field by field. Every size is checked.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct wire_format {
    const unsigned char *at, *end;
    int failed; // The rest is no message.
};

struct wire_format_field {
    uint64_t number;
    uint64_t value;             // Of a number; 4 or 8 bytes of it are little-endian.
    const unsigned char *bytes; // Of a text or a message; NULL: it is a number.
    size_t size;
};

// Begins to read `size` bytes.
void wire_format_start(struct wire_format *reader, const void *bytes, size_t size);

// Reads the next field. Returns 0 at the end, or where the bytes are no message.
int wire_format_next(struct wire_format *reader, struct wire_format_field *out_field);
