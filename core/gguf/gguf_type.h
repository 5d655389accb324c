// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The types of tensors in GGUF files: how many bytes a block of values takes, and what it is here.
#pragma once

#include <tapml/tensor.h>

enum { GGUF_TYPE_F32 = 0 }; // The number of the type that others are decoded to.

struct gguf_type {
    uint32_t number; // In a file.
    const char *name;
    uint32_t block_values; // 1: a plain type.
    uint32_t block_bytes;
    uint32_t dtype;       // Of a plain type; 0: it has none here.
    const char *encoding; // The id of the encoding that has these blocks; NULL: none has.
};

// Returns the type of a number, or NULL if there is none. It is constant. [any]
const struct gguf_type *gguf_type_find(uint32_t number);

// Returns the encoding of a block type; NULL if it is plain, or no encoding has its blocks. [any]
const tapml_encoding *gguf_type_encoding(const struct gguf_type *type);
