// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Encodings of weights (docs/encodings.md) that are formats of the library, or have the same values
// as one.
#pragma once

#include <tapml/tensor.h>

#include <ggml.h>
#include <stddef.h>

struct blocks {
    const char *encoding;
    enum ggml_type type;
    uint32_t values; // In a block.

    // Writes `count` blocks of a tensor as the library has them; NULL: they are the same bytes.
    void (*pack)(const unsigned char *tensor, size_t count, unsigned char *out);
};

// The entry of an encoding's id, or NULL.
const struct blocks *blocks_find(const char *id);

// The bytes of so many blocks.
size_t blocks_bytes(const tapml_encoding *encoding, size_t count);
