// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Small GGUF files, for tests of what reads them: keys first, then tensors of F32 or F16, whose
// values count 0, 1, 2 ... in each.
#pragma once

#include "base/text.h"
#include "harness/scratch.h"

#include <stdint.h>

struct gguf_maker {
    struct text keys, tensors, data;
    uint64_t key_count, tensor_count;
};

static inline void gguf_maker_number(struct text *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const char byte = (char)(number >> (8 * i));
        text_append_bytes(out, &byte, 1);
    }
}

static inline void gguf_maker_text(struct text *out, const char *text)
{
    gguf_maker_number(out, strlen(text), 8);
    text_append(out, text);
}

static inline void gguf_maker_begin(struct gguf_maker *maker)
{
    maker->key_count = maker->tensor_count = 0;
    text_init(&maker->keys);
    text_init(&maker->tensors);
    text_init(&maker->data);
}

// A key with the number of its type; the value follows, in `keys`.
static inline void gguf_maker_key(struct gguf_maker *maker, const char *key, uint32_t type)
{
    gguf_maker_text(&maker->keys, key);
    gguf_maker_number(&maker->keys, type, 4);
    maker->key_count++;
}

static inline void gguf_maker_u32(struct gguf_maker *maker, const char *key, uint32_t value)
{
    gguf_maker_key(maker, key, 4);
    gguf_maker_number(&maker->keys, value, 4);
}

static inline void gguf_maker_f32(struct gguf_maker *maker, const char *key, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    gguf_maker_key(maker, key, 6);
    gguf_maker_number(&maker->keys, bits, 4);
}

static inline void gguf_maker_string(struct gguf_maker *maker, const char *key, const char *value)
{
    gguf_maker_key(maker, key, 8);
    gguf_maker_text(&maker->keys, value);
}

// An array; its items follow, in `keys`.
static inline void
gguf_maker_array(struct gguf_maker *maker, const char *key, uint32_t type, uint64_t count)
{
    gguf_maker_key(maker, key, 9);
    gguf_maker_number(&maker->keys, type, 4);
    gguf_maker_number(&maker->keys, count, 8);
}

// The entry of a tensor without its data. `shape` is in the file's order, the first axis fastest.
static inline void gguf_maker_entry(struct gguf_maker *maker,
                                    const char *name,
                                    const uint64_t *shape,
                                    uint32_t rank,
                                    uint32_t type,
                                    uint64_t offset)
{
    gguf_maker_text(&maker->tensors, name);
    gguf_maker_number(&maker->tensors, rank, 4);
    for (uint32_t i = 0; i < rank; i++) {
        gguf_maker_number(&maker->tensors, shape[i], 8);
    }
    gguf_maker_number(&maker->tensors, type, 4);
    gguf_maker_number(&maker->tensors, offset, 8);
    maker->tensor_count++;
}

// A tensor [rows, columns] of F32; a row alone has one axis.
static inline void
gguf_maker_tensor(struct gguf_maker *maker, const char *name, uint64_t rows, uint64_t columns)
{
    const uint64_t shape[] = {columns, rows};
    gguf_maker_entry(maker, name, shape, rows > 1 ? 2 : 1, 0, maker->data.length);
    for (uint64_t i = 0; i < rows * columns; i++) {
        const float value = (float)i;
        text_append_bytes(&maker->data, &value, sizeof(value));
    }
    while (maker->data.length % 32 != 0) {
        text_append_bytes(&maker->data, "", 1);
    }
}

// Writes a file of all that was added, and forgets it.
static inline const char *
gguf_maker_write(struct gguf_maker *maker, struct scratch *scratch, const char *name)
{
    struct text file;
    text_init(&file);
    text_append(&file, "GGUF");
    gguf_maker_number(&file, 3, 4);
    gguf_maker_number(&file, maker->tensor_count, 8);
    gguf_maker_number(&file, maker->key_count, 8);
    text_append_bytes(&file, maker->keys.data, maker->keys.length);
    text_append_bytes(&file, maker->tensors.data, maker->tensors.length);
    while (file.length % 32 != 0) {
        text_append_bytes(&file, "", 1);
    }
    text_append_bytes(&file, maker->data.data, maker->data.length);
    const char *path = scratch_write(scratch, name, file.data, file.length);
    text_release(&file);
    text_release(&maker->keys);
    text_release(&maker->tensors);
    text_release(&maker->data);
    return path;
}
