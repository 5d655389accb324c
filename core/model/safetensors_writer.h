// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Writes a safetensors file tensor by tensor, so that no more than one has to be in memory.
//
// The header stands first and is known last: room is kept for it, which blanks fill. The file has
// another name until it is whole. One thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct safetensors_writer;

// The most bytes of the header that a tensor of that name takes.
uint64_t safetensors_writer_room(const char *name);

// Begins a file whose header takes `room` bytes: the sum of safetensors_writer_room of the tensors
// to come. Failures are those of file_try_writing, and TAPML_INVALID for what is no file. The
// caller ends or drops the writer.
tapml_status safetensors_writer_open(const char *path,
                                     uint64_t room,
                                     struct safetensors_writer **out_writer) STATUS_USED;

// What is written of a tensor. `type` is the word of the format, as "BF16".
struct safetensors_writer_tensor {
    const char *name, *type;
    const int64_t *shape;
    uint32_t rank;
    const void *data;
    uint64_t bytes;
};

// Appends a tensor.
tapml_status safetensors_writer_add(struct safetensors_writer *writer,
                                    const struct safetensors_writer_tensor *tensor) STATUS_USED;

// The word that the format has for a dtype, as "BF16", or NULL. Static.
const char *safetensors_writer_type(uint32_t dtype);

// Gives the file its header and its name; `*out_bytes` is its size. The writer is gone, after a
// failure too.
tapml_status safetensors_writer_end(struct safetensors_writer *writer,
                                    uint64_t *out_bytes) STATUS_USED;

// Removes what was written. NULL is allowed.
void safetensors_writer_drop(struct safetensors_writer *writer);
