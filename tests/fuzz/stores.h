// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A whole store of a stranger, as a file.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Writes the bytes to a file of this process's folder, without a log beside it, and returns its
// path, until the next call of fuzz_path. The checksums of its pages are made right first, as a
// stranger would, unless byte 72 of the header, which SQLite leaves alone, is not 0.
const char *stores_write(const uint8_t *data, size_t size);
