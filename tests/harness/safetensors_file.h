// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Small safetensors files, for tests of what reads them.
#pragma once

#include "scratch.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

enum { SAFETENSORS_FILE_MAX = 4096 };

// Writes a file of a header, with single quotes in it, and `data_bytes` bytes 0, 1, 2 ...
static inline const char *
safetensors_write(struct scratch *scratch, const char *name, const char *header, size_t data_bytes)
{
    unsigned char file[SAFETENSORS_FILE_MAX];
    const uint64_t length = strlen(header);
    cr_assert_leq(8 + length + data_bytes, (size_t)SAFETENSORS_FILE_MAX);
    for (int i = 0; i < 8; ++i) {
        file[i] = (unsigned char)(length >> (8 * i));
    }
    for (size_t i = 0; i < length; ++i) {
        file[8 + i] = (unsigned char)(header[i] == '\'' ? '"' : header[i]);
    }
    for (size_t i = 0; i < data_bytes; ++i) {
        file[8 + length + i] = (unsigned char)i;
    }
    return scratch_write(scratch, name, file, 8 + length + data_bytes);
}
