// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Files of NumPy: one dense array, little-endian (format version 1.0 of numpy.lib.format).
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
