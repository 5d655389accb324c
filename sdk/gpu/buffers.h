// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Buffers of a device: new ones, and those over memory of the host (tapml.memory_handles/1).
#pragma once

#include "objects.h"

enum { GPU_BUFFER_GRAIN = 16 }; // Bytes of which each buffer is a multiple.

// As of `tapml_backend`.
tapml_status gpu_buffer_new(tapml_object *device,
                            tapml_call *call,
                            uint32_t memory_type,
                            uint64_t size,
                            tapml_object **out_buffer);

// What the device offers as TAPML_MEMORY_HANDLES; NULL where its driver imports nothing. `grain` is
// that of its description.
const tapml_memory_handles *gpu_buffer_handles(struct gpu_device *device);
