// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Moves bytes between backends' buffers and host memory, padded to what transfers need. Both
// directions are queued, and done after a wait for the backend; until then the host memory stays
// allocated, and nothing else writes or reads it.
//
// One thread, that of the backend, whose failures are returned. Sizes and offsets are bytes.
#pragma once

#include "base/status.h"
#include "device/backend.h"

// Host memory to a buffer. `offset` is a multiple of TAPML_TRANSFER_GRAIN; `source` has `size`
// rounded up to it readable.
tapml_status transfer_to(struct backend *backend,
                         tapml_object *buffer,
                         uint64_t offset,
                         const void *source,
                         uint64_t size) STATUS_USED;

// A buffer to host memory. `offset` is a multiple of TAPML_TRANSFER_GRAIN; `target` has room for
// `size` rounded up to it.
tapml_status transfer_from(struct backend *backend,
                           tapml_object *buffer,
                           uint64_t offset,
                           void *target,
                           uint64_t size) STATUS_USED;
