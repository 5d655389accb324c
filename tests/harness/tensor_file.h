// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Small safetensors files of f32, for tests of what reads them.
#pragma once

#include "harness/scratch.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"

#include <stdint.h>

enum { TENSOR_FILE_BYTES = 4096 };

// Writes and opens a file. `header` has single quotes in place of double ones.
static inline struct checkpoint *
tensor_file_open(struct scratch *scratch, const char *header, const float *values, size_t count)
{
    unsigned char file[TENSOR_FILE_BYTES];
    const uint64_t length = strlen(header);
    struct checkpoint *checkpoint = NULL;

    cr_assert_leq(8 + length + count * sizeof(*values), sizeof(file));
    for (int i = 0; i < 8; i++) {
        file[i] = (unsigned char)(length >> (8 * i));
    }
    for (size_t i = 0; i < length; i++) {
        file[8 + i] = (unsigned char)(header[i] == '\'' ? '"' : header[i]);
    }
    memcpy(file + 8 + length, values, count * sizeof(*values));
    const char *path =
        scratch_write(scratch, "expected.safetensors", file, 8 + length + count * sizeof(*values));

    cr_assert_eq(safetensors_open_file(path, &checkpoint), TAPML_OK, "%s", status_message());
    return checkpoint;
}
