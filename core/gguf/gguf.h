// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A GGUF model: one file, or all files of a split model (NAME-00001-of-00003.gguf, ...), any of
// which opens all. Metadata is that of the first file.
#pragma once

#include "gguf/gguf_file.h"

struct gguf;

struct gguf_tensor {
    const struct gguf_file_tensor *tensor;
    const struct gguf_file *file;
    const unsigned char *data;
};

// Whether a path is that of a file, as a GGUF model is, and not of a folder.
int gguf_is(const char *path);

// Opens the files. The caller owns the result.
tapml_status gguf_open(const char *path, struct gguf **out_gguf) STATUS_USED;

// NULL is allowed.
void gguf_close(struct gguf *gguf);

// The path that it was opened by, for messages.
const char *gguf_path(const struct gguf *gguf);

// Files, in their order.
size_t gguf_file_count(const struct gguf *gguf);
struct gguf_file *gguf_file_at(const struct gguf *gguf, size_t index);

// The value of a key, or NULL. It lives as long as the model.
const struct gguf_value *gguf_find(const struct gguf *gguf, const char *key);

// The single value of a key, if it is there and of that kind; else 0, and nothing is written.
int gguf_find_integer(const struct gguf *gguf, const char *key, int64_t *out_integer);
int gguf_find_text(const struct gguf *gguf, const char *key, struct gguf_text *out_text);

// Tensors of all files, in the byte order of names.
size_t gguf_tensor_count(const struct gguf *gguf);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *gguf, size_t index);

// The tensor of a name, or NULL.
const struct gguf_tensor *gguf_tensor_find(const struct gguf *gguf, const char *name);
