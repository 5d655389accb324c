// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Buffers of an open device of a plugin, and the transfers on its queue: those functions of its
// table (device/backend.h) that plugin/device puts there. One thread, that of the device.
#pragma once

#include "device/backend.h"

tapml_status
device_buffers_new(struct backend *backend, uint64_t size, tapml_object **out_buffer) STATUS_USED;
tapml_status device_buffers_wrap(struct backend *backend,
                                 void *memory,
                                 uint64_t size,
                                 uint32_t access,
                                 tapml_object **out_buffer) STATUS_USED;
void device_buffers_free(struct backend *backend, tapml_object *buffer);
tapml_status device_buffers_write(struct backend *backend,
                                  tapml_object *buffer,
                                  uint64_t offset,
                                  const void *source,
                                  uint64_t size) STATUS_USED;
tapml_status device_buffers_read(struct backend *backend,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 void *target,
                                 uint64_t size) STATUS_USED;
tapml_status device_buffers_fill(struct backend *backend,
                                 tapml_object *buffer,
                                 uint64_t offset,
                                 uint64_t size,
                                 uint32_t pattern) STATUS_USED;
tapml_status device_buffers_copy(struct backend *backend,
                                 const struct backend_copy *copy) STATUS_USED;
tapml_status device_buffers_map(struct backend *backend,
                                tapml_object *buffer,
                                uint64_t offset,
                                uint64_t size,
                                const void **out_memory) STATUS_USED;
void device_buffers_unmap(struct backend *backend, tapml_object *buffer);
