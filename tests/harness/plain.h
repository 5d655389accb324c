// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/backend.h"

// A host-memory backend without ops: buffers, wrapped memory, and work that is done at once. It
// takes weights in tiles.
struct backend *plain_create(void);

// The bytes of a buffer.
void *plain_bytes(const tapml_object *buffer);

// Waits so far.
uint64_t plain_waits(const struct backend *backend);
