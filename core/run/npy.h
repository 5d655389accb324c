// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Files of NumPy: one dense array, little-endian. Format version 1.0 of numpy.lib.format is
// written; 1.0 to 3.0 are read.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

// Writes an array; bf16, which NumPy lacks, as the whole numbers of its bits. TAPML_INVALID for a
// dtype that is not known; else fails as `file_write` does.
tapml_status npy_write(const char *path,
                       uint32_t dtype,
                       const int64_t *shape,
                       uint32_t rank,
                       const void *data) STATUS_USED;

struct npy_array {
    uint32_t dtype; // 0: a type without a dtype, of which the rest is not known.
    uint32_t rank;
    int64_t shape[TAPML_MAX_RANK];
    const void *data;    // Into what was read, at any address.
    uint64_t bytes;      // Of the elements.
    int is_column_major; // The first axis is the fastest.
};

// Reads an array of `size` bytes, which it points into; `name` is for messages. Booleans are u8,
// whole numbers of 16 bits without a sign and items of two bytes bf16.
// TAPML_INVALID: it is no array, has too many axes, or fewer bytes than its shape says.
tapml_status
npy_read(const char *name, const void *bytes, size_t size, struct npy_array *out_array) STATUS_USED;

// Copies the elements into `out_elements`, of `bytes` bytes, in row-major order.
void npy_copy(const struct npy_array *array, void *out_elements);
