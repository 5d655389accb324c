// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tapml/backend.h>

// Buffers, and what moves bytes between them and the host: members of tapml_backend.

tapml_status memory_new(tapml_object *device,
                        tapml_call *call,
                        uint32_t memory_type,
                        uint64_t size,
                        tapml_object **out_buffer);
tapml_status memory_wrap(tapml_object *device,
                         tapml_call *call,
                         void *memory,
                         uint64_t size,
                         uint32_t access,
                         tapml_object **out_buffer);
tapml_status memory_map(tapml_object *buffer,
                        tapml_call *call,
                        uint64_t offset,
                        uint64_t size,
                        uint32_t access,
                        void **out_memory);
tapml_status memory_unmap(tapml_object *buffer, tapml_call *call);
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
