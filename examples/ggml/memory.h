// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object.h"

// Buffers, and what moves bytes between them and the host. The host never sees their memory, so
// that what is packed of a weight is known to be fresh.

enum {
    MEMORY_ALIGN = 64,
    MEMORY_SLACK_BYTES = 512, // Kernels read whole words and vectors: buffers are so much longer.
};

// Members of tapml_backend.
tapml_status memory_new(tapml_object *device,
                        tapml_call *call,
                        uint32_t memory_type,
                        uint64_t size,
                        tapml_object **out_buffer);
tapml_status memory_write(tapml_object *queue,
                          tapml_call *call,
                          tapml_object *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size);
tapml_status memory_read(tapml_object *queue,
                         tapml_call *call,
                         tapml_object *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size);
tapml_status memory_copy(tapml_object *queue,
                         tapml_call *call,
                         tapml_object *source,
                         uint64_t source_offset,
                         tapml_object *target,
                         uint64_t target_offset,
                         uint64_t size);
tapml_status memory_fill(tapml_object *queue,
                         tapml_call *call,
                         tapml_object *buffer,
                         uint64_t offset,
                         uint64_t size,
                         uint32_t pattern);

// A tensor of `bytes` bytes, `offset` bytes into the memory of a buffer.
struct ggml_tensor memory_bytes(const struct library *ggml,
                                ggml_backend_buffer_t memory,
                                uint64_t offset,
                                uint64_t bytes);

// Drops what is packed of the weights of a buffer, to which something is written.
void memory_forget(struct object *buffer);
