// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Values of the metadata of GGUF files: numbers, texts, and arrays of either, where they lie in the
// mapped file. Their sizes were checked when the file was opened, so the functions cannot fail.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum gguf_value_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_TEXT,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_VALUE_TYPES,
};

struct gguf_value {
    const char *key;
    enum gguf_value_type type; // Of the items, if it is an array; never GGUF_ARRAY.
    int is_array;
    uint64_t count;            // Of the items; 1 if it is not an array.
    const unsigned char *data; // The first item; not aligned.
};

// Bytes of a file that are a text; no zero byte follows.
struct gguf_text {
    const char *bytes;
    size_t length;
};

// Returns the name of a type: "u8", "text". [any]
const char *gguf_value_type_name(enum gguf_value_type type);

// Returns the bytes of an item of a type; 0: its items differ in size, or it is no type. [any]
size_t gguf_value_item_bytes(uint32_t type);

// Whether item `index` is a whole number that fits into 63 bits, or a truth value; only then
// `*out_integer` is written. [any]
int gguf_value_integer(const struct gguf_value *value, uint64_t index, int64_t *out_integer);

// Whether item `index` is a number; only then `*out_number` is written. [any]
int gguf_value_number(const struct gguf_value *value, uint64_t index, double *out_number);

// Whether `value` is a single text; only then `*out_text` is written. [any]
int gguf_value_text(const struct gguf_value *value, struct gguf_text *out_text);

// Texts of an array, one after another: `*io_at` is `value->data` at first, and the caller asks at
// most `value->count` times. [any]
struct gguf_text gguf_value_next_text(const unsigned char **io_at);

// Reads little-endian numbers. [any]
uint32_t gguf_value_u32(const unsigned char *data);
uint64_t gguf_value_u64(const unsigned char *data);
