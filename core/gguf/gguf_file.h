// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One GGUF file of version 2 or 3, mapped: its metadata and the table of its tensors.
//
// Files are not trusted. Every count, length, offset and size is checked before it is used, and
// before memory is taken for it; names are unique, without control characters; tensors lie within
// the file and do not overlap. Errors name the file, the key or the tensor, what was expected and
// what was found. Files with numbers in the other byte order and of version 1 are refused.
#pragma once

#include "base/file.h"
#include "base/status.h"
#include "gguf/gguf_type.h"
#include "gguf/gguf_value.h"

enum { GGUF_FILE_RANK_MAX = 4 };

struct gguf_file_tensor {
    const char *name;
    const struct gguf_type *type;
    uint32_t rank;
    int64_t shape[GGUF_FILE_RANK_MAX]; // The last axis fastest: the reverse of what a file has.
    uint64_t offset;                   // Of its first byte in the file.
    uint64_t bytes;
};

struct gguf_file;

// Maps a file. The caller owns it.
tapml_status gguf_file_open(const char *path, struct gguf_file **out_file) STATUS_USED;

// NULL is allowed.
void gguf_file_close(struct gguf_file *file);

// What it was opened as.
const char *gguf_file_path(const struct gguf_file *file);

// The mapping, which lives as long as the file.
struct file_map gguf_file_map(const struct gguf_file *file);

// The same, for a new owner that takes it over: the file then cannot be read any more.
struct file_map *gguf_file_own_map(struct gguf_file *file);

// The bytes before the first tensor's.
uint64_t gguf_file_header_bytes(const struct gguf_file *file);

// The value of a key, or NULL. It lives as long as the file.
const struct gguf_value *gguf_file_find(const struct gguf_file *file, const char *key);

// Values in the byte order of keys.
size_t gguf_file_value_count(const struct gguf_file *file);
const struct gguf_value *gguf_file_value_at(const struct gguf_file *file, size_t index);

// Tensors in the byte order of names.
size_t gguf_file_tensor_count(const struct gguf_file *file);
const struct gguf_file_tensor *gguf_file_tensor_at(const struct gguf_file *file, size_t index);
